"""The features of `engine.lipsync.features` in torch, for a batch; a test holds them together."""

import torch
from torch.nn import functional

from engine.lipsync import features as spec

STRETCHES = tuple(0.86 + 0.02 * k for k in range(16))


class MelFrontEnd:
    """B x L waveforms at 16 kHz -> B x F x 65 features.

    For training the frequency axis may be stretched by one of `STRETCHES` an item, as if the
    speaker's mouth and throat were longer or shorter.
    """

    def __init__(self, device: torch.device) -> None:
        self.filters = torch.from_numpy(spec.mel_filters()).to(device).T.contiguous()
        self.stretched = torch.stack([stretch(self.filters, factor) for factor in STRETCHES])
        self.window = torch.from_numpy(spec.window()).to(device)

    def __call__(
        self, samples: torch.Tensor, num_frames: int, which: torch.Tensor | None = None
    ) -> torch.Tensor:
        half = spec.WINDOW_SAMPLES // 2
        needed = (num_frames - 1) * spec.HOP_SAMPLES + half
        more = max(0, needed - samples.shape[1])
        padded = functional.pad(samples[:, None], (half, more), mode="replicate")[:, 0]
        frames = padded.unfold(1, spec.WINDOW_SAMPLES, spec.HOP_SAMPLES)[:, :num_frames]
        frames = (frames - frames.mean(2, keepdim=True)) * self.window
        power = torch.fft.rfft(frames, spec.FFT_SIZE).abs().square()
        filters = self.filters if which is None else self.stretched[which]
        return normalised(torch.log(power @ filters + spec.FLOOR))


def stretch(filters: torch.Tensor, factor: float) -> torch.Tensor:
    """Filters (bins x bands) that read the spectrum at `factor` times the frequency."""
    bins = filters.shape[0]
    place = torch.arange(bins, device=filters.device) / factor
    low = place.floor().long().clamp(max=bins - 2)
    share = (place - low).clamp(0.0, 1.0)[:, None]
    read = filters[low] * (1 - share) + filters[low + 1] * share
    read = read * (place <= bins - 1)[:, None]
    # Bands that lie beyond the end of the spectrum keep a little of their neighbours.
    empty = read.sum(0) < 1e-6
    read[:, empty] = filters[:, empty]
    return read / factor


def normalised(log_mels: torch.Tensor) -> torch.Tensor:
    """Twin of `engine.lipsync.features.normalise` for B x T x 64."""
    radius = int(spec.CONTEXT_S * spec.FRAME_RATE_HZ)
    level = log_mels[..., spec.FIRST_LEVEL_BAND :].exp().mean(-1).log()
    loudest = functional.max_pool1d(level[:, None], 2 * radius + 1, 1, radius)[:, 0]
    depth = torch.clamp_min(level - loudest, -spec.DEPTH)
    bands = torch.maximum(log_mels, (loudest - spec.DEPTH)[..., None])
    weight = torch.sigmoid((depth + spec.SPEECH_DEPTH) / spec.SPEECH_SLOPE) + 1e-3
    mean = running_sum(bands * weight[..., None], radius) / running_sum(weight[..., None], radius)
    return torch.cat([bands - mean, depth[..., None]], dim=-1) / spec.SCALE


def running_sum(values: torch.Tensor, radius: int) -> torch.Tensor:
    """Sum over 2 radius + 1 rows around each of B x T x C."""
    count = values.shape[1]
    total = functional.pad(torch.cumsum(values.double(), dim=1), (0, 0, 1, 0))
    index = torch.arange(count, device=values.device)
    upper, lower = (index + radius + 1).clamp_max(count), (index - radius).clamp_min(0)
    return (total[:, upper] - total[:, lower]).float()
