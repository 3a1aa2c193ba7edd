"""The stages of one clip: look, hear, denoise, decode. Each loads its network and gives it up.

Frames leave one by one; what grows with the length of the clip (latents and tokens, about 1 MB
a keyframe at 1024 pixels) stays in main memory.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from engine.animators.sonic.decode import decode_chunks, encode_picture
from engine.animators.sonic.denoise import (
    Conditioning,
    Denoiser,
    Lead,
    Watch,
    draw_noise,
    noised_start,
)
from engine.animators.sonic.device import release_memory
from engine.animators.sonic.frame_times import FrameTimes
from engine.animators.sonic.interpolation import at_rate, middle_frame, unit_range
from engine.animators.sonic.listening import SpeechFeatures, hear
from engine.animators.sonic.memory import MemoryPlan
from engine.animators.sonic.models import SonicModels
from engine.animators.sonic.options import SonicOptions
from engine.animators.sonic.picture import SonicPicture, clip_pixels


@dataclass(frozen=True)
class SonicRun:
    """How one clip is made.

    Attributes:
        options: the numbers.
        plan: the way of working that fits the memory.
        check: called often; raises to stop.
        on_progress: told the share of denoising that is done, 0-1.
    """

    options: SonicOptions
    plan: MemoryPlan
    check: Callable[[], None] = lambda: None
    on_progress: Callable[[float], None] = lambda _share: None


@dataclass(frozen=True)
class SeenPicture:
    """What the networks see in the photo, the same for every piece of a clip.

    Attributes:
        image_latent: 4 x h x w, unscaled.
        image_embed: 1 x D: CLIP's embedding.
        face_mask: 1 x 1 x H x W, float32, 0..1.
    """

    image_latent: torch.Tensor
    image_embed: torch.Tensor
    face_mask: torch.Tensor


class SonicPipeline:
    """Makes clips with the networks of one weights folder.

    Args:
        models: builds the networks.
    """

    def __init__(self, models: SonicModels) -> None:
        self._models = models

    def denoise(
        self, picture: SonicPicture, samples: NDArray[np.float32], run: SonicRun
    ) -> torch.Tensor:
        """Everything up to the finished latents of speech that is one piece.

        Args:
            picture: the photo and its face mask, on the 64 grid.
            samples: float32, mono, 16 kHz; 1,280 samples a keyframe.
            run: how.

        Returns:
            F x 4 x h x w, float32, on the CPU.
        """
        seen = self.see(picture, run)
        return self.denoise_piece(seen, self.hear(samples, seen, run), run)

    def denoise_piece(
        self,
        seen: SeenPicture,
        speech: SpeechFeatures,
        run: SonicRun,
        before: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Denoise keyframes.

        Args:
            seen: from `see`.
            speech: of the keyframes.
            run: how.
            before: n x 4 x h x w: the first keyframes, when they are finished already.

        Returns:
            F x 4 x h x w, float32, on the CPU.
        """
        conditioning = Conditioning(
            image_latent=seen.image_latent,
            image_embed=seen.image_embed,
            audio_tokens=speech.tokens,
            silent_tokens=speech.silent_tokens,
            motion_buckets=speech.motion_buckets,
            face_mask=seen.face_mask,
        )
        schedule = self._models.schedule(run.options.num_inference_steps)
        height_px, width_px = seen.face_mask.shape[2:]
        noise = draw_noise(conditioning.num_frames, height_px, width_px, run.options.seed)
        latents = noised_start(conditioning.image_latent, noise, schedule.sigmas[0])
        lead = None if before is None else Lead(before, noise[: len(before)].clone())
        del noise
        mode = run.plan.mode
        unet = self._models.unet(is_streamed=mode.is_streamed)
        denoiser = Denoiser(unet, conditioning, run.options, mode)
        del unet
        calls = run.options.windows.count(conditioning.num_frames) * len(schedule)
        counter = _ShareCounter(calls, run.on_progress)
        try:
            return denoiser.run(latents, schedule, Watch(counter.step, run.check), lead)
        finally:
            del denoiser
            self._release()

    def frames(
        self, latents: torch.Tensor, num_frames: int, fps: Fraction, run: SonicRun
    ) -> Iterator[torch.Tensor]:
        """Decode and interpolate, one chunk of keyframes at a time.

        Args:
            latents: from `denoise`.
            num_frames: wanted; `frame_times.keyframes_needed` tells the keyframes it takes.
            fps: wanted.
            run: how.

        Yields:
            3 x H x W, float32, 0..1, on the device.
        """
        times = FrameTimes(num_frames, fps)
        yield from self.frames_between(self.keyframes(latents, run), times, run)

    def frames_between(
        self,
        keyframes: Generator[torch.Tensor, None, None],
        times: FrameTimes,
        run: SonicRun,
    ) -> Generator[torch.Tensor, None, None]:
        """Interpolate a stream of keyframes; see `frames`."""
        between = partial(middle_frame, self._models.flow_net())
        stream = at_rate(keyframes, times, between)
        try:
            for frame in stream:
                run.check()
                yield frame
        finally:
            stream.close()
            keyframes.close()
            del between
            self._release()

    def keyframes(
        self, latents: torch.Tensor, run: SonicRun
    ) -> Generator[torch.Tensor, None, None]:
        """Decode one chunk after the other: 3 x H x W each, float32, 0..1, on the device."""
        plan = run.plan
        chunks = decode_chunks(
            self._models.autoencoder(), latents, plan.decode_chunk, plan.decode_sizes
        )
        for chunk in chunks:
            run.check()
            yield from unit_range(chunk)

    def see(self, picture: SonicPicture, run: SonicRun) -> SeenPicture:
        """Look at the photo; everything returned lies on the CPU."""
        image_embed = self._look(picture)
        run.check()
        vae = self._models.autoencoder()
        pixels = torch.from_numpy(picture.pixels.transpose(2, 0, 1).copy()).float()
        image_latent = encode_picture(vae, (pixels / 255 - 0.5)[None] / 0.5).cpu()
        del vae
        self._release()
        mask = torch.from_numpy(picture.mask.copy()).float()[None, None] / 255
        return SeenPicture(image_latent, image_embed, mask)

    @torch.inference_mode()
    def _look(self, picture: SonicPicture) -> torch.Tensor:
        """1 x D: what CLIP sees in the photo."""
        encoder = self._models.image_encoder()
        pixels = torch.from_numpy(clip_pixels(picture.pixels))[None]
        weight = encoder.visual_projection.weight
        embed = encoder(pixels.to(weight.device, weight.dtype)).image_embeds.float().cpu()
        del encoder, weight
        self._release()
        return embed

    def hear(
        self, samples: NDArray[np.float32], seen: SeenPicture, run: SonicRun
    ) -> SpeechFeatures:
        """Listen to speech at 16 kHz, 1,280 samples a keyframe; all on the CPU."""
        states = self._models.ears().states(samples)
        run.check()
        heads = self._models.token_head(), self._models.bucket_head()
        features = hear(states, *heads, seen.image_embed)
        del heads
        self._release()
        return features

    def _release(self) -> None:
        release_memory(self._models.device)


class _ShareCounter:
    """Turns finished calls into a share."""

    def __init__(self, total: int, tell: Callable[[float], None]) -> None:
        self._total, self._done, self._tell = total, 0, tell

    def step(self) -> None:
        self._done += 1
        self._tell(self._done / self._total)


def to_uint8(frame: torch.Tensor) -> NDArray[np.uint8]:
    """3 x H x W, 0..1 to H x W x 3, uint8, rounded (not cut off) to the nearest level."""
    levels = (frame * 255).round().to(torch.uint8)
    return levels.permute(1, 2, 0).contiguous().cpu().numpy()
