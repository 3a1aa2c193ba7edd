"""Calming what trembles around the face: a short filter along time on the finished latents.

Diffusion draws every keyframe a little anew, which hair, clothes and background show as a
shimmer. Inside the face box nothing changes: lips and lids must stay quick.
"""

import torch

STRENGTH = 0.125
"""Share of each neighbour at strength 1: an eighth from before, an eighth from after."""


def calm(
    latents: torch.Tensor,
    face_mask: torch.Tensor,
    strength: float,
    before: torch.Tensor | None = None,
) -> torch.Tensor:
    """Blend every keyframe with its neighbours, outside of the face.

    Args:
        latents: F x 4 x h x w.
        face_mask: 1 x 1 x H x W, 0..1: where nothing is changed.
        strength: 0 = off, 1 = as tuned, up to 2.
        before: the keyframes before the first, n x 4 x h x w; None = there are none.

    Returns:
        F x 4 x h x w.
    """
    if strength <= 0.0 or len(latents) == 1:
        return latents
    first = latents[:1] if before is None else before[-1:]
    padded = torch.cat([first.to(latents), latents, latents[-1:]])
    around = padded[:-2] + padded[2:] - 2 * latents
    size = latents.shape[2:]
    face = torch.nn.functional.adaptive_max_pool2d(face_mask.to(latents), size)[0]
    return latents + STRENGTH * min(strength, 2.0) * (1 - face) * around
