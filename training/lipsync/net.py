"""The listening net: 65 features at 100 Hz in, 15 viseme logits and 5 mouth values at 50 Hz out."""

from dataclasses import asdict, dataclass

import torch
from torch import nn

from engine.lipsync.curves import VISEMES
from engine.lipsync.features import NUM_FEATURES
from engine.lipsync.visemes import TARGETS

NUM_VALUES = 5  # jaw, wide, pucker, close, fv
SYMBOLS = ("sil", *sorted(TARGETS))  # classes of the helper head; dropped at export


@dataclass(frozen=True)
class NetShape:
    """Size of a net."""

    channels: int = 160
    dilations: tuple[int, ...] = (1, 2, 4, 8, 1, 2, 4)
    dropout: float = 0.1


class Block(nn.Module):
    """Dilated convolution over 5 frames and a mix of the channels, added to the input."""

    def __init__(self, channels: int, dilation: int, dropout: float) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(channels, channels, 5, padding=2 * dilation, dilation=dilation, bias=False),
            nn.BatchNorm1d(channels),
            nn.ReLU(),
            nn.Conv1d(channels, channels, 1, bias=False),
            nn.BatchNorm1d(channels),
            nn.Dropout(dropout),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.body(x))


class LipNet(nn.Module):
    """Features B x 2T x 65 -> logits B x T x 15 and values B x T x 5."""

    def __init__(self, shape: NetShape) -> None:
        super().__init__()
        self.shape = shape
        c = shape.channels
        # Five frames centred on every second one: no half-frame offset.
        self.stem = nn.Sequential(
            nn.Conv1d(NUM_FEATURES, c, 5, stride=2, padding=2, bias=False),
            nn.BatchNorm1d(c),
            nn.ReLU(),
        )
        self.blocks = nn.Sequential(*[Block(c, d, shape.dropout) for d in shape.dilations])
        self.head = nn.Conv1d(c, len(VISEMES) + NUM_VALUES, 1)
        self.helper = nn.Conv1d(c, len(SYMBOLS), 1)

    def trunk(self, features: torch.Tensor) -> torch.Tensor:
        return self.blocks(self.stem(features.transpose(1, 2)))

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        out = self.head(self.trunk(features)).transpose(1, 2)
        return out[..., : len(VISEMES)], out[..., len(VISEMES) :]

    def with_helper(
        self, features: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        hidden = self.trunk(features)
        out = self.head(hidden).transpose(1, 2)
        helper = self.helper(hidden).transpose(1, 2)
        return out[..., : len(VISEMES)], out[..., len(VISEMES) :], helper


def save(net: LipNet, path: str) -> None:
    torch.save({"shape": asdict(net.shape), "weights": net.state_dict()}, path)


def load(path: str) -> LipNet:
    kept = torch.load(path, map_location="cpu", weights_only=True)
    shape = kept["shape"] | {"dilations": tuple(kept["shape"]["dilations"])}
    net = LipNet(NetShape(**shape))
    net.load_state_dict(kept["weights"])
    return net.eval()
