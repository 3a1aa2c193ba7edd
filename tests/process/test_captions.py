"""Captions from the command line to the files and the picture."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import CommandLine

from engine.api import StudioEngine
from engine.contracts import RenderOptions, SpeechOptions
from engine.errors import ErrorCode
from engine.media.video import read_frames
from engine.settings import EngineSettings

ROOT = Path(__file__).resolve().parents[2]
PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"
SPEECH = ROOT / "tests" / "data" / "speech" / "en_librivox_austen_0880.wav"
TEXT = "Hello there, it costs $9.99 today."


def with_pronunciations(folder):
    (folder / "pronunciations.txt").write_text("today = at this very long moment\n", "utf-8")
    return folder


@pytest.fixture
def cli(tmp_path_factory):
    data_dir = with_pronunciations(tmp_path_factory.mktemp("data"))

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "engine", *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, "STUDIO_DATA_DIR": str(data_dir), "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )

    return run


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """The same commands over one engine, which puts no label in the captions' way."""
    data_dir = with_pronunciations(tmp_path_factory.mktemp("open"))
    with StudioEngine(EngineSettings(data_dir=data_dir, visible_label=False)) as engine:
        yield CommandLine(engine)


def say(run, target, captions, text=TEXT):
    return run(
        *("say", PORTRAIT, text, "-o", target, "--size", 256, "--seed", 1),
        *("--captions", captions, "--json"),
    )


def test_captions_in_the_picture_come_with_their_files(command, tmp_path):
    plain, burned = tmp_path / "plain.mp4", tmp_path / "burned.mp4"

    without = say(command, plain, "srt")
    done = say(command, burned, "burn")

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [Path(path).name for path in report["artifacts"]] == (
        ["burned.mp4", "burned.srt", "burned.vtt"]
    )
    shown = burned.with_suffix(".srt").read_text("utf-8").splitlines()
    assert shown[2] == TEXT
    assert burned.with_suffix(".vtt").read_text("utf-8").startswith("WEBVTT\n\n00:00:0")
    # Same seed, so the pictures differ by the captions alone: low, and from the first word on.
    pairs = list(zip(read_frames(plain), read_frames(burned), strict=True))
    middle, last = len(pairs) // 2, len(pairs) - 1
    differences = [np.abs(a.astype(int) - b).max(axis=2) > 60 for (_, a), (_, b) in pairs]
    assert not differences[0].any()
    assert differences[middle][200:].sum() > 300
    assert not differences[middle][:190].any()
    assert not differences[last].any()
    assert report["sync"]["failed_gates"] == json.loads(without.stdout)["sync"]["failed_gates"]


def test_own_pronunciations_are_spoken_and_the_typed_words_shown(cli, tmp_path):
    target = tmp_path / "out.wav"

    done = cli("speak", "See you today.", "-o", target, "--timings", tmp_path / "times.json")

    assert done.returncode == 0, done.stderr
    words = json.loads((tmp_path / "times.json").read_text("utf-8"))["words"]
    assert [word["text"] for word in words] == ["See", "you", "today."]
    assert words[2]["end_s"] - words[2]["start_s"] > 0.9


def test_without_captions_only_the_video_is_delivered(command, tmp_path):
    assert say(command, tmp_path / "out.mp4", "off", "Hi there.").returncode == 0

    assert [path.name for path in tmp_path.iterdir()] == ["out.mp4"]


def test_letters_the_font_lacks_are_refused_before_anything_is_made(command, tmp_path):
    done = say(command, tmp_path / "out.mp4", "burn", "ሰላም world")

    assert done.returncode == 2
    assert done.stderr.startswith("These letters cannot be drawn into the picture: ሰላም ")
    assert json.loads(done.stdout)["error"]["code"] == "captions_undrawable"
    assert list(tmp_path.iterdir()) == []


def test_captions_of_a_recording_are_refused_in_one_sentence(command, tmp_path):
    done = command("animate", PORTRAIT, SPEECH, "-o", tmp_path / "out.mp4", "--captions", "srt")

    assert done.returncode == 2
    assert done.stderr.startswith("Captions need a typed text")
    assert list(tmp_path.iterdir()) == []


def test_a_recording_is_captioned_where_the_recogniser_is(cli, tmp_path, monkeypatch):
    pytest.importorskip("faster_whisper")
    monkeypatch.setenv("STUDIO_RECOGNISER_DIR", str(ROOT / "tests" / "data" / "recogniser"))

    done = cli(
        *("animate", PORTRAIT, SPEECH, "-o", tmp_path / "out.mp4", "--size", 256),
        *("--captions", "burn", "--highlight-words", "--json"),
    )

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert "captions_recognised" in report["notes"]
    assert "Read them before you show the video" in done.stderr
    assert [Path(path).name for path in report["artifacts"]] == ["out.mp4", "out.srt", "out.vtt"]
    assert "young man." in (tmp_path / "out.srt").read_text("utf-8")
    assert "::cue(:future)" in (tmp_path / "out.vtt").read_text("utf-8")
    assert report["sound"]["loudness_lufs"] == pytest.approx(-16, abs=0.6)


def test_check_tells_what_captions_lack(command):
    recording, amharic, engine = str(SPEECH), SpeechOptions(text="ሰላም"), command.engine

    refused = engine.check(None, recording, options=RenderOptions(captions="srt"))
    undrawable = engine.check(None, speech=amharic, options=RenderOptions(captions="burn"))
    fine = engine.check(None, speech=amharic, options=RenderOptions(captions="srt"))

    assert refused.audio.verdict == ErrorCode.CAPTIONS_NEED_TEXT
    assert undrawable.audio.verdict == ErrorCode.CAPTIONS_UNDRAWABLE
    assert undrawable.audio.values == {"characters": "ሰላም"}
    assert fine.ok
