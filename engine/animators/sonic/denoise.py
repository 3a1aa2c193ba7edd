"""The denoising loop: windows that wander from step to step, three-way guidance, Euler steps."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import torch

from engine.animators.sonic.attention import AudioContext, MaskLevel, mask_levels
from engine.animators.sonic.device import release_memory
from engine.animators.sonic.memory import MODES, Mode, next_smaller
from engine.animators.sonic.options import KEYFRAME_FPS, SonicOptions
from engine.animators.sonic.schedule import NoiseSchedule
from engine.animators.sonic.unet import SonicUNet
from engine.errors import EngineError, ErrorCode

_log = logging.getLogger(__name__)

LATENT_SCALE = 0.18215
NUM_ROWS = 3
"""Guidance rows: nothing, the picture alone, the picture with the speech."""


@dataclass(frozen=True)
class Watch:
    """Who looks on while a clip is denoised.

    Attributes:
        on_call: called after each window of each step.
        check: called between layers; may raise to stop.
    """

    on_call: Callable[[], None] = lambda: None
    check: Callable[[], None] = lambda: None


UNWATCHED = Watch()


@dataclass(frozen=True)
class Conditioning:
    """What a clip is made from.

    Attributes:
        image_latent: 4 x h x w: the photo's latent, unscaled.
        image_embed: 1 x D: CLIP's embedding of the photo.
        audio_tokens: F x tokens x D.
        silent_tokens: tokens x D.
        motion_buckets: F x 2.
        face_mask: 1 x 1 x H x W, float32, 0..1, on the CPU.
    """

    image_latent: torch.Tensor
    image_embed: torch.Tensor
    audio_tokens: torch.Tensor
    silent_tokens: torch.Tensor
    motion_buckets: torch.Tensor
    face_mask: torch.Tensor

    @property
    def num_frames(self) -> int:
        """Keyframes of the clip."""
        return len(self.audio_tokens)


def draw_noise(num_frames: int, height_px: int, width_px: int, seed: int) -> torch.Tensor:
    """The start of the clip: F x 4 x h x w, float32, standard normal.

    Drawn on the CPU, the same for every device. The published program first draws noise of the
    picture's size (for an augmentation whose strength is 0); so does this, to stay in step.
    """
    generator = torch.Generator("cpu").manual_seed(seed)
    torch.randn((1, 3, height_px, width_px), generator=generator)
    return torch.randn((num_frames, 4, height_px // 8, width_px // 8), generator=generator)


def noised_start(image_latent: torch.Tensor, noise: torch.Tensor, sigma: float) -> torch.Tensor:
    """The photo's latent in every frame under noise of strength `sigma`: F x 4 x h x w."""
    return image_latent.to(noise) * LATENT_SCALE + noise * sigma


@dataclass(frozen=True)
class Lead:
    """Finished keyframes at the start of a clip, from which the rest of it goes on.

    Attributes:
        latents: n x 4 x h x w, finished.
        noise: the same shape: the noise that is put on them at every step.
    """

    latents: torch.Tensor
    noise: torch.Tensor

    def put(self, clip: torch.Tensor, sigma: float) -> torch.Tensor:
        """The clip with these keyframes, under noise of strength `sigma`, at its start."""
        return torch.cat([self.latents + self.noise * sigma, clip[len(self.latents) :]])


def euler_step(
    latents: torch.Tensor, velocity: torch.Tensor, sigma: float, sigma_next: float
) -> torch.Tensor:
    """One step of the flow from `sigma` to `sigma_next`, both tensors in float32."""
    variance = sigma**2 + 1
    clean = velocity * (-sigma / variance**0.5) + latents / variance
    return latents + (latents - clean) / sigma * (sigma_next - sigma)


class Denoiser:
    """Denoises one clip.

    Args:
        unet: the network.
        conditioning: what the clip is made from.
        options: the numbers of the run.
        mode: how to work; when memory runs out, the next smaller one goes on from the same
            step, without a difference in the frames.
    """

    def __init__(
        self,
        unet: SonicUNet,
        conditioning: Conditioning,
        options: SonicOptions,
        mode: Mode = MODES[0],
    ) -> None:
        self._unet = unet
        self._given = conditioning
        self._options = options
        self.mode = mode
        self._device, self._dtype = unet.device, unet.dtype
        self._masks: dict[int, MaskLevel] = mask_levels(
            conditioning.face_mask, unet.num_levels, self._device, self._dtype
        )
        scales = torch.tensor(options.bucket_scales)
        self._buckets = conditioning.motion_buckets.float().cpu() * scales

    def run(
        self,
        latents: torch.Tensor,
        schedule: NoiseSchedule,
        watch: Watch = UNWATCHED,
        lead: Lead | None = None,
    ) -> torch.Tensor:
        """Take the noise out of every frame.

        Args:
            latents: F x 4 x h x w, float32, from `noised_start`; stays on its device.
            schedule: noise levels.
            watch: told after each window of each step.
            lead: keyframes at the start that are finished and stay as they are.

        Returns:
            F x 4 x h x w, float32.
        """
        for step in range(len(schedule)):
            if lead is not None:
                latents = lead.put(latents, schedule.sigmas[step])
            latents = self.step(latents, schedule, step, watch)
        return latents if lead is None else lead.put(latents, 0.0)

    @torch.inference_mode()
    def step(
        self,
        latents: torch.Tensor,
        schedule: NoiseSchedule,
        step: int,
        watch: Watch = UNWATCHED,
    ) -> torch.Tensor:
        """One noise level for the whole clip; every window reads the state at its start."""
        total = torch.zeros_like(latents)
        counts = torch.zeros(len(latents), device=latents.device)
        sigma, sigma_next = schedule.sigmas[step : step + 2]
        for frames in self._options.windows.frames(step, len(latents)):
            index = torch.tensor(frames, device=latents.device)
            window = latents[index].to(self._device)
            level = sigma, schedule.timesteps[step]
            velocity = self._fitting_velocity(window, frames, level, watch.check)
            moved = euler_step(window, velocity, sigma, sigma_next)
            total.index_add_(0, index, moved.to(total))
            counts.index_add_(0, index, torch.ones_like(counts[index]))
            watch.on_call()
        return total / counts.view(-1, 1, 1, 1)

    def _fitting_velocity(
        self,
        window: torch.Tensor,
        frames: list[int],
        level: tuple[float, float],
        check: Callable[[], None],
    ) -> torch.Tensor:
        """The guided prediction, in smaller and smaller modes until one fits.

        Raises:
            EngineError: GPU_MEMORY when the smallest one does not.
        """
        mode: Mode | None = self.mode
        while mode is not None:
            self.mode = mode
            if mode.is_streamed:
                self._unet.stream_weights(self._device)
            with suppress(torch.OutOfMemoryError):
                return self._velocity(window, frames, level, check)
            # The failed attempt's tensors live until its traceback is gone, which is here.
            release_memory(self._device, is_thorough=True)
            _log.warning("out of memory in mode %s", mode.name)
            mode = next_smaller(mode)
        raise EngineError(ErrorCode.GPU_MEMORY)

    def _velocity(
        self,
        window: torch.Tensor,
        frames: list[int],
        level: tuple[float, float],
        check: Callable[[], None],
    ) -> torch.Tensor:
        """Guided prediction for one window: frames x 4 x h x w, float32."""
        sigma, timestep = level
        noisy = (window / (sigma**2 + 1) ** 0.5).to(self._dtype)
        picture = self._given.image_latent.to(self._device, self._dtype)
        pictures = picture.expand(len(frames), -1, -1, -1)
        without = torch.cat([noisy, torch.zeros_like(pictures)], dim=1)
        with_picture = torch.cat([noisy, pictures], dim=1)
        sample = torch.stack([without, with_picture, with_picture])
        context, time_ids = self._context(frames), self._time_ids(frames)
        rows = []
        self._unet.sizes = self.mode.sizes
        for start in range(0, NUM_ROWS, self.mode.rows_at_once):
            span = slice(start, start + self.mode.rows_at_once)
            part = context.rows(span)
            rows.append(self._unet.predict(sample[span], timestep, time_ids[span], part, check))
        nothing, silent, speaking = torch.cat(rows).float()
        options = self._options
        return (
            nothing
            + options.appearance_guidance * (silent - nothing)
            + options.audio_guidance * (speaking - silent)
        )

    def _context(self, frames: list[int]) -> AudioContext:
        given = self._given
        embed = given.image_embed.to(self._device, self._dtype).expand(len(frames), -1)
        image = torch.stack([torch.zeros_like(embed), embed, embed])
        spoken = given.audio_tokens[frames].to(self._device, self._dtype)
        silent = given.silent_tokens.to(self._device, self._dtype).expand_as(spoken)
        audio = torch.stack([silent, silent, spoken])
        return AudioContext(image, audio, self._masks, self._options.audio_scale)

    def _time_ids(self, frames: list[int]) -> torch.Tensor:
        """Rows x 3: keyframe rate and the mean motion buckets of the window."""
        buckets = self._buckets[frames].mean(dim=0)
        ids = torch.cat([torch.tensor([float(KEYFRAME_FPS)]), buckets])
        return ids.expand(NUM_ROWS, -1)
