import csv
import io
import zipfile

import pytest

from engine.dub.archive import TABLE_NAME, Entry, contents_table, write_archive
from engine.dub.names import file_stems


def test_files_are_called_by_name_and_language_and_never_alike():
    rows = [("Welcome", "en"), ("Welcome", "es"), ("welcome", "EN"), ("", "fr"), ("", None)]

    assert file_stems(rows) == ["Welcome-en", "Welcome-es", "welcome-EN-2", "fr", "video-5"]


def test_a_name_that_tells_the_language_is_not_told_twice():
    rows = [("intro-de", "de"), ("de", "de"), ("Hi", "hi")]

    assert file_stems(rows) == ["intro-de", "de", "Hi-hi"]


def test_no_name_leads_anywhere_else_or_troubles_a_system():
    names = [
        "../../etc/passwd",
        "C:\\x\\y",
        "a/b:c*?",
        "CON",
        "com1.txt",
        "...",
        "x" * 300,
        " lpt9 ",
    ]

    stems = file_stems((name, None) for name in names)

    assert stems[:6] == ["etc-passwd", "C-x-y", "a-b-c", "_CON", "_com1.txt", "video-6"]
    assert len(stems[6]) == 60
    assert stems[7] == "_lpt9"


def test_letters_of_every_script_stay():
    assert file_stems([("Добро пожаловать", "ru"), ("नमस्ते", "hi"), ("你好?", "zh")]) == [
        "Добро-пожаловать-ru",
        "नमस्ते-hi",
        "你好-zh",
    ]


def test_an_archive_is_complete_or_absent(tmp_path):
    video = tmp_path / "video.mp4"
    video.write_bytes(b"v" * 3_000_000)
    good = Entry("grüße-de", "Grüße", "de", "ready", {"mp4": video})
    gone = Entry("x", "x", "", "ready", {"mp4": tmp_path / "gone.mp4"})

    write_archive(tmp_path / "good.zip", [good])
    with pytest.raises(OSError, match="gone"):
        write_archive(tmp_path / "bad.zip", [good, gone])

    with zipfile.ZipFile(tmp_path / "good.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["grüße-de.mp4", TABLE_NAME]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.zip", "video.mp4"]


def test_no_cell_of_the_table_is_a_formula():
    table = contents_table([Entry("a", "=HYPERLINK(1)", "+en", "ready", {})])

    row = list(csv.reader(io.StringIO(table)))[1]
    assert row == ["'=HYPERLINK(1)", "'+en", "ready", ""]
