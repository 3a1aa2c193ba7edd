"""What the listening net hears: 64 log-mel bands and a level, 100 frames a second.

Owns the numbers that training and product must share. Every value depends on no more than
`CONTEXT_S` seconds around its frame, so a long file can be read in pieces that join exactly.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.fft import rfft
from scipy.ndimage import maximum_filter1d

SAMPLE_RATE_HZ = 16_000
FRAME_RATE_HZ = 100
HOP_SAMPLES = SAMPLE_RATE_HZ // FRAME_RATE_HZ
WINDOW_SAMPLES = 400  # 25 ms
FFT_SIZE = 512
NUM_MELS = 64
MEL_RANGE_HZ = (50.0, 7600.0)
NUM_FEATURES = NUM_MELS + 1

# Bands and level are seen against the loud frames within this many seconds on either side.
CONTEXT_S = 4.0

# The quietest that counts under the local maximum (14 nepers of power = 61 dB, under any room's
# noise), and the absolute floor that digital silence gets.
DEPTH = 14.0
FLOOR = 1e-12

# Frames within about 35 dB of the local maximum shape the mean; quieter ones are mostly noise.
SPEECH_DEPTH = 8.0
SPEECH_SLOPE = 1.5
SCALE = 3.0

# The level leaves the lowest bands out: hum and rumble live there, speech does not.
FIRST_LEVEL_BAND = 4

# Frames turned into bands at once: ten seconds need about 5 MB.
_BLOCK_FRAMES = 1_000


def log_mel_features(samples_16k: NDArray[np.float32], num_frames: int) -> NDArray[np.float32]:
    """Bands and level of a clip, frame k centred at k / 100 s.

    Args:
        samples_16k: mono, -1..1, 16 kHz.
        num_frames: frames wanted; the clip is cut, or its last sample held, to fit.

    Returns:
        num_frames x 65, float32: 64 normalised log-mel bands, then the level.
    """
    mels = np.empty((num_frames, NUM_MELS), np.float32)
    for first in range(0, num_frames, _BLOCK_FRAMES):
        last = min(first + _BLOCK_FRAMES, num_frames)
        mels[first:last] = _log_mels(samples_16k, first, last)
    return normalise(mels)


def normalise(log_mels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Take the loudness and colour of voice, room and microphone out of log-mel bands.

    Args:
        log_mels: T x 64, natural log of power.

    Returns:
        T x 65, float32: bands minus the mean of the loud frames around, and the level under the
        local maximum; both divided by 3.
    """
    radius = int(CONTEXT_S * FRAME_RATE_HZ)
    level = np.log(np.exp(log_mels[:, FIRST_LEVEL_BAND:]).mean(axis=1))
    loudest = maximum_filter1d(level, 2 * radius + 1, mode="nearest")
    depth = np.maximum(level - loudest, -DEPTH)
    bands = np.maximum(log_mels, (loudest - DEPTH)[:, None])
    weight = 1.0 / (1.0 + np.exp(-(depth + SPEECH_DEPTH) / SPEECH_SLOPE)) + 1e-3
    mean = _running_sum(bands * weight[:, None], radius) / _running_sum(weight[:, None], radius)
    return np.concatenate([(bands - mean) / SCALE, depth[:, None] / SCALE], axis=1).astype(
        np.float32
    )


def mel_filters() -> NDArray[np.float32]:
    """Triangular Slaney filters with equal area, 64 x 257 (as librosa.filters.mel builds them)."""
    bins_hz = np.fft.rfftfreq(FFT_SIZE, 1.0 / SAMPLE_RATE_HZ)
    low, high = _mel_of_hz(np.array(MEL_RANGE_HZ))
    edges_hz = _hz_of_mel(np.linspace(low, high, NUM_MELS + 2))
    left, centre, right = edges_hz[:-2, None], edges_hz[1:-1, None], edges_hz[2:, None]
    rising = (bins_hz - left) / (centre - left)
    falling = (right - bins_hz) / (right - centre)
    filters = np.maximum(0.0, np.minimum(rising, falling)) * 2.0 / (right - left)
    return filters.astype(np.float32)


def window() -> NDArray[np.float32]:
    """Periodic Hann window of 25 ms."""
    phase = 2.0 * np.pi * np.arange(WINDOW_SAMPLES) / WINDOW_SAMPLES
    return np.asarray(0.5 - 0.5 * np.cos(phase), np.float32)


def _log_mels(samples: NDArray[np.float32], first: int, last: int) -> NDArray[np.float32]:
    """Log-mel bands of frames `first` to `last`; beyond its ends the clip holds its value.

    Holding instead of zeros keeps a constant offset from looking like a click.
    """
    start = first * HOP_SAMPLES - WINDOW_SAMPLES // 2
    stop = (last - 1) * HOP_SAMPLES + WINDOW_SAMPLES // 2
    if len(samples) == 0:
        piece = np.zeros(stop - start, np.float32)
    else:
        begin, end = min(max(start, 0), len(samples) - 1), max(1, min(stop, len(samples)))
        held = (max(0, begin - start), max(0, stop - max(end, start)))
        piece = np.pad(samples[begin:end], held, mode="edge")[: stop - start]
    frames = np.lib.stride_tricks.sliding_window_view(piece, WINDOW_SAMPLES)[::HOP_SAMPLES]
    centred = frames - frames.mean(axis=1, keepdims=True)
    # Five times as fast as numpy's for many short rows.
    spectrum = rfft(centred * window(), FFT_SIZE, axis=1)
    power = spectrum.real**2 + spectrum.imag**2
    return np.asarray(np.log(power @ mel_filters().T + FLOOR), np.float32)


def _running_sum(values: NDArray[np.float32], radius: int) -> NDArray[np.float32]:
    """Sum over 2 radius + 1 rows around each row of T x C, fewer at the ends."""
    count = len(values)
    total = np.zeros((count + 1, values.shape[1]), np.float64)
    np.cumsum(values, axis=0, dtype=np.float64, out=total[1:])
    index = np.arange(count)
    summed = total[np.minimum(index + radius + 1, count)] - total[np.maximum(index - radius, 0)]
    return summed.astype(np.float32)


def _mel_of_hz(hz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slaney's scale: linear up to 1 kHz (15 mels), then 27 mels for a factor of 6.4."""
    return np.where(
        hz < 1000.0, hz * 0.015, 15.0 + 27.0 * np.log(np.maximum(hz, 1.0) / 1000.0) / np.log(6.4)
    )


def _hz_of_mel(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inverse of `_mel_of_hz`."""
    return np.where(mel < 15.0, mel / 0.015, 1000.0 * np.exp((mel - 15.0) * np.log(6.4) / 27.0))
