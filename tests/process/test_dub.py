"""`dub` from the command line to the files: what fails, what is kept, what is told."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import CommandLine

from engine.api import StudioEngine
from engine.media.video import probe_video
from engine.settings import EngineSettings

pytestmark = pytest.mark.timeout(300)  # seconds on an idle computer, minutes on a busy one

ROOT = Path(__file__).resolve().parents[2]
PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"
SPEECH = ROOT / "tests" / "data" / "speech" / "en_librivox_austen_0880.wav"
TABLE = """name,language,voice,text,audio
Hello,en,,Hi there.,
Hello,es,,Hola a todos.,
Hello,xx,,Nobody speaks this.,
Hello,,,,
Own,en,,,own.wav
Gone,,,,gone.wav
"""


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def start(data_dir):
    # A shell's background job ignores Ctrl-C and hands that on to what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def run(*arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "engine", *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, "STUDIO_DATA_DIR": str(data_dir), "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    return run


@pytest.fixture(scope="module")
def dub(start):
    def run(table, folder, *options, portrait=PORTRAIT):
        process = start(
            *("dub", portrait, table, "-o", folder, "--size", 256, "--animator", "lite", *options)
        )
        out, err = process.communicate(timeout=250)
        return process.returncode, out, err

    return run


@pytest.fixture(scope="module")
def dub_here(tmp_path_factory):
    """The same command over one engine."""
    with StudioEngine(EngineSettings(data_dir=tmp_path_factory.mktemp("open"))) as engine:
        command = CommandLine(engine)

        def run(table, folder, *options, portrait=PORTRAIT):
            given = ("--size", 256, "--animator", "lite", *options)
            done = command("dub", portrait, table, "-o", folder, *given)
            return done.returncode, done.stdout, done.stderr

        yield run


@pytest.fixture(scope="module")
def delivered(dub, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dub")
    table = folder / "rows.csv"
    table.write_text(TABLE, "utf-8")
    shutil.copyfile(SPEECH, folder / "own.wav")
    return table, folder / "out", dub(table, folder / "out")


def test_rows_that_can_be_made_are_made_and_the_others_explained(delivered):
    _, folder, (code, out, err) = delivered

    assert code == 2
    assert sorted(path.name for path in folder.iterdir()) == [
        "Hello-en.mp4",
        "Hello-en.srt",
        "Hello-en.vtt",
        "Hello-es.mp4",
        "Hello-es.srt",
        "Hello-es.vtt",
        "Own-en.mp4",
        "dub.json",
    ]
    assert "Row 3 (Hello, xx): No installed voice speaks the language xx." in err
    assert "Row 4 (Hello): This row has neither a text nor a recording." in err
    assert "Row 6 (Gone): " in err
    assert "gone.wav" in err
    assert "Traceback" not in err
    assert err.count("the video will look soft") == 1
    assert out.splitlines()[-1] == f"3 of 6 videos are in {folder}"


def test_each_video_is_as_long_as_its_own_speech(delivered):
    _, folder, _ = delivered

    lengths = [probe_video(folder / f"{stem}.mp4").duration_s for stem in ("Hello-en", "Own-en")]

    assert 0.5 < lengths[0] < 2
    assert lengths[1] == pytest.approx(2.99, abs=0.05)
    assert "Hola a todos." in (folder / "Hello-es.srt").read_text("utf-8")


def test_only_rows_that_changed_or_lost_a_file_are_made_again(delivered, dub_here):
    table, folder, _ = delivered
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.mp4")}
    (folder / "Own-en.mp4").write_bytes(b"cut off")
    changed = TABLE.replace("Hola a todos.", "Hola.").splitlines(keepends=True)
    table.write_text("".join(changed[:3] + changed[5:]), "utf-8")

    code, out, _ = dub_here(table, folder, "--json")

    summary = json.loads(out)
    assert code == 2
    assert [(row["name"], row["state"]) for row in summary["rows"]] == [
        ("Hello", "kept"),
        ("Hello", "made"),
        ("Own", "made"),
        ("Gone", "failed"),
    ]
    assert (summary["made"], summary["kept"], summary["failed"]) == (2, 1, 1)
    assert summary["rows"][3]["error"]["code"] == "file_not_found"
    assert summary["rows"][1]["report"]["sync"]
    after = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.mp4")}
    assert {name for name in after if after[name] == before[name]} == {"Hello-en.mp4"}


@pytest.mark.parametrize(
    ("content", "portrait", "sentence"),
    [
        ("a,b\n1,2\n", PORTRAIT, "The first row of the table does not name its columns."),
        ("text\nHi.\n", SPEECH, "This file is not a picture."),
    ],
)
def test_what_concerns_every_row_is_one_sentence(dub_here, tmp_path, content, portrait, sentence):
    table = tmp_path / "rows.csv"
    table.write_text(content, "utf-8")

    code, _, err = dub_here(table, tmp_path / "out", portrait=portrait)

    assert code == 2
    assert sentence.lower() in err.lower()
    assert len(err.splitlines()) == 1


def test_a_dub_that_was_stopped_goes_on_with_what_is_missing(start, dub, tmp_path, data_dir):
    table, folder = tmp_path / "rows.json", tmp_path / "out"
    rows = [{"name": "a", "text": "Hi."}, {"name": "b", "text": "This one is longer. " * 8}]
    table.write_text(json.dumps(rows), "utf-8")
    options = ("--size", 256, "--animator", "lite")
    process = start("dub", PORTRAIT, table, "-o", folder, *options)
    deadline = time.monotonic() + 150
    while not (folder / "dub.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)

    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=150)
    stopped = (
        process.returncode,
        err.splitlines()[-1],
        sorted(path.name for path in folder.glob("*.mp4")),
    )
    code, out, _ = dub(table, folder)

    assert stopped == (130, "Stopped.", ["a.mp4"])
    assert code == 0
    assert out.splitlines()[0] == "a.mp4 was made before."
    assert (folder / "b.mp4").exists()
    assert list((data_dir / "jobs").iterdir()) == []
