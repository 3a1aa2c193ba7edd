"""What the listening net hears."""

import librosa
import numpy as np
import pytest

from engine.lipsync import features
from engine.lipsync.features import log_mel_features, mel_filters


@pytest.fixture(scope="module")
def speech(speech_16k):
    return speech_16k


def test_filters_are_librosas():
    expected = librosa.filters.mel(sr=16_000, n_fft=512, n_mels=64, fmin=50, fmax=7600)
    np.testing.assert_allclose(mel_filters(), expected, atol=1e-7)


def test_frames_are_centred_on_multiples_of_10_ms():
    click = np.zeros(16_000, np.float32)
    click[8_000] = 1.0
    level = log_mel_features(click, 100)[:, -1]
    heard = np.flatnonzero(level > level.min() + 0.1)
    assert heard.min() + heard.max() == 2 * 50


def test_loudness_and_offset_of_the_recording_do_not_matter(speech):
    plain = log_mel_features(speech, 290)
    other = log_mel_features(speech * 0.05 + 0.2, 290)
    assert np.abs(plain - other).mean() < 0.01


def test_a_piece_with_its_surroundings_gives_the_same_as_the_whole(speech):
    long = np.concatenate([speech] * 10)
    whole = log_mel_features(long, 2_900)
    first, margin, count = 1_200, 900, 300
    begin = (first - margin) * features.HOP_SAMPLES
    piece = log_mel_features(long[begin:], margin * 2 + count)
    np.testing.assert_allclose(
        piece[margin : margin + count], whole[first : first + count], atol=1e-4
    )


def test_silence_and_very_short_sound_give_finite_numbers():
    for samples in (np.zeros(0), np.zeros(16_000), np.ones(3)):
        made = log_mel_features(samples.astype(np.float32), 20)
        assert made.shape == (20, features.NUM_FEATURES)
        assert np.isfinite(made).all()


def test_training_hears_the_same(speech):
    torch = pytest.importorskip("torch")
    from training.lipsync.mel import MelFrontEnd  # noqa: PLC0415 - needs torch

    twin = MelFrontEnd(torch.device("cpu"))(torch.from_numpy(speech)[None], 290)[0]
    np.testing.assert_allclose(twin.numpy(), log_mel_features(speech, 290), atol=1e-3)
