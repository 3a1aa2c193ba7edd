"""The RIFE network: a picture half-way between two others, from the optical flow between them."""

import torch
from torch import nn
from torch.nn import functional

CHANNELS = 90
SIDE_MULTIPLE_PX = 16
"""Sides must be multiples: the coarsest block halves twice what was reduced to a quarter."""

# Two warped pictures (6), the blend mask (1), the flow to both (4).
INPUT_PLANES = 11
# The block that only training used also saw the true picture.
TEACHER_PLANES = 14


def _conv(planes: int, channels: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(planes, channels, 3, stride, 1), nn.PReLU(channels))


def _head(planes: int) -> nn.Sequential:
    """From the coarse features to `planes` at twice their size, twice."""
    return nn.Sequential(
        nn.ConvTranspose2d(CHANNELS, CHANNELS // 2, 4, 2, 1),
        nn.PReLU(CHANNELS // 2),
        nn.ConvTranspose2d(CHANNELS // 2, planes, 4, 2, 1),
    )


class FlowBlock(nn.Module):
    """Refines flow and mask at one reduction of the pictures."""

    def __init__(self, planes: int) -> None:
        super().__init__()
        self.conv0 = nn.Sequential(
            _conv(planes, CHANNELS // 2, stride=2), _conv(CHANNELS // 2, CHANNELS, stride=2)
        )
        for index in range(4):
            pair = nn.Sequential(_conv(CHANNELS, CHANNELS), _conv(CHANNELS, CHANNELS))
            self.add_module(f"convblock{index}", pair)
        self.conv1 = _head(4)
        self.conv2 = _head(1)

    def forward(
        self, pictures: torch.Tensor, flow: torch.Tensor, scale: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Correct the flow.

        Args:
            pictures: B x 7 x H x W: two warped pictures and the mask.
            flow: B x 4 x H x W: to the first and to the second picture, in pixels.
            scale: by how much everything is reduced first.

        Returns:
            Corrections of the flow (B x 4 x H x W) and of the mask (B x 1 x H x W).
        """
        x = torch.cat([_resized(pictures, 1 / scale), _resized(flow, 1 / scale) / scale], dim=1)
        x = self.conv0(x)
        for index in range(4):
            x = self.get_submodule(f"convblock{index}")(x) + x
        return _resized(self.conv1(x), scale) * scale, _resized(self.conv2(x), scale)


def _resized(x: torch.Tensor, factor: float) -> torch.Tensor:
    if factor == 1:
        return x
    size = (round(x.shape[2] * factor), round(x.shape[3] * factor))
    return functional.interpolate(x, size, mode="bilinear", align_corners=False)


def _swapped(flow: torch.Tensor) -> torch.Tensor:
    """The same flow seen with the two pictures exchanged."""
    return torch.cat([flow[:, 2:], flow[:, :2]], dim=1)


def warp(picture: torch.Tensor, flow: torch.Tensor) -> torch.Tensor:
    """Fetch every pixel from where the flow points; beyond the border the border goes on.

    The border is held by clamping the places, not by a padding mode, which some devices lack.

    Args:
        picture: B x C x H x W.
        flow: B x 2 x H x W, x then y, in pixels.
    """
    height, width = picture.shape[2:]
    along_x = torch.linspace(-1, 1, width, device=flow.device, dtype=flow.dtype)
    along_y = torch.linspace(-1, 1, height, device=flow.device, dtype=flow.dtype)
    x = along_x.view(1, 1, width) + flow[:, 0] / ((width - 1) / 2)
    y = along_y.view(1, height, 1) + flow[:, 1] / ((height - 1) / 2)
    places = torch.stack([x, y], dim=3).clamp(-1, 1)
    return functional.grid_sample(
        picture, places, mode="bilinear", padding_mode="zeros", align_corners=True
    )


class FlowNet(nn.Module):
    """Three blocks, coarse to fine; module names are those of the public file."""

    def __init__(self) -> None:
        super().__init__()
        self.block0 = FlowBlock(INPUT_PLANES)
        self.block1 = FlowBlock(INPUT_PLANES)
        self.block2 = FlowBlock(INPUT_PLANES)
        self.block_tea = FlowBlock(TEACHER_PLANES)

    def flow(self, first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Flow from the middle to both pictures, and how much of the first to take.

        Args:
            first: B x 3 x H x W, float32, 0..1; sides multiples of 16.
            second: the same, later.

        Returns:
            Flow, B x 4 x H x W, and blend weight of the first picture, B x 1 x H x W, 0..1.
        """
        batch, _, height, width = first.shape
        flow = first.new_zeros((batch, 4, height, width))
        mask = first.new_zeros((batch, 1, height, width))
        warped0, warped1 = first, second
        for block, scale in ((self.block0, 4), (self.block1, 2), (self.block2, 1)):
            forth = torch.cat([warped0, warped1, mask], dim=1)
            back = torch.cat([warped1, warped0, -mask], dim=1)
            flows, masks = block(torch.cat([forth, back]), torch.cat([flow, _swapped(flow)]), scale)
            flow = flow + (flows[:batch] + _swapped(flows[batch:])) / 2
            mask = mask + (masks[:batch] - masks[batch:]) / 2
            warped0, warped1 = warp(first, flow[:, :2]), warp(second, flow[:, 2:])
        return flow, torch.sigmoid(mask)

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """The picture half-way between two: B x 3 x H x W, about 0..1, not clamped."""
        flow, weight = self.flow(first, second)
        return warp(first, flow[:, :2]) * weight + warp(second, flow[:, 2:]) * (1 - weight)
