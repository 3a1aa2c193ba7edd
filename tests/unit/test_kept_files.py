"""What was decoded a moment ago is found by its content, for some minutes and not without end."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.worker import content, kept_files
from engine.worker.content import ContentNames
from engine.worker.kept_files import FOLDER_NAME, MAX_AGE_S, KeptFiles


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[KeptFiles]:
    files = KeptFiles(lambda: tmp_path)
    yield files
    files.clear()


def keep(kept: KeptFiles, folder: Path, name: str, text: str = "pixels") -> None:
    file = folder / f"decoded-{name}"
    file.write_text(text, "utf-8")
    kept.keep((name,), file, {"width_px": 1})
    file.unlink()


def left(folder: Path) -> int:
    return len(list((folder / FOLDER_NAME).iterdir()))


def age(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let the clock of the kept files go forward."""
    now = kept_files.time.monotonic()
    monkeypatch.setattr(kept_files.time, "monotonic", lambda: now + seconds)


def test_a_kept_file_is_laid_where_it_is_wanted(kept: KeptFiles, tmp_path: Path) -> None:
    keep(kept, tmp_path, "photo")
    facts = kept.take(("photo",), tmp_path / "target")

    assert facts == {"width_px": 1}
    assert (tmp_path / "target").read_text("utf-8") == "pixels"
    assert kept.take(("another",), tmp_path / "other") is None


def test_it_is_copied_where_a_disk_knows_no_second_name(
    kept: KeptFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_paths: Path) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    keep(kept, tmp_path, "photo")

    assert kept.take(("photo",), tmp_path / "target")
    assert (tmp_path / "target").read_text("utf-8") == "pixels"


def test_a_kept_file_goes_when_nobody_needed_it_for_minutes(
    kept: KeptFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(kept, tmp_path, "photo")
    age(monkeypatch, MAX_AGE_S + 1)

    assert kept.take(("photo",), tmp_path / "target") is None
    assert left(tmp_path) == 0


def test_it_goes_although_nobody_asks_again(
    kept: KeptFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "MAX_AGE_S", 0.0)
    keep(kept, tmp_path, "photo")
    assert kept._timer is None or kept._timer.interval <= 1.0
    kept._look()

    assert left(tmp_path) == 0


def test_there_are_never_more_files_or_bytes_than_the_limits(
    kept: KeptFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "MAX_FILES", 3)
    monkeypatch.setattr(kept_files, "MAX_TOTAL_BYTES", 20)
    monkeypatch.setattr(kept_files, "MAX_FILE_BYTES", 15)

    keep(kept, tmp_path, "large", "x" * 16)
    few = [keep(kept, tmp_path, str(number), "x") or left(tmp_path) for number in range(5)]
    keep(kept, tmp_path, "half", "x" * 15)
    keep(kept, tmp_path, "whole", "x" * 15)

    assert few == [1, 2, 3, 3, 3]
    assert left(tmp_path) == 1
    assert kept.take(("large",), tmp_path / "target") is None
    assert kept.take(("whole",), tmp_path / "target")


def test_all_is_removed_for_whoever_wants_it_gone(kept: KeptFiles, tmp_path: Path) -> None:
    keep(kept, tmp_path, "photo")
    kept.clear()

    assert left(tmp_path) == 0
    assert kept.take(("photo",), tmp_path / "target") is None


def test_the_same_content_has_one_name_and_another_has_another(tmp_path: Path) -> None:
    names, first, second = ContentNames(), tmp_path / "a.jpg", tmp_path / "b.jpg"
    first.write_bytes(b"picture")
    second.write_bytes(b"picture")
    same = names.of(first), names.of(second)
    first.write_bytes(b"PICTURE")  # as long, and within one tick of the clock

    assert same[0] == same[1] is not None
    assert names.of(first) not in (None, same[0])
    assert names.of(tmp_path / "missing") is names.of(tmp_path) is None


def test_a_file_that_lies_unchanged_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, photo = ContentNames(), tmp_path / "a.jpg"
    photo.write_bytes(b"picture")
    monkeypatch.setattr(content, "SETTLED_S", -1.0)
    read: list[Path] = []
    digest = content._digest
    monkeypatch.setattr(content, "_digest", lambda path: read.append(path) or digest(path))

    assert names.of(photo) == names.of(photo)
    assert read == [photo]


def test_a_large_file_is_named_without_reading_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, film = ContentNames(), tmp_path / "film.mp4"
    film.write_bytes(b"first take")
    monkeypatch.setattr(content, "MAX_READ_BYTES", 5)
    monkeypatch.delattr(content, "_digest")
    before = names.of(film)
    film.write_bytes(b"another take")

    assert before is not None
    assert names.of(film) not in (None, before)
