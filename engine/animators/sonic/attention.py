"""Cross-attention to speech: what every `attn2` of the network computes instead of its own.

The networks are diffusers' own; only the processors of their cross-attention are ours. A
processor's module names are those of the public weights (`to_k_ip.0`, `to_v_ip.0`), so that
these load strictly. All processors of one network read one `ContextSlot`, which is filled for the
time of one call.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from diffusers import UNetSpatioTemporalConditionModel
from diffusers.models.attention_processor import Attention
from torch import nn
from torch.nn import functional


@dataclass(frozen=True)
class MaskLevel:
    """The face mask at one size of the network.

    Attributes:
        height: rows of this level.
        width: columns of this level.
        rows: the rows in which the mask is not zero.
        columns: the columns in which the mask is not zero.
        weights: 1 x (rows * columns) x 1: the mask inside that box.
    """

    height: int
    width: int
    rows: slice
    columns: slice
    weights: torch.Tensor

    @property
    def is_empty(self) -> bool:
        """Whether the mask is zero everywhere at this size."""
        return self.weights.numel() == 0

    @property
    def covers_all(self) -> bool:
        """Whether the box is the whole picture."""
        return self.weights.shape[1] == self.height * self.width


def reduce_mask(mask: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """Bicubic reduction without antialiasing and without clamping, as the weights expect it.

    Args:
        mask: 1 x 1 x H x W, float32, 0..1.
        height: wanted rows.
        width: wanted columns.

    Returns:
        height x width, float32; overshoots a little below 0 and above 1.
    """
    size = (height, width)
    return functional.interpolate(mask, size, mode="bicubic", align_corners=False)[0, 0]


def mask_levels(
    mask: torch.Tensor, num_levels: int, device: torch.device, dtype: torch.dtype
) -> dict[int, MaskLevel]:
    """The mask at every size of the network, by number of pixels.

    Args:
        mask: 1 x 1 x H x W, float32, on the CPU; sides are multiples of 8 * 2 ** (levels - 1).
        num_levels: sizes of the network: H/8, H/16, ...
        device: where the network runs.
        dtype: what it computes in.
    """
    levels: dict[int, MaskLevel] = {}
    for k in range(num_levels):
        height, width = mask.shape[2] // (8 << k), mask.shape[3] // (8 << k)
        reduced = reduce_mask(mask, height, width)
        rows = _span(reduced.abs().amax(dim=1))
        columns = _span(reduced.abs().amax(dim=0))
        weights = reduced[rows, columns].reshape(1, -1, 1).to(device, dtype)
        levels[height * width] = MaskLevel(height, width, rows, columns, weights)
    return levels


def _span(strength: torch.Tensor) -> slice:
    used = strength.nonzero().flatten()
    return slice(int(used[0]), int(used[-1]) + 1) if len(used) else slice(0, 0)


@dataclass(frozen=True)
class AudioContext:
    """What the frames of one call look at.

    Attributes:
        image_tokens: rows x frames x D: the CLIP embedding, zero in the unconditional row.
        audio_tokens: rows x frames x tokens x D.
        masks: the face mask by number of pixels.
        scale: strength of the attention to the speech.
    """

    image_tokens: torch.Tensor
    audio_tokens: torch.Tensor
    masks: Mapping[int, MaskLevel]
    scale: float = 1.0

    @cached_property
    def image_frames(self) -> torch.Tensor:
        """(rows * frames) x 1 x D: the token of every frame."""
        return self.image_tokens.flatten(0, 1).unsqueeze(1)

    @cached_property
    def audio_frames(self) -> torch.Tensor:
        """(rows * frames) x tokens x D: the tokens of every frame."""
        return self.audio_tokens.flatten(0, 1)

    @cached_property
    def image_mean(self) -> torch.Tensor:
        """Rows x 1 x D: mean over the frames, for attention along time."""
        return self.image_tokens.mean(dim=1, keepdim=True)

    @cached_property
    def audio_mean(self) -> torch.Tensor:
        """Rows x tokens x D: mean over the frames, for attention along time."""
        return self.audio_tokens.mean(dim=1)

    def rows(self, span: slice) -> "AudioContext":
        """The same for some of the guidance rows."""
        return replace(
            self, image_tokens=self.image_tokens[span], audio_tokens=self.audio_tokens[span]
        )


class ContextSlot:
    """Where the processors of one network find the context of the running call."""

    def __init__(self) -> None:
        self._context: AudioContext | None = None
        self.span = slice(None)
        """Which of the (rows * frames) pictures the running spatial block works on."""

    @contextmanager
    def filled(self, context: AudioContext) -> Iterator[None]:
        """Give `context` to the processors; one call of the network at a time."""
        if self._context is not None:
            raise RuntimeError("the network is already running another call")
        self._context = context
        try:
            yield
        finally:
            self._context = None
            self.span = slice(None)

    @property
    def context(self) -> AudioContext:
        """The context of the running call."""
        if self._context is None:
            raise RuntimeError("cross-attention needs a context")
        return self._context


class AudioAttention(nn.Module):
    """Keys and values of the speech for one cross-attention layer.

    Args:
        attn: the layer.
        slot: where the context of the running call is found.
    """

    def __init__(self, attn: Attention, slot: ContextSlot) -> None:
        super().__init__()
        self._slot = slot
        token_width, channels = attn.to_k.in_features, attn.to_k.out_features
        self.to_k_ip = nn.ModuleList([nn.Linear(token_width, channels, bias=False)])
        self.to_v_ip = nn.ModuleList([nn.Linear(token_width, channels, bias=False)])

    def _look(self, attn: Attention, x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Attention of `x` (B x queries x C) to speech `tokens` (B x tokens x D)."""
        query = _heads(attn.to_q(x), attn.heads)
        key = _heads(self.to_k_ip[0](tokens), attn.heads)
        value = _heads(self.to_v_ip[0](tokens), attn.heads)
        looked = functional.scaled_dot_product_attention(query, key, value)
        return looked.transpose(1, 2).flatten(2)


def _heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    """B x n x C to B x heads x n x (C / heads)."""
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def _project(attn: Attention, x: torch.Tensor) -> torch.Tensor:
    return attn.to_out[1](attn.to_out[0](x))


class SpatialAudioAttention(AudioAttention):
    """Every pixel looks at the speech of its own frame, as strongly as the face mask says.

    A softmax over the single CLIP token is 1, so that part is the token's value whatever the
    query is; outside the mask's box the whole layer is therefore one constant a frame.
    """

    def forward(
        self,
        attn: Attention,
        hidden_states: torch.Tensor,
        encoder_hidden_states: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """(frames) x pixels x C to the same shape."""
        context, span = self._slot.context, self._slot.span
        level = context.masks[hidden_states.shape[1]]
        image = attn.to_v(context.image_frames[span])
        frames, pixels, channels = hidden_states.shape
        if level.is_empty:
            return _project(attn, image).expand(frames, pixels, channels)
        plane = hidden_states.unflatten(1, (level.height, level.width))
        inside = plane[:, level.rows, level.columns].flatten(1, 2)
        looked = self._look(attn, inside, context.audio_frames[span])
        looked = _project(attn, image + context.scale * level.weights * looked)
        if level.covers_all:
            return looked
        result = _project(attn, image).unsqueeze(1).repeat(1, level.height, level.width, 1)
        box = result[:, level.rows, level.columns]
        box.copy_(looked.view(box.shape))
        return result.flatten(1, 2)


class TemporalAudioAttention(AudioAttention):
    """Every pixel, along time, looks at the mean speech of the window; no mask.

    Keys and values are the same for all pixels of a row, so that the pixels and frames of a row
    are one long list of queries.
    """

    def forward(
        self,
        attn: Attention,
        hidden_states: torch.Tensor,
        encoder_hidden_states: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """(rows * pixels) x frames x C to the same shape."""
        context = self._slot.context
        rows = context.audio_mean.shape[0]
        queries = hidden_states.unflatten(0, (rows, -1)).flatten(1, 2)
        looked = self._look(attn, queries, context.audio_mean)
        image = attn.to_v(context.image_mean)
        mixed = _project(attn, image + context.scale * looked)
        return mixed.view(hidden_states.shape)


def install_audio_attention(network: UNetSpatioTemporalConditionModel) -> ContextSlot:
    """Give every cross-attention of a spatio-temporal network its processor.

    Returns:
        The slot to fill around each call.
    """
    slot = ContextSlot()
    processors = dict(network.attn_processors)
    for name in processors:
        if ".attn2." not in name:
            continue
        attn = network.get_submodule(name.removesuffix(".processor"))
        kind = TemporalAudioAttention if ".temporal_" in name else SpatialAudioAttention
        processors[name] = kind(attn, slot)
    network.set_attn_processor(processors)
    return slot
