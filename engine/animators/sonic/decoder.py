"""The decoder's forward pass in groups, with the numbers of the stock one.

The stock decoder holds several copies of a whole chunk at full size: 16 GB for eight keyframes at
1024 pixels. Here what looks at space takes some keyframes at a time, and an enlarged keyframe is
used up before the next is made; what looks along time treats tiles of pixels.
"""

from functools import partial

import torch
from diffusers import AutoencoderKLTemporalDecoder

from engine.animators.sonic import layers
from engine.animators.sonic.memory import GroupSizes
from engine.animators.sonic.plane import Plane, made_of, place
from engine.animators.sonic.resnet import Enlarge, Grouping, enlarge, run_resnet


def decode_in_groups(
    vae: AutoencoderKLTemporalDecoder, latents: torch.Tensor, sizes: GroupSizes
) -> torch.Tensor:
    """Decode one chunk of keyframes.

    Args:
        vae: whose decoder is used; its weights are laid out by `prepare_decoder`.
        latents: n x 4 x h x w, already divided by the scaling factor, of the decoder's dtype.
        sizes: how much is worked on at once; no part of the result.

    Returns:
        n x 3 x 8h x 8w, about -1..1.
    """
    net = vae.decoder
    grouping = Grouping(len(latents), sizes)
    plane = Plane.of_pictures(latents)
    made = layers.convolve(net.conv_in, plane.x, plane.height, plane.width, has_bias=True)
    plane = Plane(made, plane.height, plane.width)
    del made
    plane = run_resnet(net.mid_block.resnets[0], [plane], grouping)
    for resnet, attention in zip(net.mid_block.resnets[1:], net.mid_block.attentions, strict=False):
        plane = run_resnet(resnet, [_attended(attention, plane)], grouping)
    growing: Enlarge | None = None
    for block in net.up_blocks:
        for resnet in block.resnets:
            parts = [plane]
            del plane
            plane = run_resnet(resnet, parts, grouping, enlarge=growing)
            growing = None
        growing = partial(enlarge, block.upsamplers[0]) if block.upsamplers else None
    norm = layers.settle(plane.statistics, net.conv_norm_out, 1)
    result: torch.Tensor | None = None
    for span in grouping.images(len(plane.x)):
        part = layers.affine(plane.x[span], norm.part(span), has_silu=True)
        part = layers.convolve(net.conv_out, part, plane.height, plane.width, has_bias=True)
        result = place(result, part, span, len(plane.x))
    made = layers.convolve_time(net.time_conv_out, made_of(result), len(latents))
    made = made + net.time_conv_out.bias
    return Plane(made, plane.height, plane.width).pictures()


def prepare_decoder(vae: AutoencoderKLTemporalDecoder) -> None:
    """Lay the decoder's weights out for `decode_in_groups`, once they are there."""
    layers.lay_pixelwise(vae.decoder)


def _attended(attention: torch.nn.Module, plane: Plane) -> Plane:
    """The stock attention of one head, one keyframe at a time."""
    parts = [attention(picture[None]) for picture in plane.pictures()]
    return Plane.of_pictures(torch.cat(parts))
