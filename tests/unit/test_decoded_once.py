"""A photo and a recording are decoded once, however often a form asks about them before it sends
them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.contracts import AnimateRequest, RenderOptions
from engine.errors import ErrorCode, InputError
from engine.settings import EngineSettings
from engine.worker.quick import SPEECH_NAME, QuickLane

PORTRAIT = {"faces": [], "width_px": 4, "height_px": 4, "verdict": "ok"}
SOUND = {"duration_s": 3.0, "verdict": "ok"}


class Decoder:
    """Hands files on as they are and notes each."""

    def __init__(self) -> None:
        self.pool = self
        self.decoded: list[str] = []
        self.while_decoding: Callable[[], object] = str

    def picture(self, source: str, background: str, target: Path) -> dict[str, Any]:
        return {"pixels": self._decode(source, background, target), "width_px": 4}

    def sound(self, source: str, target: Path) -> dict[str, Any]:
        return {"wav": self._decode(source, "sound", target), "duration_s": 3.0}

    def _decode(self, source: str, how: str, target: Path) -> str:
        content = Path(source).read_bytes()
        self.decoded.append(f"{how}: {content.decode()}")
        if content == b"broken":
            raise InputError(ErrorCode.DAMAGED_IMAGE)
        target.write_bytes(content)
        self.while_decoding()
        return str(target)


class Children:
    """Answer every question, and note what lay in the files they were given."""

    def __init__(self) -> None:
        self.seen: list[bytes | None] = []

    def wake(self) -> None:
        pass

    def run(
        self, kind: str, payload: dict[str, Any], _limits: object, subject: str | None = None
    ) -> dict[str, Any]:
        assert subject is not None
        pixels = (payload["portrait"] or {}).get("pixels")
        self.seen.append(None if pixels is None else Path(pixels).read_bytes())
        if kind == "check":
            return {"ok": True, "portrait": PORTRAIT, "audio": SOUND}
        return {"portrait_name": "portrait.png"}


@pytest.fixture
def decoder() -> Decoder:
    return Decoder()


@pytest.fixture
def children() -> Children:
    return Children()


@pytest.fixture
def lane(decoder: Decoder, children: Children, tmp_path: Path) -> QuickLane:
    def temp_dir() -> Path:
        (tmp_path / "tmp").mkdir(exist_ok=True)
        return tmp_path / "tmp"

    return QuickLane(children, decoder, EngineSettings(data_dir=tmp_path), temp_dir)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.jpg"
    path.write_bytes(b"a face")
    return path


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "take.mp3"
    path.write_bytes(b"words")
    return path


def check(lane: QuickLane, photo: Path | None, recording: Path | None = None, **how: Any) -> None:
    lane.check(photo, recording, None, RenderOptions(**how), {})


def test_a_second_check_decodes_nothing_though_the_options_are_others(
    lane: QuickLane, decoder: Decoder, children: Children, photo: Path, recording: Path
) -> None:
    check(lane, photo, recording)
    check(lane, photo, recording, preset="hd")

    assert sorted(decoder.decoded) == ["sound: words", "white: a face"]
    assert children.seen == [b"a face", b"a face"]


def test_what_was_checked_is_taken_in_as_it_was_decoded(
    lane: QuickLane, decoder: Decoder, children: Children, photo: Path, recording: Path
) -> None:
    check(lane, photo, recording)
    decoder.decoded.clear()
    sent_photo, sent = photo.with_name("again.jpg"), recording.with_name("again.mp3")
    sent_photo.write_bytes(photo.read_bytes())  # as every upload of a file is a new file
    sent.write_bytes(recording.read_bytes())
    job_dir = photo.with_name("job")
    job_dir.mkdir()

    request = AnimateRequest(portrait=str(sent_photo), audio=str(sent), consent=True)
    lane.take_in(request, job_dir)

    assert decoder.decoded == []
    assert children.seen[-1] == b"a face"
    assert (job_dir / SPEECH_NAME).read_bytes() == b"words"


def test_a_changed_file_of_the_same_name_is_decoded_again(
    lane: QuickLane, decoder: Decoder, children: Children, photo: Path
) -> None:
    check(lane, photo)
    photo.write_bytes(b"A FACE")
    check(lane, photo)

    assert decoder.decoded == ["white: a face", "white: A FACE"]
    assert children.seen == [b"a face", b"A FACE"]


def test_another_background_is_decoded_again(
    lane: QuickLane, decoder: Decoder, photo: Path
) -> None:
    check(lane, photo)
    check(lane, photo, background="black")

    assert decoder.decoded == ["white: a face", "black: a face"]


def test_what_changed_while_it_was_decoded_is_not_kept(
    lane: QuickLane, decoder: Decoder, children: Children, photo: Path
) -> None:
    decoder.while_decoding = lambda: photo.write_bytes(b"another face")
    check(lane, photo)
    photo.write_bytes(b"a face")
    check(lane, photo)

    assert decoder.decoded == ["white: a face"] * 2


def test_a_refused_file_is_refused_again(lane: QuickLane, decoder: Decoder, photo: Path) -> None:
    photo.write_bytes(b"broken")
    check(lane, photo)
    check(lane, photo)

    assert decoder.decoded == ["white: broken"] * 2


def test_nothing_is_left_of_it_for_whoever_wants_it_gone(
    lane: QuickLane, decoder: Decoder, photo: Path, recording: Path, tmp_path: Path
) -> None:
    check(lane, photo, recording)
    kept = [path for path in (tmp_path / "tmp").rglob("*") if path.is_file()]
    lane.forget_files()
    left = [path for path in (tmp_path / "tmp").rglob("*") if path.is_file()]
    check(lane, photo, recording)

    assert (len(kept), left) == (2, [])
    assert len(decoder.decoded) == 4
