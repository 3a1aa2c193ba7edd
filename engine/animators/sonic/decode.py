"""Latents to pictures, one chunk of keyframes at a time."""

from collections.abc import Iterator

import torch
from diffusers import AutoencoderKLTemporalDecoder

from engine.animators.sonic.decoder import decode_in_groups
from engine.animators.sonic.memory import GroupSizes


@torch.inference_mode()
def encode_picture(vae: AutoencoderKLTemporalDecoder, picture: torch.Tensor) -> torch.Tensor:
    """The most likely latent of the photo, unscaled.

    Args:
        vae: encodes and decodes.
        picture: 1 x 3 x H x W, -1..1.

    Returns:
        4 x H/8 x W/8, float32.
    """
    weight = vae.quant_conv.weight
    encoded = vae.encode(picture.to(weight.device, weight.dtype)).latent_dist.mode()
    return encoded[0].float()


def decode_chunks(
    vae: AutoencoderKLTemporalDecoder,
    latents: torch.Tensor,
    chunk: int,
    sizes: GroupSizes | None = None,
) -> Iterator[torch.Tensor]:
    """Decode keyframes in order.

    The layers along time see one chunk only, so that its size is part of the result; the sizes
    of the groups inside a chunk are not.

    Args:
        vae: encodes and decodes, prepared by `decoder.prepare_decoder`.
        latents: F x 4 x h x w, as the denoiser leaves them; may lie on another device.
        chunk: keyframes decoded together.
        sizes: how much of a chunk is worked on at once; None = all of it.

    Yields:
        n x 3 x H x W, float32, about -1..1, not clamped, on the decoder's device.
    """
    for start in range(0, len(latents), chunk):
        yield _decode(vae, latents[start : start + chunk], sizes or GroupSizes())


@torch.inference_mode()
def _decode(
    vae: AutoencoderKLTemporalDecoder, latents: torch.Tensor, sizes: GroupSizes
) -> torch.Tensor:
    weight = vae.quant_conv.weight
    scaled = (latents.to(weight.device) / vae.config.scaling_factor).to(weight.dtype)
    return decode_in_groups(vae, scaled, sizes).float()
