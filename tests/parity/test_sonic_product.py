"""The whole product with Sonic: the command line, a weights folder of tiny networks, a CPU."""

import json
import os
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import soundfile

pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from engine.media.video import probe_video, read_frames
from engine.provenance.verify import check_labels
from tests.parity.tiny_networks import write_weights_folder

ROOT = Path(__file__).resolve().parents[2]
PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"
SPEECH = ROOT / "tests" / "data" / "speech" / "en_librivox_austen_0880.wav"
DURATION_S = 1.1
TIMEOUT_S = 240


@pytest.fixture(scope="module")
def speech(tmp_path_factory):
    samples, rate = soundfile.read(SPEECH, dtype="float32")
    path = tmp_path_factory.mktemp("speech") / "speech.wav"
    soundfile.write(path, samples[: round(DURATION_S * rate)], rate)
    return path


@pytest.fixture(scope="module")
def weights_dir(fixtures, tmp_path_factory):
    return write_weights_folder(fixtures, tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def cli(data_dir):
    def run(*arguments, weights):
        environment = {
            **os.environ,
            "STUDIO_DATA_DIR": str(data_dir),
            "STUDIO_SONIC_WEIGHTS_DIR": str(weights),
            "CUDA_VISIBLE_DEVICES": "",
        }
        return subprocess.run(
            [sys.executable, "-m", "engine", *map(str, arguments)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    return run


@pytest.mark.timeout(300)
def test_animate_makes_a_valid_video(cli, weights_dir, speech, tmp_path):
    target = tmp_path / "out.mp4"
    options = ("--animator", "sonic", "--size", 256, "--steps", 1, "--expand-ratio", 0.2)

    done = cli("animate", PORTRAIT, speech, "-o", target, *options, "--json", weights=weights_dir)

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["animator"] == "sonic"
    assert report["calibration_ms"] == 0
    assert [*report["stages"]] == ["prepare", "speak", "listen", "animate", "finish"]
    info = probe_video(target)
    assert (info.codec, info.pix_fmt, info.fps) == ("h264", "yuv420p", Fraction(25))
    assert (info.width_px, info.height_px) == (256, 256)
    assert abs(info.duration_s - DURATION_S) <= 0.04
    frames = np.stack([frame for _, frame in read_frames(target)]).astype(int)
    assert len(frames) == info.num_frames
    assert frames[0].std() > 1
    assert np.abs(np.diff(frames, axis=0)).max() > 0
    labels = check_labels(target)
    assert labels.problems == ()
    assert "LeonJoe13/Sonic" in labels.facts["models"]


def test_the_check_tells_what_sonic_would_cost(weights_dir, speech, data_dir):
    from engine.api import StudioEngine  # noqa: PLC0415 - needs the settings of this test
    from engine.contracts import RenderOptions  # noqa: PLC0415
    from engine.settings import EngineSettings  # noqa: PLC0415

    settings = EngineSettings(data_dir=data_dir, sonic_weights_dir=weights_dir)
    with StudioEngine(settings) as engine:
        asked = engine.check(PORTRAIT, speech, options=RenderOptions(animator="sonic"))

    assert set(asked.estimate) == {"lite", "sonic"}
    assert asked.estimate["sonic"].seconds > asked.estimate["lite"].seconds
    assert asked.estimate["sonic"].peak_rss_mb > asked.estimate["lite"].peak_rss_mb


def test_auto_takes_lite_where_there_is_no_card(cli, weights_dir, speech, tmp_path):
    target = tmp_path / "out.mp4"

    done = cli("animate", PORTRAIT, speech, "-o", target, "--size", 256, "--json",
               weights=weights_dir)  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["animator"] == "lite"


def test_missing_weights_are_told_in_one_sentence(cli, speech, tmp_path):
    target, nowhere = tmp_path / "out.mp4", tmp_path / "nothing"

    done = cli("animate", PORTRAIT, speech, "-o", target, "--animator", "sonic", weights=nowhere)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert str(nowhere) in done.stderr
    assert "python3 bootstrap.py weights get sonic" in done.stderr
    assert "lite animator" in done.stderr
    assert not target.exists()


def test_doctor_names_the_weights_files_that_lack_without_needing_them(cli, weights_dir, tmp_path):
    partly = tmp_path / "partly"
    shutil.copytree(weights_dir, partly, ignore=shutil.ignore_patterns("unet.pth"))

    none, some = (
        [row for row in json.loads(done.stdout)["checks"] if row["name"] == "Weights, sonic"]
        for done in (
            cli("doctor", "--json", weights=tmp_path / "nothing"),
            cli("doctor", "--json", weights=partly),
        )
    )

    assert not any(row["ok"] or row["needed"] for row in none + some)
    assert "0 of 13 files" in none[0]["detail"]
    assert "weights get sonic" in none[0]["detail"]
    unet = next(row["detail"] for row in some if "Sonic/unet.pth" in row["detail"])
    assert "up to 6.4 GB" in unet
    assert "weights get sonic" in unet
    assert str(partly) in unet
