"""The listening net on speech, on what is no speech, and on long files."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from engine.lipsync import from_audio
from engine.lipsync.curves import MouthCurves
from engine.lipsync.from_audio import Listener, loudness_of_wav
from engine.lipsync.from_timings import curves_from_timings
from engine.lipsync.visemes import bilabial_times
from engine.speech.espeak import EspeakEngine
from engine.speech.voice import TimedPhoneme

RATE = 16_000
SPEECH = Path(__file__).parents[1] / "data" / "speech"
RECORDINGS = {
    "en_librivox_austen_0870.wav": 0.80,
    "en_librivox_austen_0880.wav": 0.85,
    "en_jfk_1961_16k.flac": 0.75,
}


@pytest.fixture(scope="module")
def listener() -> Listener:
    return Listener()


@pytest.fixture(scope="module")
def robot():
    """A German sentence with exact times, at 16 kHz."""
    engine = EspeakEngine()
    clip = engine.speak(
        "Am Montag bringt Mama wieder viele bunte Blumen mit nach Hause.", "espeak:de", "de", 1.0
    )
    engine.unload()
    return clip, soxr.resample(clip.samples, clip.sample_rate_hz, RATE)


def seconds(count: float) -> np.ndarray:
    return np.arange(int(count * RATE)) / RATE


def noise(count: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=int(count * RATE))


NO_SPEECH = {
    "digital silence": np.zeros(4 * RATE),
    "dither": noise(4) * 3e-5,
    "white noise": noise(4) * 0.1,
    "faint noise": noise(4) * 0.001,
    "brown noise": np.cumsum(noise(4)) * 0.002,
    "tone": 0.3 * np.sin(2 * np.pi * 440 * seconds(4)),
    "hum": 0.2 * np.sin(2 * np.pi * 50 * seconds(4)) + 0.1 * np.sin(2 * np.pi * 150 * seconds(4)),
    "beeps": 0.3 * np.sin(2 * np.pi * 1000 * seconds(4)) * (seconds(4) % 1 < 0.3),
    "chord": sum(0.1 * np.sin(2 * np.pi * f * seconds(4)) for f in (220, 277, 330, 440)),
    "beating noise": noise(4) * 0.1 * (1 + np.sin(2 * np.pi * 4 * seconds(4))),
    "clicks": (np.abs(noise(4)) > 3.5) * 0.9,
}


@pytest.mark.parametrize("name", NO_SPEECH)
def test_the_mouth_stays_shut_without_speech(listener, name):
    curves = listener.listen(NO_SPEECH[name].astype(np.float32))
    assert curves.speaking.mean() < 0.05
    assert np.percentile(curves.jaw, 99) < 0.15
    assert curves.close.max() < 0.5


def test_curves_follow_the_true_times_of_a_voice(listener, robot):
    clip, samples = robot
    heard = listener.listen(samples)
    true = curves_from_timings(clip.phonemes, clip.duration_s)
    assert abs(len(heard) - len(true)) <= 1
    shifts = range(-4, 5)
    agreement = [agreement_at(heard, true, shift) for shift in shifts]
    assert shifts[int(np.argmax(agreement))] == 0
    assert max(agreement) > 0.9


def agreement_at(heard: MouthCurves, true: MouthCurves, shift: int) -> float:
    """Correlation of the jaws when the heard one is moved by `shift` samples."""
    moved = np.roll(heard.jaw, -shift)
    inner = slice(5, min(len(heard), len(true)) - 5)
    return float(np.corrcoef(moved[inner], true.jaw[inner])[0, 1])


def test_lips_close_on_nearly_every_p_b_and_m(listener, robot):
    clip, samples = robot
    close = listener.listen(samples).close
    times = bilabial_times(clip.phonemes)
    shut = [close[max(0, round(t * 50) - 1) : round(t * 50) + 2].max() > 0.7 for t in times]
    assert len(times) >= 8
    assert np.mean(shut) >= 0.8


def recorded(listener, name):
    """What is heard in a recording, its true curves, and when its lips are shut."""
    path = SPEECH / name
    known = json.loads(path.with_suffix(".alignment.json").read_text(encoding="utf-8"))
    phonemes = [TimedPhoneme(*phoneme) for phoneme in known["phonemes"]]
    heard = listener.listen_wav(path)
    return heard, curves_from_timings(phonemes, len(heard) / 50), bilabial_times(phonemes)


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recorded_person_is_followed(listener, name):
    heard, true, _ = recorded(listener, name)
    assert agreement_at(heard, true, 0) > RECORDINGS[name]
    assert agreement_at(heard, true, 0) > agreement_at(heard, true, 2)
    assert agreement_at(heard, true, 0) > agreement_at(heard, true, -2)


def test_lips_draw_together_on_most_p_b_and_m_of_recorded_people(listener):
    drawn = []
    for name in RECORDINGS:
        heard, _, times = recorded(listener, name)
        near = [heard.close[max(0, round(t * 50) - 2) : round(t * 50) + 3].max() for t in times]
        drawn += [value > 0.3 for value in near]
    assert len(drawn) >= 10
    assert np.mean(drawn) > 0.6


@pytest.mark.parametrize("gain_db", [-40, -20, 6])
def test_level_does_not_change_the_motion(listener, speech_16k, gain_db):
    plain = listener.listen(speech_16k)
    other = listener.listen((speech_16k * 10 ** (gain_db / 20)).astype(np.float32))
    assert np.corrcoef(plain.jaw, other.jaw)[0, 1] > (0.98 if gain_db > -40 else 0.97)


@pytest.mark.parametrize(
    "damage",
    [
        lambda x: x + 0.2,
        lambda x: np.clip(x * 6, -0.5, 0.5),
        lambda x: np.round(x * 127) / 127,
        lambda x: x + noise(len(x) / RATE, 3)[: len(x)] * x.std() * 0.1,
    ],
    ids=["offset", "clipped", "8 bits", "noise at 20 dB"],
)
def test_damage_does_little(listener, speech_16k, damage):
    plain = listener.listen(speech_16k)
    other = listener.listen(damage(speech_16k).astype(np.float32))
    assert np.corrcoef(plain.jaw, other.jaw)[0, 1] > 0.85


def test_silence_before_and_after_speech_is_silent(listener, speech_16k):
    padded = np.concatenate([np.zeros(2 * RATE), speech_16k, np.zeros(2 * RATE)])
    curves = listener.listen(padded.astype(np.float32))
    assert curves.jaw[:90].max() < 0.05
    assert curves.jaw[-90:].max() < 0.05
    assert curves.speaking[110:-110].mean() > 0.6


def test_a_long_file_in_pieces_is_the_same_as_the_whole(
    listener, speech_16k, tmp_path, monkeypatch
):
    long = np.concatenate([speech_16k] * 12)
    path = tmp_path / "long.wav"
    soundfile.write(path, long, RATE, subtype="FLOAT")
    whole = listener.listen(long)
    monkeypatch.setattr(from_audio, "PIECE_S", 7)
    pieces = listener.listen_wav(path)
    np.testing.assert_allclose(pieces.posteriors, whole.posteriors, atol=2e-3)
    np.testing.assert_allclose(pieces.jaw, whole.jaw, atol=2e-3)
    np.testing.assert_allclose(pieces.close, whole.close, atol=2e-2)


def test_a_stereo_file_at_another_rate_is_read(listener, speech_16k, tmp_path):
    path = tmp_path / "cd.wav"
    high = soxr.resample(speech_16k, RATE, 44_100)
    soundfile.write(path, np.stack([high, high], axis=1), 44_100)
    plain, other = listener.listen(speech_16k), listener.listen_wav(path)
    assert abs(len(plain) - len(other)) <= 1
    count = min(len(plain), len(other))
    assert np.corrcoef(plain.jaw[:count], other.jaw[:count])[0, 1] > 0.97


@pytest.mark.parametrize("count", [0, 1, 100, 1_600])
def test_very_short_sound_gives_a_shut_mouth(listener, count):
    curves = listener.listen(np.zeros(count, np.float32))
    assert len(curves) == count // 320 + 1
    assert curves.jaw.max() < 0.05


def test_numbers_that_are_none_are_survived(listener, speech_16k):
    broken = speech_16k.copy()
    broken[1000:1100] = np.nan
    broken[2000] = np.inf
    curves = listener.listen(broken)
    assert np.isfinite(curves.jaw).all()


def test_the_judge_is_another_net_that_agrees(listener, speech_16k):
    judge = Listener(from_audio.LIPSYNC_MODEL.with_name("judge.onnx"))
    ours, theirs = listener.listen(speech_16k), judge.listen(speech_16k)
    assert not np.array_equal(ours.jaw, theirs.jaw)
    assert np.corrcoef(ours.jaw, theirs.jaw)[0, 1] > 0.9


def test_four_minutes_take_no_more_memory_than_one(listener, speech_16k, tmp_path):
    """But for the curves themselves: 5 kB a second, a few times over."""
    path, peaks = tmp_path / "sound.wav", []
    for minutes in (1, 4):
        times = int(np.ceil(minutes * 60 * RATE / len(speech_16k)))
        soundfile.write(path, np.concatenate([speech_16k] * times), RATE)
        tracemalloc.start()
        listener.listen_wav(path)
        loudness_of_wav(path)
        peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 4
