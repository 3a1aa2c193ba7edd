"""The two small networks between Whisper and the denoiser: speech tokens and motion buckets."""

from collections.abc import Mapping

import torch
from torch import nn
from torch.nn import functional

TOKEN_STATES = 10
"""Whisper states (20 ms each) that one keyframe's tokens are made of."""

BUCKET_STATES = 50
"""Whisper states that one keyframe's motion buckets are made of: one second."""

BUCKET_STEP = 16.0


class AudioTokenHead(nn.Module):
    """Ten Whisper states of all layers become the tokens that one keyframe attends to.

    Args:
        states_width: states * layers * channels of the input.
        hidden_width: of both inner layers.
        num_tokens: tokens a keyframe gets.
        token_width: channels of a token.
    """

    def __init__(
        self, states_width: int, hidden_width: int, num_tokens: int, token_width: int
    ) -> None:
        super().__init__()
        self.proj1 = nn.Linear(states_width, hidden_width)
        self.proj2 = nn.Linear(hidden_width, hidden_width)
        self.proj3 = nn.Linear(hidden_width, num_tokens * token_width)
        self.norm = nn.LayerNorm(token_width)

    @classmethod
    def shaped_like(cls, tensors: Mapping[str, torch.Tensor]) -> "AudioTokenHead":
        """A head whose sizes are read from its weights."""
        hidden_width, states_width = tensors["proj1.weight"].shape
        token_width = tensors["norm.weight"].shape[0]
        num_tokens = tensors["proj3.weight"].shape[0] // token_width
        return cls(states_width, hidden_width, num_tokens, token_width)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Frames x states x layers x channels to frames x tokens x D."""
        hidden = functional.relu(self.proj1(states.flatten(1)))
        hidden = functional.relu(self.proj2(hidden))
        width = self.norm.normalized_shape[0]
        return self.norm(self.proj3(hidden).unflatten(1, (-1, width)))


class MotionBucketHead(nn.Module):
    """One second of Whisper states and the picture tell how much will move.

    Args:
        input_width: states * channels, plus the width of the picture's embedding.
        hidden_width: of both inner layers.
    """

    def __init__(self, input_width: int, hidden_width: int) -> None:
        super().__init__()
        self.proj1 = nn.Linear(input_width, hidden_width)
        self.proj2 = nn.Linear(hidden_width, hidden_width)
        self.proj3 = nn.Linear(hidden_width, 2)

    @classmethod
    def shaped_like(cls, tensors: Mapping[str, torch.Tensor]) -> "MotionBucketHead":
        """A head whose sizes are read from its weights."""
        hidden_width, input_width = tensors["proj1.weight"].shape
        return cls(input_width, hidden_width)

    def forward(self, states: torch.Tensor, image_embed: torch.Tensor) -> torch.Tensor:
        """Raw numbers, two a frame.

        Args:
            states: frames x states x channels, of Whisper's last layer.
            image_embed: 1 x D.

        Returns:
            Frames x 2.
        """
        embed = image_embed.expand(len(states), -1)
        hidden = functional.silu(self.proj1(torch.cat([states.flatten(1), embed], dim=1)))
        return self.proj3(functional.silu(self.proj2(hidden)))

    def buckets(self, states: torch.Tensor, image_embed: torch.Tensor) -> torch.Tensor:
        """Frames x 2 on the scale of the network's motion bucket ids."""
        return self(states, image_embed) * BUCKET_STEP + BUCKET_STEP
