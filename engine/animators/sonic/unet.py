"""One call of the denoising network, in groups that decide how much memory it takes.

The modules and the weights' names are those of diffusers'
`UNetSpatioTemporalConditionModel`. Its blocks keep their input and all their skips alive until
they return; this forward pass runs the same modules in the same order but works frame group by
frame group, and pixel group by pixel group along time, and lets go of each skip once it is used.
The group sizes change memory and speed, never the result beyond rounding.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias

import torch
from diffusers import UNetSpatioTemporalConditionModel

from engine.animators.sonic import layers
from engine.animators.sonic.attention import AudioContext, install_audio_attention
from engine.animators.sonic.memory import GroupSizes
from engine.animators.sonic.plane import Plane, made_of, place
from engine.animators.sonic.resnet import Grouping, enlarge, run_resnet
from engine.animators.sonic.streaming import WeightStream
from engine.animators.sonic.transformer import join_projections, run_transformer

Module: TypeAlias = Any
"""A part of diffusers' network, whose own parts are reached by their names."""


def _no_check() -> None:
    return


class SonicUNet:
    """The denoising network with its attention to speech.

    Args:
        config: of the public `unet/config.json`.
        sizes: how much is worked on at once.

    Attributes:
        network: the stock module; its state dict has the public names.
    """

    def __init__(self, config: dict[str, Any], sizes: GroupSizes | None = None) -> None:
        self.network = UNetSpatioTemporalConditionModel.from_config(config)
        install_audio_attention(self.network)
        self.sizes = sizes or GroupSizes()
        self._is_prepared = False
        self._stream: WeightStream | None = None

    @property
    def num_levels(self) -> int:
        """How many picture sizes the network works at."""
        return len(self.network.down_blocks)

    @property
    def dtype(self) -> torch.dtype:
        """What it computes in."""
        return self.network.conv_in.weight.dtype

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return self.network.conv_in.weight.device

    @torch.inference_mode()
    def predict(
        self,
        sample: torch.Tensor,
        timestep: float,
        time_ids: torch.Tensor,
        context: AudioContext,
        check: Callable[[], None] = _no_check,
    ) -> torch.Tensor:
        """Predict the velocity for every row and frame.

        Args:
            sample: rows x frames x 8 x h x w: scaled noisy latents, then image latents.
            timestep: a quarter of the logarithm of sigma.
            time_ids: rows x 3: frame rate and the two motion buckets.
            context: what the frames look at.
            check: called between layers; may raise to stop the call.

        Returns:
            rows x frames x 4 x h x w.
        """
        self._prepare()
        rows, frames = sample.shape[:2]
        run = _Pass(self, context, Grouping(frames, self.sizes, check))
        run.embed(timestep, time_ids)
        made = run.through(sample.to(self.dtype).flatten(0, 1))
        return made.unflatten(0, (rows, frames))

    def stream_weights(self, device: torch.device) -> None:
        """From now on run on a device whose memory holds one block of weights after the other."""
        if self._stream is not None:
            return
        self._prepare()
        blocks = _blocks(self.network)
        self._stream = WeightStream(blocks, device)
        moved = {id(weight) for block in blocks for weight in block.parameters()}
        for weight in self.network.parameters():
            if id(weight) not in moved:
                weight.data = weight.data.to(device)
        for buffer in self.network.buffers():
            buffer.data = buffer.data.to(device)

    def lent(self, module: Module) -> AbstractContextManager[None]:
        """The weights of a block are where they are needed inside."""
        return nullcontext() if self._stream is None else self._stream.lent(module)

    def _prepare(self) -> None:
        """Lay the weights out for this forward pass, once they are there."""
        if not self._is_prepared:
            layers.lay_pixelwise(self.network)
            join_projections(self.network)
            self._is_prepared = True


class _Pass:
    """The state of one call: embedding, what is looked at, group sizes."""

    def __init__(self, unet: SonicUNet, context: AudioContext, grouping: Grouping) -> None:
        self._network = unet.network
        self._lent = unet.lent
        self._context, self._grouping = context, grouping
        self._embedding = torch.empty(0)

    def embed(self, timestep: float, time_ids: torch.Tensor) -> None:
        """Rows x E: noise level, frame rate and motion buckets."""
        net = self._network
        weight = net.conv_in.weight
        rows = len(time_ids)
        times = torch.full((rows,), timestep, dtype=torch.float32, device=weight.device)
        embedding = net.time_embedding(net.time_proj(times).to(weight.dtype))
        ids = net.add_time_proj(time_ids.to(weight.device, weight.dtype).flatten())
        self._embedding = embedding + net.add_embedding(ids.reshape(rows, -1).to(weight.dtype))

    def through(self, sample: torch.Tensor) -> torch.Tensor:
        """(rows * frames) x 8 x h x w to (rows * frames) x 4 x h x w."""
        net = self._network
        plane = self._convolved(net.conv_in, Plane.of_pictures(sample))
        skips = [plane]
        for block in net.down_blocks:
            plane = self._down(block, plane, skips)
        plane = self._resnet(net.mid_block.resnets[0], [plane])
        for attention, resnet in zip(
            net.mid_block.attentions, net.mid_block.resnets[1:], strict=True
        ):
            plane = self._resnet(resnet, [self._transformer(attention, plane)])
        skips.append(plane)
        del plane
        for block in net.up_blocks:
            skips.append(self._up(block, skips))
        plane = skips.pop()
        norm = layers.settle(plane.statistics, net.conv_norm_out, 1)
        result: torch.Tensor | None = None
        for span in self._grouping.images(len(plane.x)):
            part = layers.affine(plane.x[span], norm.part(span), has_silu=True)
            made = layers.convolve(net.conv_out, part, plane.height, plane.width, has_bias=True)
            result = place(result, made, span, len(plane.x))
        return Plane(made_of(result), plane.height, plane.width).pictures().contiguous()

    def _down(self, block: Module, plane: Plane, skips: list[Plane]) -> Plane:
        for resnet, attention in zip(block.resnets, _attentions(block), strict=True):
            plane = self._resnet(resnet, [plane])
            if attention is not None:
                plane = self._transformer(attention, plane)
            skips.append(plane)
        for sampler in block.downsamplers or ():
            with self._lent(sampler):
                plane = self._convolved(sampler.conv, plane)
            skips.append(plane)
        return plane

    def _up(self, block: Module, skips: list[Plane]) -> Plane:
        """The picture comes on top of the skips, so that nobody else holds it."""
        plane = skips.pop()
        for resnet, attention in zip(block.resnets, _attentions(block), strict=True):
            parts = [plane, skips.pop()]
            del plane
            plane = self._resnet(resnet, parts)
            if attention is not None:
                plane = self._transformer(attention, plane)
        for sampler in block.upsamplers or ():
            with self._lent(sampler):
                plane = self._enlarged(sampler, plane)
        return plane

    def _resnet(self, block: Module, parts: list[Plane]) -> Plane:
        with self._lent(block):
            return run_resnet(block, parts, self._grouping, embedding=self._embedding)

    def _transformer(self, model: Module, plane: Plane) -> Plane:
        with self._lent(model):
            return run_transformer(model, plane, self._grouping, self._context)

    def _convolved(self, conv: torch.nn.Conv2d, plane: Plane) -> Plane:
        """A convolution that may halve the picture."""
        stride = conv.stride[0]
        result: torch.Tensor | None = None
        for span in self._grouping.images(len(plane.x)):
            self._grouping.check()
            made = layers.convolve(conv, plane.x[span], plane.height, plane.width, has_bias=True)
            result = place(result, made, span, len(plane.x))
        return Plane(made_of(result), plane.height // stride, plane.width // stride)

    def _enlarged(self, sampler: Module, plane: Plane) -> Plane:
        result: torch.Tensor | None = None
        for span in self._grouping.images(len(plane.x)):
            self._grouping.check()
            made = enlarge(sampler, Plane(plane.x[span], plane.height, plane.width))
            result = place(result, made.x, span, len(plane.x))
        return Plane(made_of(result), 2 * plane.height, 2 * plane.width)


def _attentions(block: Module) -> list[Module | None]:
    if getattr(block, "has_cross_attention", False):
        return list(block.attentions)
    return [None] * len(block.resnets)


def _blocks(network: Module) -> list[Module]:
    """Everything that is run as one, in the order of a call."""
    blocks: list[Module] = []

    def add(resnets: list[Module], attentions: list[Module | None]) -> None:
        for resnet, attention in zip(resnets, attentions, strict=True):
            blocks.extend(part for part in (resnet, attention) if part is not None)

    for block in network.down_blocks:
        add(list(block.resnets), _attentions(block))
        blocks.extend(block.downsamplers or ())
    middle = network.mid_block
    blocks.append(middle.resnets[0])
    for attention, resnet in zip(middle.attentions, middle.resnets[1:], strict=True):
        blocks.extend((attention, resnet))
    for block in network.up_blocks:
        add(list(block.resnets), _attentions(block))
        blocks.extend(block.upsamplers or ())
    return blocks
