"""Recordings of any length: the video is as long, nothing of its end is missing or stands still."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile as sf

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobStatus, RenderOptions
from engine.settings import EngineSettings
from tests.media_files import PORTRAIT, base_speech
from tests.patience import PATIENCE

SPEECH_HZ = 16_000
BEEP_S, BEEP_HZ = 0.1, 1000.0
MAX_DIFFERENCE_S = 0.04
MAX_STILL_S = 0.2
MAX_GROWTH_MB, MAX_PEAK_MB = 30, 360
LENGTHS = (1.04, *(pytest.param(s, marks=pytest.mark.slow) for s in (0.5, 1, 3.33, 9.56, 24, 61)))

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioEngine]:
    settings = EngineSettings(data_dir=tmp_path_factory.mktemp("lengths"), visible_label=False)
    with StudioEngine(settings) as opened:
        yield opened


def write_speech(path: Path, length_s: float) -> Path:
    """Speech of a length; its last tenth of a second is a beep."""
    count = round(length_s * SPEECH_HZ)
    samples = np.resize(base_speech()[8_000:], count)
    beep = np.arange(round(BEEP_S * SPEECH_HZ))
    samples[-beep.size :] = 0.4 * np.sin(2 * np.pi * BEEP_HZ * beep / SPEECH_HZ)
    sf.write(path, samples, SPEECH_HZ)
    return path


def read_video(path: Path) -> tuple[list[bytes], np.ndarray, int]:
    """The frames, small and grey; the sound, mono; its rate."""
    with av.open(str(path)) as video:
        rate_hz = video.streams.audio[0].rate
        frames = [f.reformat(64, 64, "gray").to_ndarray() for f in video.decode(video=0)]
        video.seek(0)
        sound = [f.to_ndarray().mean(axis=0) for f in video.decode(audio=0)]
    return [frame.tobytes() for frame in frames], np.concatenate(sound), rate_hz


@pytest.mark.parametrize("length_s", LENGTHS)
def test_the_end_of_a_recording_is_in_its_video(
    engine: StudioEngine, tmp_path: Path, length_s: float
) -> None:
    speech = write_speech(tmp_path / "speech.wav", length_s)
    options = RenderOptions(animator="lite", size_px=256)

    job = engine.submit(
        AnimateRequest(portrait=str(PORTRAIT), audio=str(speech), options=options, consent=True)
    )
    done = engine.wait(job.job_id, 500 * PATIENCE)

    assert (done.status, done.error) == (JobStatus.SUCCEEDED, None)
    frames, sound, rate_hz = read_video(engine.artifact_path(done.job_id, "video"))
    assert abs(len(frames) / 25 - length_s) <= MAX_DIFFERENCE_S
    end = sound[round((length_s - BEEP_S) * rate_hz) : round(length_s * rate_hz)]
    spectrum = np.abs(np.fft.rfft(end * np.hanning(end.size)))
    assert abs(spectrum.argmax() * rate_hz / end.size - BEEP_HZ) < 50
    last_run = len(list(list(groupby(frames))[-1][1]))
    assert last_run / 25 <= MAX_STILL_S


@pytest.mark.slow
def test_a_long_video_takes_no_more_memory_than_a_short_one(
    engine: StudioEngine, tmp_path: Path
) -> None:
    """The first job of a child loads what the others find there."""
    peaks_mb = []
    for length_s in (10, 10, 150):
        job = engine.submit(
            AnimateRequest(
                portrait=str(PORTRAIT),
                audio=str(write_speech(tmp_path / "speech.wav", length_s)),
                options=RenderOptions(animator="lite", size_px=256),
                consent=True,
            )
        )
        peaks_mb.append(engine.wait(job.job_id, 500 * PATIENCE).report["peak_rss_mb"])

    assert peaks_mb[2] < peaks_mb[1] + MAX_GROWTH_MB
    assert max(peaks_mb) < MAX_PEAK_MB
