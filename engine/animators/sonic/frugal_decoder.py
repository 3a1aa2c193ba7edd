"""The decoder's forward pass in little memory, with the numbers of the stock one.

The stock decoder holds several copies of a whole chunk at full size: 16 GB for eight keyframes at
1024 pixels. Its modules allow less. What looks at space takes one keyframe at a time, and an
enlarged keyframe is used up before the next is made. What looks along time treats every pixel
on its own, but for the statistics of its two group norms; those are gathered in passes over
tiles of pixels, so that the result can be written over the input.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from diffusers import AutoencoderKLTemporalDecoder
from torch import nn
from torch.nn import functional

Module: TypeAlias = Any
"""A part of diffusers' network, whose own parts are reached by their names."""

Layer = Callable[[torch.Tensor], torch.Tensor]

TILE_PIXELS = 65_536
"""Pixels of all keyframes worked on at once along time: 128 MB for 128 channels of eight
keyframes in float16."""


def decode_frugally(vae: AutoencoderKLTemporalDecoder, latents: torch.Tensor) -> torch.Tensor:
    """Decode one chunk of keyframes.

    Args:
        vae: whose decoder is used.
        latents: n x 4 x h x w, already divided by the scaling factor, of the decoder's dtype.

    Returns:
        n x 3 x 8h x 8w, about -1..1.
    """
    net = vae.decoder
    x = _one_by_one(net.conv_in, latents)
    x = _through(net.mid_block.resnets[0], x)
    for resnet, attention in zip(net.mid_block.resnets[1:], net.mid_block.attentions, strict=False):
        x = _through(resnet, _one_by_one(attention, x))
    enlarge: Layer | None = None
    for block in net.up_blocks:
        for resnet in block.resnets:
            x = _through(resnet, x, enlarge)
            enlarge = None
        enlarge = block.upsamplers[0] if block.upsamplers else None
    x = _one_by_one(lambda part: net.conv_out(net.conv_act(net.conv_norm_out(part))), x)
    return net.time_conv_out(x.transpose(0, 1)[None])[0].transpose(0, 1)


def _one_by_one(layer: Layer, x: torch.Tensor) -> torch.Tensor:
    """Run a layer on one keyframe after another; writes over `x` where the shape stays."""
    first = layer(x[:1])
    result = x if first.shape[1:] == x.shape[1:] else x.new_empty((len(x), *first.shape[1:]))
    result[:1] = first
    for index in range(1, len(x)):
        result[index : index + 1] = layer(x[index : index + 1])
    return result


def _through(block: Module, x: torch.Tensor, enlarge: Layer | None = None) -> torch.Tensor:
    """A block of the decoder, after enlarging where one is pending."""

    def in_space(part: torch.Tensor) -> torch.Tensor:
        return block.spatial_res_block(part if enlarge is None else enlarge(part), None)

    return _along_time(block.temporal_res_block, block.time_mixer, _one_by_one(in_space, x))


def _along_time(block: Module, mixer: Module, x: torch.Tensor) -> torch.Tensor:
    """Blend the half along time into `x` (n x C x H x W) in place."""
    pixels = x.flatten(2)
    tiles = [pixels[:, :, tile] for tile in _tiles(pixels.shape[2])]
    first = _GroupNorm(block.norm1)
    for tile in tiles:
        first.see(tile)
    second = _GroupNorm(block.norm2)
    for tile in tiles:
        second.see(_conv(block.conv1, first.normed(tile)))
    for tile in tiles:
        moved = _conv(block.conv1, first.normed(tile))
        moved = tile + _conv(block.conv2, second.normed(moved))
        tile.copy_(mixer(x_spatial=tile, x_temporal=moved))
    return x


def _tiles(num_pixels: int) -> list[slice]:
    return [slice(start, start + TILE_PIXELS) for start in range(0, num_pixels, TILE_PIXELS)]


def _conv(conv: nn.Conv3d, x: torch.Tensor) -> torch.Tensor:
    """A convolution along time alone: n x C x pixels to the same."""
    clip = x.transpose(0, 1)[None, ..., None]
    return conv(clip)[0, ..., 0].transpose(0, 1)


class _GroupNorm:
    """A group norm over a whole chunk that is only ever seen in tiles, followed by SiLU."""

    def __init__(self, norm: nn.GroupNorm) -> None:
        self._norm = norm
        self._sums: list[torch.Tensor] = []
        self._count = 0
        self._affine: tuple[torch.Tensor, torch.Tensor] | None = None

    def see(self, tile: torch.Tensor) -> None:
        """Take n x C x pixels into the statistics."""
        groups = tile.float().unflatten(1, (self._norm.num_groups, -1))
        self._sums.append(
            torch.stack([groups.sum(dim=(0, 2, 3)), groups.square().sum(dim=(0, 2, 3))])
        )
        self._count += groups[:, 0].numel()

    def normed(self, tile: torch.Tensor) -> torch.Tensor:
        """The normed and activated tile, once everything was seen."""
        if self._affine is None:
            self._affine = self._settle()
        scale, shift = self._affine
        return functional.silu((tile.float() * scale + shift).to(tile.dtype))

    def _settle(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Factor and summand of every channel, C x 1, float32."""
        # In double precision on the CPU, which every machine has.
        total, squares = torch.stack(self._sums).cpu().double().sum(dim=0)
        mean = total / self._count
        spread = (squares / self._count - mean.square()).clamp_min(0) + self._norm.eps
        channels = self._norm.num_channels // self._norm.num_groups
        weight, bias = self._norm.weight, self._norm.bias
        rate = spread.rsqrt().repeat_interleave(channels).to(weight.device, torch.float32)
        centre = mean.repeat_interleave(channels).to(weight.device, torch.float32)
        scale = weight.float() * rate
        return scale[:, None], (bias.float() - centre * scale)[:, None]
