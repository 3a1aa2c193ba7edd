"""From 16 kHz speech to what each keyframe hears: tokens and motion buckets.

Whisper's encoder hears pieces of 30 s, as the weights were trained on; a keyframe then gets the
states around its own time.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from engine.animators.sonic.audio_heads import (
    BUCKET_STATES,
    TOKEN_STATES,
    AudioTokenHead,
    MotionBucketHead,
)

SAMPLE_RATE_HZ = 16_000
PIECE_SAMPLES = 480_000
SAMPLES_PER_FRAME25 = 640
STATES_PER_FRAME25 = 2
STATES_PER_KEYFRAME = 4

# A keyframe's tokens start 4 states (80 ms) before it, its buckets 24; zeros stand in for what
# lies before the start (first number) and after the end (second number) of the speech.
TOKEN_PADDING = (4, 6)
BUCKET_PADDING = (24, 26)

# Frames given to a head at once: 256 x 19,200 inputs are 20 MB in float32.
FRAMES_AT_ONCE = 256


def num_keyframes(num_samples: int) -> int:
    """Keyframes (12.5 a second) that a recording at 16 kHz gives."""
    return num_samples // SAMPLES_PER_FRAME25 // 2


@dataclass(frozen=True)
class SpeechFeatures:
    """What the denoiser hears.

    Attributes:
        tokens: keyframes x tokens x D, float32.
        silent_tokens: tokens x D, float32: the tokens of nothing, for the guidance.
        motion_buckets: keyframes x 2, float32.
    """

    tokens: torch.Tensor
    silent_tokens: torch.Tensor
    motion_buckets: torch.Tensor

    def __len__(self) -> int:
        return len(self.tokens)

    def first(self, num_frames: int) -> "SpeechFeatures":
        """Those of the first keyframes alone."""
        return SpeechFeatures(
            self.tokens[:num_frames], self.silent_tokens, self.motion_buckets[:num_frames]
        )


class WhisperEars:
    """Whisper's encoder behind its own mel front end.

    Args:
        encoder: transformers' `WhisperEncoder`.
        extractor: transformers' `WhisperFeatureExtractor`.
    """

    def __init__(self, encoder: nn.Module, extractor: Any) -> None:  # noqa: ANN401 - untyped library
        self._encoder = encoder
        self._extractor = extractor

    def mel(self, piece: NDArray[np.float32]) -> torch.Tensor:
        """Log-mel of up to 30 s, padded with silence to 30 s: 1 x 80 x 3000."""
        features = self._extractor(piece, sampling_rate=SAMPLE_RATE_HZ, return_tensors="np")
        return torch.from_numpy(np.asarray(features["input_features"], dtype=np.float32))

    @torch.inference_mode()
    def states(self, samples: NDArray[np.float32]) -> torch.Tensor:
        """Hear a recording.

        Args:
            samples: float32, mono, 16 kHz.

        Returns:
            N x layers x channels, float32, on the CPU: fifty states a second, of the embedding
            and every layer; the last one is normalised. N is even.
        """
        pieces = []
        for start in range(0, len(samples), PIECE_SAMPLES):
            mel = self.mel(samples[start : start + PIECE_SAMPLES])
            weight = next(self._encoder.parameters())
            heard = self._encoder(mel.to(weight.device, weight.dtype), output_hidden_states=True)
            layers = [*heard.hidden_states[:-1], heard.last_hidden_state]
            pieces.append(torch.stack(layers, dim=2)[0].float().cpu())
        num_states = len(samples) // SAMPLES_PER_FRAME25 * STATES_PER_FRAME25
        return torch.cat(pieces)[:num_states]


def windows_around(
    states: torch.Tensor, padding: tuple[int, int], length: int, num_frames: int
) -> torch.Tensor:
    """The states around every keyframe, a view: keyframes x length x ... ."""
    spread = [0, 0] * (states.ndim - 1)
    padded = functional.pad(states, (*spread, *padding))
    windows = padded.unfold(0, length, STATES_PER_KEYFRAME)[:num_frames]
    return windows.movedim(-1, 1)


@torch.inference_mode()
def hear(
    states: torch.Tensor,
    token_head: AudioTokenHead,
    bucket_head: MotionBucketHead,
    image_embed: torch.Tensor,
) -> SpeechFeatures:
    """Make tokens and buckets of every keyframe.

    Args:
        states: N x layers x channels, from `WhisperEars.states`.
        token_head: makes tokens.
        bucket_head: makes motion buckets.
        image_embed: 1 x D: CLIP's embedding of the picture.

    Returns:
        Everything in float32 on the CPU.
    """
    num_frames = len(states) // STATES_PER_KEYFRAME
    device = token_head.proj1.weight.device
    embed = image_embed.to(device, torch.float32)
    around = windows_around(states, TOKEN_PADDING, TOKEN_STATES, num_frames)
    second = windows_around(states[:, -1], BUCKET_PADDING, BUCKET_STATES, num_frames)
    tokens, buckets = [], []
    for start in range(0, num_frames, FRAMES_AT_ONCE):
        span = slice(start, start + FRAMES_AT_ONCE)
        tokens.append(token_head(around[span].to(device)).cpu())
        buckets.append(bucket_head.buckets(second[span].to(device), embed).cpu())
    silent = token_head(torch.zeros_like(around[:1], device=device))[0].cpu()
    return SpeechFeatures(torch.cat(tokens), silent, torch.cat(buckets))
