"""The storage that host and workers share: a folder, and a bucket of an S3 store."""

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import BUCKET

from engine.errors import EngineError, ErrorCode, InputError
from engine.shared_storage import SharedStorage

# In one process with the only other test of a bucket, which goes through Redis.
BUCKET_MARKS = [pytest.mark.broker, pytest.mark.xdist_group("redis")]


@pytest.fixture(params=["folder", pytest.param("s3", marks=BUCKET_MARKS)])
def storage(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SharedStorage]:
    if request.param == "folder":
        yield SharedStorage(str(tmp_path / "shared"))
        return
    for name, value in request.getfixturevalue("s3").items():
        monkeypatch.setenv(name, value)
    yield SharedStorage(f"s3://{BUCKET}/{tmp_path.name}")


def test_a_file_comes_back_as_it_went_and_is_replaced_as_a_whole(
    storage: SharedStorage, tmp_path: Path
) -> None:
    source, target = tmp_path / "a.mp4", tmp_path / "b.mp4"
    for content in (b"first", bytes(3_000_000)):
        source.write_bytes(content)
        storage.upload(source, "jobs/1/out/video.mp4")
        storage.download("jobs/1/out/video.mp4", target)
        assert target.read_bytes() == content
    assert [path.name for path in tmp_path.glob("*.part")] == []


def test_what_is_not_there_is_said_so(storage: SharedStorage, tmp_path: Path) -> None:
    assert storage.read("jobs/1/order.json") is None
    assert storage.names("jobs/1") == []
    storage.remove("jobs/1")
    with pytest.raises(FileNotFoundError):
        storage.download("jobs/1/in/speech.wav", tmp_path / "speech.wav")
    assert not (tmp_path / "speech.wav").exists()


def test_what_others_wrote_is_seen_at_once_and_removed_with_its_folder(
    storage: SharedStorage,
) -> None:
    storage.write("jobs/1/tries/a", b"1")
    assert storage.names("jobs/1/tries") == ["a"]
    storage.write("jobs/1/tries/b", b"1")
    storage.write("jobs/12/order.json", b"{}")

    assert storage.names("jobs/1/tries") == ["a", "b"]
    storage.remove("jobs/1")

    assert storage.read("jobs/1/tries/a") is None
    assert storage.names("jobs") == ["12"]


@pytest.mark.parametrize("key", ["../x", "/etc/passwd", "jobs/../x", "jobs//x", "a b", ".hidden"])
def test_a_key_that_is_not_ours_is_refused(storage: SharedStorage, key: str) -> None:
    with pytest.raises(EngineError) as caught:
        storage.read(key)

    assert caught.value.code is ErrorCode.JOB_NOT_FOUND


def test_an_address_that_cannot_be_used_is_one_sentence() -> None:
    with pytest.raises(InputError) as caught:
        SharedStorage("nothing://x/y")

    assert caught.value.values["option"] == "storage_url"


@pytest.mark.broker
@pytest.mark.xdist_group("redis")
def test_a_signed_link_opens_one_file_for_a_while_and_nothing_without_it(
    s3: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    storage = SharedStorage(f"s3://{BUCKET}/links")
    storage.write("jobs/1/out/video.mp4", b"a video")

    link = storage.link("jobs/1/out/video.mp4", "my-video.mp4")

    assert link is not None
    with urllib.request.urlopen(link, timeout=10) as answer:
        assert answer.read() == b"a video"
        assert 'filename="my-video.mp4"' in answer.headers["Content-Disposition"]
    assert "Expires=" in link
    assert s3["AWS_SECRET_ACCESS_KEY"] not in link.split("Signature")[0].split("AccessKeyId")[0]


@pytest.mark.broker
def test_a_storage_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "y",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(EngineError) as caught:
        SharedStorage(f"s3://{BUCKET}/x").read("jobs/1/order.json")

    assert caught.value.code is ErrorCode.STORAGE_UNREACHABLE
