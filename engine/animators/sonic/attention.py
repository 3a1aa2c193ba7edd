"""Cross-attention to speech: what every `attn2` of the network computes instead of its own.

The networks are diffusers' own; only the processors of their cross-attention are ours. A
processor's module names are those of the public weights (`to_k_ip.0`, `to_v_ip.0`), so that
these load strictly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from diffusers import UNetSpatioTemporalConditionModel
from diffusers.models.attention_processor import Attention
from torch import nn
from torch.nn import functional

from engine.animators.sonic import layers


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


class AudioAttention(nn.Module):
    """Keys and values of the speech for one cross-attention layer.

    A processor's module names are those of the public weights. It is never called by the stock
    forward pass; `engine.animators.sonic.transformer` calls `listen`.

    Args:
        attn: the layer.
    """

    def __init__(self, attn: Attention) -> None:
        super().__init__()
        token_width, channels = attn.to_k.in_features, attn.to_k.out_features
        self.to_k_ip = nn.ModuleList([nn.Linear(token_width, channels, bias=False)])
        self.to_v_ip = nn.ModuleList([nn.Linear(token_width, channels, bias=False)])

    def look(self, attn: Attention, x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Attention of `x` (B x queries x C) to speech `tokens` (B x tokens x D)."""
        query = heads_apart(attn.to_q(x), attn.heads)
        key = heads_apart(self.to_k_ip[0](tokens), attn.heads)
        value = heads_apart(self.to_v_ip[0](tokens), attn.heads)
        looked = functional.scaled_dot_product_attention(query, key, value)
        return looked.transpose(1, 2).flatten(2)


def heads_apart(x: torch.Tensor, heads: int) -> torch.Tensor:
    """B x n x C to B x heads x n x (C / heads)."""
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def seen_photo(attn: Attention, tokens: torch.Tensor) -> torch.Tensor:
    """What the layer adds to every pixel for the photo alone.

    A softmax over the single CLIP token is 1, so that it is the token's value, projected,
    whatever the pixel asks.

    Args:
        attn: the layer.
        tokens: n x 1 x D.

    Returns:
        n x C, float32.
    """
    return attn.to_out[0](attn.to_v(tokens)).float()[:, 0]


class SpatialAudioAttention(AudioAttention):
    """Every pixel looks at the speech of its own frame, as strongly as the face mask says.

    Outside the mask's box the whole layer is one constant a frame.
    """

    def listen(
        self,
        attn: Attention,
        norm: nn.LayerNorm,
        hidden: torch.Tensor,
        vector: torch.Tensor,
        span: slice,
        context: AudioContext,
    ) -> torch.Tensor:
        """Add the speech to the pixels in the box, in place.

        Args:
            attn: the layer.
            norm: before it.
            hidden: frames x pixels x C, contiguous.
            vector: frames x C or 1 x C, still to be added to `hidden`.
            span: which of the call's frames these are.
            context: what they look at.

        Returns:
            frames x C, float32: what is still to be added to every pixel.
        """
        level = context.masks[hidden.shape[1]]
        told = seen_photo(attn, context.image_frames[span])
        if level.is_empty:
            return told
        box = hidden.unflatten(1, (level.height, level.width))[:, level.rows, level.columns]
        inside = layers.layer_norm(box.flatten(1, 2), norm, vector)
        looked = self.look(attn, inside, context.audio_frames[span])
        looked = looked * (context.scale * level.weights)
        box += functional.linear(looked, attn.to_out[0].weight).view(box.shape)
        return told


class TemporalAudioAttention(AudioAttention):
    """Every pixel, along time, looks at the mean speech of the window; no mask.

    Keys and values are the same for all pixels of a row, so that the pixels and frames of a row
    are one long list of queries.
    """

    def listen(
        self,
        attn: Attention,
        norm: nn.LayerNorm,
        hidden: torch.Tensor,
        vector: torch.Tensor,
        context: AudioContext,
    ) -> torch.Tensor:
        """Add the speech to all pixels, in place.

        Args:
            attn: the layer.
            norm: before it.
            hidden: (rows * frames) x pixels x C, contiguous.
            vector: (rows * frames) x C or 1 x C, still to be added to `hidden`.
            context: what they look at.

        Returns:
            (rows * frames) x C, float32: what is still to be added to every pixel.
        """
        rows = len(context.audio_mean)
        queries = layers.layer_norm(hidden, norm, vector).unflatten(0, (rows, -1)).flatten(1, 2)
        looked = self.look(attn, queries, context.audio_mean).flatten(0, 1)
        weight = attn.to_out[0].weight
        if context.scale != 1.0:
            looked = looked * context.scale
        hidden.view(-1, hidden.shape[2]).addmm_(looked, weight.t())
        told = seen_photo(attn, context.image_mean)
        return told.repeat_interleave(len(hidden) // rows, dim=0)


def install_audio_attention(network: UNetSpatioTemporalConditionModel) -> None:
    """Give every cross-attention of a spatio-temporal network its processor."""
    processors = dict(network.attn_processors)
    for name in processors:
        if ".attn2." not in name:
            continue
        attn = network.get_submodule(name.removesuffix(".processor"))
        kind = TemporalAudioAttention if ".temporal_" in name else SpatialAudioAttention
        processors[name] = kind(attn)
    network.set_attn_processor(processors)
