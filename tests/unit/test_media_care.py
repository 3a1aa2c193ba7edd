from pathlib import Path

import numpy as np
import pyloudnorm
import pytest
import soundfile as sf
import soxr

from engine.contracts import RenderOptions
from engine.lipsync.from_audio import Listener
from engine.media.care import (
    TARGET_LUFS,
    gain_to_target_db,
    loudness_lufs,
    noise_floor_dbfs,
    reduce_noise,
    write_cared,
)
from engine.pipeline.care import care_for

SPEECH = Path(__file__).resolve().parents[1] / "data" / "speech" / "en_jfk_1961_16k.flac"
RATE_HZ = 48_000
PAUSE = slice(int(2.3 * RATE_HZ), int(3.1 * RATE_HZ))
SPOKEN = slice(int(0.3 * RATE_HZ), int(2.0 * RATE_HZ))


@pytest.fixture(scope="module")
def speech():
    samples, rate_hz = sf.read(str(SPEECH), dtype="float32")
    return soxr.resample(samples, rate_hz, RATE_HZ)


@pytest.fixture
def wav_of(tmp_path):
    def write(samples, name="in.wav"):
        path = tmp_path / name
        sf.write(path, samples, RATE_HZ, subtype="PCM_16")
        return path

    return write


def level_db(samples):
    return 20 * np.log10(np.sqrt(np.mean(np.square(samples, dtype=np.float64))) + 1e-9)


@pytest.mark.parametrize("gain", [0.15, 0.4, 1.0])
def test_any_recording_comes_out_at_the_same_loudness(speech, wav_of, tmp_path, gain):
    source, target = wav_of(gain * speech), tmp_path / "out.wav"

    write_cared(source, target, gain_to_target_db(source), (0.0, 99.0))

    assert loudness_lufs(target) == pytest.approx(TARGET_LUFS, abs=0.5)
    samples, _ = sf.read(str(target))
    assert len(samples) == len(speech)
    assert np.abs(samples).max() < 0.96


def test_silence_and_a_moment_have_no_loudness_and_no_gain(speech, wav_of):
    for samples in (np.zeros(RATE_HZ, np.float32), speech[: RATE_HZ // 4]):
        path = wav_of(samples)
        assert loudness_lufs(path) is None
        assert gain_to_target_db(path) == 0.0


def test_steady_noise_becomes_softer_and_the_voice_stays_in_time(speech, wav_of, tmp_path):
    hiss = 0.01 * np.random.default_rng(0).standard_normal(len(speech)).astype(np.float32)
    noisy = 0.5 * speech + hiss
    source, target = wav_of(noisy), tmp_path / "clean.wav"

    reduce_noise(source, target)

    clean, _ = sf.read(str(target), dtype="float32")
    assert len(clean) == len(noisy)
    assert noise_floor_dbfs(source) == pytest.approx(level_db(noisy[PAUSE]), abs=4)
    assert level_db(clean[PAUSE]) < level_db(noisy[PAUSE]) - 5
    assert level_db(clean[SPOKEN]) == pytest.approx(level_db(noisy[SPOKEN]), abs=0.5)
    lags = range(-480, 481, 8)
    middle = slice(4 * RATE_HZ, 5 * RATE_HZ)
    match = [np.dot(noisy[middle], np.roll(clean, -lag)[middle]) for lag in lags]
    assert lags[int(np.argmax(match))] == 0


def test_silent_ends_are_cut_off_and_the_original_kept(speech, wav_of, tmp_path):
    quiet = np.zeros(2 * RATE_HZ, np.float32)
    source = wav_of(np.concatenate([quiet, speech, quiet]))
    before = source.read_bytes()
    options = RenderOptions(trim_silence=True, level_sound=False)

    cared = care_for(source, options, Listener(), tmp_path, is_recording=True)

    start_s, end_s = cared.facts["trimmed_s"]
    assert 1.7 < start_s < 2.4
    assert 1.3 < end_s < 2.6
    length_s = sf.info(str(cared.wav)).duration
    assert length_s == pytest.approx(len(speech) / RATE_HZ + 4 - start_s - end_s, abs=0.01)
    assert cared.wav != source
    assert source.read_bytes() == before


def test_a_voice_of_ours_is_levelled_but_neither_cleaned_nor_trimmed(speech, wav_of, tmp_path):
    options = RenderOptions(trim_silence=True, reduce_noise=True)
    source = wav_of(0.2 * speech)

    cared = care_for(source, options, Listener(), tmp_path, is_recording=False)

    assert cared.facts["noise_reduced"] is False
    assert cared.facts["trimmed_s"] == [0.0, 0.0]
    assert cared.facts["loudness_lufs"] == pytest.approx(TARGET_LUFS, abs=0.5)
    again = care_for(source, options, Listener(), tmp_path, is_recording=False)
    assert again == cared


def test_without_anything_to_do_the_sound_is_the_original(speech, wav_of, tmp_path):
    source = wav_of(speech)

    cared = care_for(
        source, RenderOptions(level_sound=False), Listener(), tmp_path, is_recording=True
    )

    assert cared.wav == source
    assert cared.facts["gain_db"] == 0.0


def test_a_file_is_as_loud_as_its_samples(tmp_path: Path):
    """Loud and soft minutes, pauses and silence: the gates are those of the whole sound."""
    rate_hz = 16000
    levels = np.repeat([0.2, 0.02, 0.0, 0.1, 0.2, 0.001, 0.05], 11 * rate_hz)
    noise = np.random.default_rng(3).standard_normal(len(levels)) * levels * 0.3
    wav = tmp_path / "long.wav"
    sf.write(wav, noise.astype(np.float32), rate_hz)
    whole, _ = sf.read(wav)

    expected = pyloudnorm.Meter(rate_hz, filter_class="DeMan").integrated_loudness(whole)

    assert loudness_lufs(wav) == pytest.approx(expected, abs=0.05)
