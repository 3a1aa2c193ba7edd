"""Every number a Sonic run depends on. Pure data, no torch."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from engine.animators.sonic.schedule import WindowPlan

KEYFRAME_FPS = Fraction(25, 2)
"""Rate of the frames that are denoised; frames between them are interpolated."""

GRID_PX = 64
"""Sides of the picture are multiples of this: 8 by the autoencoder, 8 by the network."""


@dataclass(frozen=True)
class SonicOptions:
    """The choices of one run; the defaults are the published ones.

    Attributes:
        num_inference_steps: denoising steps.
        windows: how frames are dealt to calls of the network.
        appearance_guidance: weight of the picture against nothing.
        audio_guidance: weight of the speech against the picture alone.
        audio_scale: strength of the attention to the speech.
        dynamic_scale: factor on both motion buckets, 0.5-2.
        motion_scale: factor on the first motion bucket alone; 1 = published behaviour.
        decode_chunk: keyframes decoded together; fewer need less memory and change the result.
        longest_piece: keyframes denoised as one clip; longer speech is cut in pauses.
        smoothing: strength of the filter along time outside of the face; 0 = off, as published.
        dtype: what the large networks compute in; `auto` = half precision on a card.
        seed: of the noise, drawn on the CPU so that every machine draws the same.
    """

    num_inference_steps: int = 25
    windows: WindowPlan = field(default_factory=WindowPlan)
    appearance_guidance: float = 2.0
    audio_guidance: float = 7.5
    audio_scale: float = 1.0
    dynamic_scale: float = 1.0
    motion_scale: float = 1.0
    decode_chunk: int = 8
    longest_piece: int = 375
    smoothing: float = 0.0
    dtype: Literal["auto", "bf16", "fp16", "fp32"] = "auto"
    seed: int = 72589

    @property
    def bucket_scales(self) -> tuple[float, float]:
        """Factors on the two motion buckets."""
        return self.dynamic_scale * self.motion_scale, self.dynamic_scale
