"""Residual blocks in space and along time, of the denoiser and of the decoder.

The modules and their weights are diffusers' `SpatioTemporalResBlock`; this runs them group by
group, with norms, activations, biases and sums done in few passes over the pixels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch.nn import functional

from engine.animators.sonic import layers
from engine.animators.sonic.layers import Affine, Statistics
from engine.animators.sonic.memory import GroupSizes
from engine.animators.sonic.plane import Plane, made_of, place, spans

Module: TypeAlias = Any
"""A part of diffusers' network, whose own parts are reached by their names."""


@dataclass(frozen=True)
class Grouping:
    """How much of a call is worked on at once.

    Attributes:
        frames: images of one row, which belong together along time.
        sizes: of the groups.
        check: called before each group; may raise to stop.
    """

    frames: int
    sizes: GroupSizes
    check: Callable[[], None] = lambda: None

    def images(self, total: int) -> list[slice]:
        """Groups of images, for what looks at space."""
        return list(spans(total, self.sizes.frames))

    def tiles(self, total: int) -> list[slice]:
        """Groups of pixels of all images, for what looks along time."""
        return list(spans(total, self.sizes.pixels))


Enlarge = Callable[[Plane], Plane]


def run_resnet(
    block: Module,
    parts: list[Plane],
    grouping: Grouping,
    *,
    embedding: torch.Tensor | None = None,
    enlarge: Enlarge | None = None,
) -> Plane:
    """One block.

    Args:
        block: diffusers' `SpatioTemporalResBlock`.
        parts: what comes in, channels behind each other; the list is emptied as soon as it is
            used up, so that a caller who keeps nothing else frees the memory.
        grouping: how much is worked on at once.
        embedding: rows x E, what the block is told; None = nothing.
        enlarge: makes the picture larger first, group by group.

    Returns:
        The pictures, measured.
    """
    made = _in_space(block.spatial_res_block, parts, grouping, embedding, enlarge)
    parts.clear()
    return _along_time(block, made, grouping, embedding)


def _told(block: Module, embedding: torch.Tensor | None, frames: int) -> torch.Tensor:
    """What the first convolution adds to every pixel, images x C or 1 x C, float32."""
    bias: torch.Tensor = block.conv1.bias.float()[None]
    if embedding is None:
        return bias
    told = block.time_emb_proj(functional.silu(embedding)).float()
    return (told + bias).repeat_interleave(frames, dim=0)


def _in_space(
    block: Module,
    parts: list[Plane],
    grouping: Grouping,
    embedding: torch.Tensor | None,
    enlarge: Enlarge | None,
) -> Plane:
    told = _told(block, embedding, grouping.frames)
    total = len(parts[0].x)
    told = told.expand(total, -1)
    result: torch.Tensor | None = None
    seen: list[Statistics] = []
    size = parts[0].height, parts[0].width
    for span in grouping.images(total):
        grouping.check()
        group = [_part(part, span) for part in parts]
        if enlarge is not None:
            group = [enlarge(part) for part in group]
        size = group[0].height, group[0].width
        made, measured = _space_group(block, group, told[span])
        del group
        result = place(result, made, span, total)
        seen.append(measured)
    return Plane(made_of(result), *size, Statistics.of_images(seen))


def _part(plane: Plane, span: slice) -> Plane:
    known = plane.known.part(span) if plane.known else None
    return Plane(plane.x[span], plane.height, plane.width, known)


def _space_group(
    block: Module, parts: list[Plane], told: torch.Tensor
) -> tuple[torch.Tensor, Statistics]:
    """Some images, whose channels may come in several parts."""
    height, width = parts[0].height, parts[0].width
    norm = layers.settle(Statistics.of_channels([p.statistics for p in parts]), block.norm1, 1)
    hidden = layers.convolve(block.conv1, _join_normed(parts, norm), height, width)
    norm = layers.settle(layers.statistics(hidden), block.norm2, 1, told)
    hidden = layers.affine(hidden, norm, has_silu=True, out=hidden)
    hidden = layers.convolve(block.conv2, hidden, height, width)
    vector = block.conv2.bias.float()[None]
    if block.conv_shortcut is None:
        kept = parts[0].x
    else:
        kept = _shortcut(block.conv_shortcut, parts)
        vector = vector + block.conv_shortcut.bias.float()
    out, seen = layers.blend(kept, hidden, (1.0, 1.0), vector, out=hidden, is_measured=True)
    return out, _known(seen)


def _join_normed(parts: list[Plane], norm: Affine) -> torch.Tensor:
    """The normed and activated parts, their channels behind each other."""
    first = parts[0].x
    channels = sum(part.channels for part in parts)
    joined = first.new_empty((*first.shape[:2], channels))
    start = 0
    for part in parts:
        span = slice(start, start + part.channels)
        by = norm.part(slice(None), span)
        layers.affine(part.x, by, has_silu=True, out=joined[..., span])
        start = span.stop
    return joined


def _shortcut(conv: torch.nn.Conv2d, parts: list[Plane]) -> torch.Tensor:
    """The product of all channels with the weights of the shortcut, without its bias."""
    weight = conv.weight[:, :, 0, 0]
    first, *more = parts
    start = first.channels
    result = functional.linear(first.x, weight[:, :start])
    for part in more:
        own = weight[:, start : start + part.channels]
        result.flatten(0, 1).addmm_(part.x.flatten(0, 1), own.t())
        start += part.channels
    return result


def _along_time(
    block: Module, plane: Plane, grouping: Grouping, embedding: torch.Tensor | None
) -> Plane:
    """Blend the half along time into the pictures, in place."""
    x, frames = plane.x, grouping.frames
    temporal = block.temporal_res_block
    told = _told(temporal, embedding, frames)
    share = mix_shares(block.time_mixer, x.dtype)[1]
    vector = share * temporal.conv2.bias.float()[None]
    norm = layers.settle(plane.statistics, temporal.norm1, frames)
    hidden: torch.Tensor | None = None
    seen: list[Statistics] = []
    tiles = grouping.tiles(x.shape[1])
    for tile in tiles:
        grouping.check()
        made = layers.affine(x[:, tile], norm, has_silu=True)
        made = layers.convolve_time(temporal.conv1, made, frames)
        seen.append(layers.statistics(made))
        if len(tiles) == 1:
            hidden = made
        else:
            hidden = torch.empty_like(x) if hidden is None else hidden
            hidden[:, tile] = made
    hidden = made_of(hidden)
    told = told.expand(len(x), -1)
    norm = layers.settle(Statistics.of_pixels(seen), temporal.norm2, frames, told)
    known: list[Statistics] = []
    for tile in tiles:
        grouping.check()
        made = layers.affine(hidden[:, tile], norm, has_silu=True)
        made = layers.convolve_time(temporal.conv2, made, frames)
        _, measured = layers.blend(
            x[:, tile], made, (1.0, share), vector, out=x[:, tile], is_measured=True
        )
        known.append(_known(measured))
    return Plane(x, plane.height, plane.width, Statistics.of_pixels(known))


def mix_shares(mixer: Module, dtype: torch.dtype) -> tuple[float, float]:
    """Weights of what space and what time made, rounded as the network's own numbers are.

    Read from the card once for each mixer and then remembered by it.
    """
    known: tuple[float, float] | None = getattr(mixer, "known_shares", None)
    if known is None:
        space = float(torch.sigmoid(mixer.mix_factor.float()).to(dtype))
        known = (1.0 - space, space) if mixer.switch_spatial_to_temporal_mix else (space, 1 - space)
        mixer.known_shares = known
    return known


def _known(seen: Statistics | None) -> Statistics:
    if seen is None:
        raise ValueError("the sum was not measured")
    return seen


def enlarge(sampler: Module, plane: Plane) -> Plane:
    """Double both sides, then diffusers' `Upsample2D`'s convolution."""
    images, height, width = len(plane.x), plane.height, plane.width
    seen = plane.x.view(images, height, 1, width, 1, -1)
    larger = seen.expand(images, height, 2, width, 2, -1).reshape(images, 4 * plane.pixels, -1)
    made = layers.convolve(sampler.conv, larger, 2 * height, 2 * width, has_bias=True)
    return Plane(made, 2 * height, 2 * width)
