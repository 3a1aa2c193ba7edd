"""The command line as a caller outside the repo sees it: real processes, real files."""

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile as sf
from commands import CommandLine
from PIL import Image

from engine.api import StudioEngine
from engine.media.video import probe_video, read_frames
from engine.settings import EngineSettings

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
PORTRAIT = DATA / "portraits" / "astronaut_collins.jpg"
NO_FACE = DATA / "portraits" / "noface_coffee.jpg"
SPEECH = DATA / "speech" / "en_librivox_austen_0880.wav"
TIMEOUT_S = 100


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def cli(data_dir):
    def run(*arguments, text=None):
        environment = {**os.environ, "STUDIO_DATA_DIR": str(data_dir)}
        return subprocess.run(
            [sys.executable, "-m", "engine", *map(str, arguments)],
            cwd=ROOT,
            env=environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    return run


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """The same commands over one engine: for what does not hang on a process of its own."""
    with StudioEngine(EngineSettings(data_dir=tmp_path_factory.mktemp("open"))) as engine:
        yield CommandLine(engine)


def test_animate_makes_a_video_as_long_as_the_recording(cli, tmp_path):
    target = tmp_path / "out.mp4"

    done = cli("animate", PORTRAIT, SPEECH, "-o", target, "--size", 256, "--seed", 7, "--json")

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    info = probe_video(target)
    assert (info.codec, info.profile, info.pix_fmt) == ("h264", "High", "yuv420p")
    assert info.has_faststart
    assert info.fps == Fraction(25)
    assert info.sound is not None
    assert abs(info.video_duration_s - info.sound.duration_s) <= 0.04
    assert abs(report["duration_s"] - sf.info(str(SPEECH)).duration) <= 0.04
    assert report["video"] == str(target)
    assert (report["animator"], report["seed"], report["fps"]) == ("lite", 7, "25/1")
    assert min(report["width_px"], report["height_px"]) == 256
    assert set(report["stages"]) >= {"prepare", "listen", "animate", "finish"}
    assert report["peak_rss_mb"] > 50
    assert report["sync"]["mouth_audio_correlation"] > 0.7
    assert abs(report["sync"]["offset_ms"]) <= 45


def test_script_times_the_captions_of_a_recording(command, tmp_path):
    target, script = tmp_path / "out.mp4", tmp_path / "words.txt"
    script.write_text("He was not an ill-disposed young man.", "utf-8")

    done = command(
        *("animate", PORTRAIT, SPEECH, "-o", target, "--size", 384, "--seed", 7, "--json"),
        *("--script", script, "--captions", "srt"),
    )

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["notes"] == ["low_resolution"]
    assert report["sync"]["closure_f1"] >= 0.8
    lines = target.with_suffix(".srt").read_text("utf-8").splitlines()
    assert lines[2] == "He was not an ill-disposed young man."
    start, _, end = lines[1].partition(" --> ")
    assert "00:00:00,150" <= start <= "00:00:00,270"  # the other aligner hears "He" at 0.21 s
    assert "00:00:02,700" <= end <= "00:00:03,000"  # and the end at 2.80 s
    assert target.with_suffix(".vtt").exists()


def test_wrong_script_is_said_and_the_mouth_follows_the_sound(command, tmp_path):
    target, script = tmp_path / "curves.json", tmp_path / "words.txt"
    script.write_text("Tomorrow the weather will be fine again.", "utf-8")

    done = command("lipsync", SPEECH, "-o", target, "--script", script)

    assert done.returncode == 0
    assert "does not seem to be what is said" in done.stderr
    assert max(json.loads(target.read_text("utf-8"))["close"]) > 0.8


def test_say_shows_every_m_b_and_p_closed(cli, tmp_path):
    target = tmp_path / "said.mp4"

    text = "Maybe my mother bought a boat."
    done = cli("say", PORTRAIT, "-", "-o", target, "--size", 384, "--json", text=text)

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["sync"]["closure_f1"] >= 0.8
    assert report["sync"]["sil_open"] <= 0.1
    assert target.stat().st_size > 10_000


def test_what_was_left_out_of_a_text_is_said_with_the_video(command, tmp_path):
    done = command("say", PORTRAIT, "<speak>Hello</speak>", "-o", tmp_path / "a.mp4", "--size", 256)

    assert done.returncode == 0
    assert "Tags and formatting marks were left out" in done.stderr
    assert "The face is only 108 pixels high" in done.stderr


def test_same_seed_makes_the_same_picture(cli, command, tmp_path):
    first, second = tmp_path / "a.mp4", tmp_path / "b.mp4"

    for run, target in ((cli, first), (command, second)):
        run("say", PORTRAIT, "Hello.", "-o", target, "--size", 256, "--seed", 3)

    # The seals differ: each signature is drawn anew. Every picture and sample is the same.
    assert first.read_bytes() != second.read_bytes()
    pairs = zip(read_frames(first), read_frames(second), strict=True)
    assert all(np.array_equal(one, other) for (_, one), (_, other) in pairs)
    assert np.array_equal(samples_of(first), samples_of(second))


def samples_of(path):
    with av.open(str(path)) as container:
        return np.concatenate([f.to_ndarray() for f in container.decode(audio=0)], axis=1)


def test_verify_finds_every_label_and_names_what_a_copy_lost(command, tmp_path):
    video, copy = tmp_path / "out.mp4", tmp_path / "copy.mp4"
    command("say", PORTRAIT, "Good morning to you.", "-o", video, "--size", 256)
    with av.open(str(video)) as source, av.open(str(copy), "w") as target:
        streams = {s.index: target.add_stream_from_template(s) for s in source.streams}
        for packet in source.demux():
            if packet.dts is not None:
                packet.stream = streams[packet.stream.index]
                target.mux(packet)

    whole, lost = command("verify", video, "--json"), command("verify", copy)

    found = json.loads(whole.stdout)
    assert whole.returncode == 0
    assert (found["ok"], found["visible_label"], found["manifest"]) == (True, "en", "valid")
    assert found["signed_here"]
    assert found["facts"]["models"] == ["sonic-studio/lite", "built-in voice"]
    assert found["facts"]["consent"] is True
    assert found["sync"]["mouth_audio_correlation"] > 0.5
    assert lost.returncode == 2
    assert "no C2PA manifest" in lost.stdout
    assert "no AIGC tag" in lost.stdout


def test_verify_refuses_what_is_neither_video_nor_sound_in_one_sentence(command, tmp_path):
    text = tmp_path / "voice.mp4"
    text.write_text("ffconcat version 1.0\nfile secret.mp4\n")

    for path in (PORTRAIT, text, tmp_path / "absent.mp4"):
        done = command("verify", path)
        assert done.returncode == 2
        assert done.stdout == ""
        assert len(done.stderr.strip().splitlines()) == 1


def test_finished_command_leaves_no_job_behind(command, tmp_path):
    command("say", PORTRAIT, "Hi.", "-o", tmp_path / "hi.mp4", "--size", 256)

    assert list(command.engine.settings.jobs_dir.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hi.mp4"]


def test_check_tells_face_sound_and_cost(command):
    done = command("check", PORTRAIT, SPEECH, "--json")

    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["ok"] is True
    assert report["portrait"]["chosen"] == 0
    assert len(report["portrait"]["faces"][0]["box"]) == 4
    assert report["audio"]["duration_s"] == pytest.approx(2.99, abs=0.05)
    assert report["audio"]["speech_share"] > 0.5
    assert report["estimate"]["lite"]["seconds"] > 0


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda _: NO_FACE, "no_face"),
        (lambda folder: _text_file(folder / "fake.png"), "not_an_image"),
        (lambda folder: _empty_file(folder / "empty.jpg"), "empty_file"),
        (lambda folder: _tiny_picture(folder / "tiny.png"), "image_too_small"),
        (lambda folder: _half_a_file(folder / "half.jpg"), "damaged_image"),
    ],
)
def test_unusable_picture_is_named(command, tmp_path, make, code):
    done = command("check", make(tmp_path), "--json")

    assert done.returncode == 2
    assert json.loads(done.stdout)["portrait"]["verdict"] == code


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda folder: _tone(folder / "silence.wav", 0.0, 2.0), "silent"),
        (lambda folder: _tone(folder / "short.wav", 0.3, 0.05), "audio_too_short"),
        (lambda folder: _text_file(folder / "fake.wav"), "not_audio"),
        (lambda folder: _empty_file(folder / "empty.mp3"), "empty_file"),
    ],
)
def test_unusable_recording_is_refused_before_anything_is_queued(command, tmp_path, make, code):
    target = tmp_path / "out.mp4"

    done = command("animate", PORTRAIT, make(tmp_path), "-o", target, "--json")

    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == code
    assert not target.exists()
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("animate", "nothere.jpg", SPEECH, "-o", "out.mp4"),
        ("animate", PORTRAIT, SPEECH, "-o", "/no/such/folder/out.mp4"),
        ("animate", PORTRAIT, SPEECH, "-o", "out.mp4", "--size", "20"),
        ("animate", PORTRAIT, SPEECH, "-o", "out.mp4", "--size", "big"),
        ("say", PORTRAIT, "", "-o", "out.mp4"),
        ("say", PORTRAIT, "hello", "-o", "out.mp4", "--voice", "nobody"),
        ("animate", PORTRAIT, SPEECH, "-o", "out.avi"),
        ("speak", "hello", "-o", "out.mp3"),
        ("speak", "hello", "-o", "out.wav", "--language", "tlh"),
        ("voices", "--language", "tlh"),
        ("dance",),
    ],
)
def test_mistake_gets_one_sentence_and_exit_code_2(command, arguments):
    done = command(*arguments)

    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", NO_FACE, "--json"),
        ("animate", PORTRAIT, NO_FACE, "-o", "out.mp4"),
        ("say", PORTRAIT, "hello", "-o", "out.mp4", "--voice", "nobody"),
        ("verify", NO_FACE),
        ("dance",),
    ],
)
def test_a_process_of_its_own_refuses_in_one_sentence_too(cli, tmp_path, arguments):
    given = [tmp_path / one if one == "out.mp4" else one for one in arguments]

    done = cli(*given)

    assert done.returncode == 2
    assert len((done.stdout + done.stderr).strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_speak_writes_sound_and_its_times(command, tmp_path):
    target, timings = tmp_path / "said.wav", tmp_path / "said.json"

    done = command("speak", "Good morning.", "-o", target, "--timings", timings)

    assert done.returncode == 0, done.stderr
    times = json.loads(timings.read_text("utf-8"))
    assert [word["text"] for word in times["words"]] == ["Good", "morning."]
    assert times["phonemes"][-1]["end_s"] <= sf.info(str(target)).duration


def test_lipsync_writes_the_published_form(cli, tmp_path):
    target = tmp_path / "curves.json"

    done = cli("lipsync", SPEECH, "-o", target)

    assert done.returncode == 0, done.stderr
    curves = json.loads(target.read_text("utf-8"))
    count = len(curves["jaw"])
    assert curves["rate_hz"] == 50
    assert curves["visemes"][0] == "sil"
    assert count == pytest.approx(2.99 * 50, abs=2)
    assert np.allclose(np.sum(curves["posteriors"], axis=1), 1, atol=0.01)
    assert all(len(curves[name]) == count for name in ("wide", "pucker", "close", "fv"))


def test_voices_of_a_language_are_listed_natural_first(command):
    voices = json.loads(command("voices", "--language", "en", "--json").stdout)

    assert voices[0]["natural"] is True
    assert any(voice["engine"] == "espeak" for voice in voices)


def test_doctor_finds_nothing_missing(cli):
    done = cli("doctor", "--json")

    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["ok"] is True
    assert {"Machine", "Video encoder", "Model file"} <= {row["name"] for row in report["checks"]}


def _text_file(path):
    path.write_text("only words")
    return path


def _empty_file(path):
    path.touch()
    return path


def _tiny_picture(path):
    Image.new("RGB", (8, 8), "grey").save(path)
    return path


def _half_a_file(path):
    whole = PORTRAIT.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def _tone(path, amplitude, duration_s):
    times = np.arange(int(duration_s * 16_000)) / 16_000
    sf.write(path, amplitude * np.sin(2 * np.pi * 440 * times), 16_000)
    return path
