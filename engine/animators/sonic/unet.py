"""One call of the denoising network, in groups that decide how much memory it takes.

The modules and the weights' names are those of diffusers'
`UNetSpatioTemporalConditionModel`. Its blocks keep their input and all their skips alive until
they return; this forward pass runs the same modules in the same order but works frame group by
frame group, and pixel group by pixel group along time, and lets go of each skip once it is used.
The group sizes change memory and speed, never the result beyond rounding.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch
from diffusers import UNetSpatioTemporalConditionModel

from engine.animators.sonic.attention import AudioContext, install_audio_attention
from engine.animators.sonic.memory import GroupSizes

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
        self.slot = install_audio_attention(self.network)
        self.sizes = sizes or GroupSizes()

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
        rows, frames = sample.shape[:2]
        with self.slot.filled(context):
            run = _Pass(self, rows, frames, check)
            run.embed(timestep, time_ids)
            x = run.through(sample.flatten(0, 1))
        return x.unflatten(0, (rows, frames))


class _Pass:
    """The state of one call: sizes, embedding, group sizes."""

    def __init__(self, unet: SonicUNet, rows: int, frames: int, check: Callable[[], None]) -> None:
        self._network = unet.network
        self._slot = unet.slot
        self._sizes = unet.sizes
        self._rows, self._frames, self._check = rows, frames, check
        self._is_image = torch.zeros(rows, frames, dtype=unet.dtype, device=unet.device)
        self._embedding = torch.empty(0)

    def embed(self, timestep: float, time_ids: torch.Tensor) -> None:
        """(rows * frames) x E: noise level, frame rate and motion buckets."""
        net, dtype = self._network, self._is_image.dtype
        device = self._is_image.device
        times = torch.full((self._rows,), timestep, dtype=torch.float32, device=device)
        embedding = net.time_embedding(net.time_proj(times).to(dtype))
        ids = net.add_time_proj(time_ids.to(device, dtype).flatten()).reshape(self._rows, -1)
        embedding = embedding + net.add_embedding(ids.to(dtype))
        self._embedding = embedding.repeat_interleave(self._frames, dim=0)

    def through(self, sample: torch.Tensor) -> torch.Tensor:
        """(rows * frames) x 8 x h x w to (rows * frames) x 4 x h x w."""
        net = self._network
        x = self._by_frames(net.conv_in, sample)
        skips = [x]
        for block in net.down_blocks:
            x = self._down(block, x, skips)
        x = self._resnet(net.mid_block.resnets[0], x)
        for attention, resnet in zip(
            net.mid_block.attentions, net.mid_block.resnets[1:], strict=True
        ):
            x = self._resnet(resnet, self._transformer(attention, x))
        for block in net.up_blocks:
            x = self._up(block, x, skips)
        return self._by_frames(lambda part: net.conv_out(net.conv_act(net.conv_norm_out(part))), x)

    def _down(self, block: Module, x: torch.Tensor, skips: list[torch.Tensor]) -> torch.Tensor:
        for resnet, attention in zip(block.resnets, _attentions(block), strict=True):
            x = self._resnet(resnet, x)
            if attention is not None:
                x = self._transformer(attention, x)
            skips.append(x)
        for sampler in block.downsamplers or ():
            x = self._by_frames(sampler, x)
            skips.append(x)
        return x

    def _up(self, block: Module, x: torch.Tensor, skips: list[torch.Tensor]) -> torch.Tensor:
        for resnet, attention in zip(block.resnets, _attentions(block), strict=True):
            x = self._resnet(resnet, x, skips.pop())
            if attention is not None:
                x = self._transformer(attention, x)
        for sampler in block.upsamplers or ():
            x = self._by_frames(sampler, x)
        return x

    def _spans(self, total: int, size: int | None) -> Iterator[slice]:
        step = size or total
        for start in range(0, total, step):
            self._check()
            yield slice(start, min(start + step, total))

    def _by_frames(
        self, layer: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor
    ) -> torch.Tensor:
        """Run a layer that treats every picture on its own, group by group."""
        result: torch.Tensor | None = None
        for span in self._spans(len(x), self._sizes.frames):
            result = _place(result, layer(x[span]), span, len(x))
        return _made(result)

    def _resnet(
        self, block: Module, x: torch.Tensor, skip: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Spatial half by groups of frames, then the half along time row by row."""
        result: torch.Tensor | None = None
        for span in self._spans(len(x), self._sizes.frames):
            part = x[span] if skip is None else torch.cat([x[span], skip[span]], dim=1)
            part = block.spatial_res_block(part, self._embedding[span])
            result = _place(result, part, span, len(x))
        del x, skip
        return self._resnet_along_time(block, _made(result))

    def _resnet_along_time(self, block: Module, x: torch.Tensor) -> torch.Tensor:
        rows_at_once = None if self._sizes.frames is None else 1
        result: torch.Tensor | None = None
        clips = x.unflatten(0, (self._rows, self._frames)).transpose(1, 2)
        times = self._embedding.unflatten(0, (self._rows, self._frames))
        for span in self._spans(self._rows, rows_at_once):
            mixed = block.time_mixer(
                x_spatial=clips[span],
                x_temporal=block.temporal_res_block(clips[span], times[span]),
                image_only_indicator=self._is_image[span],
            )
            result = _place(result, mixed.transpose(1, 2), span, self._rows)
        return _made(result).reshape(x.shape)

    def _transformer(self, model: Module, x: torch.Tensor) -> torch.Tensor:
        """Spatial and temporal transformer blocks in turn; adds the result to `x`."""
        height, width = x.shape[2:]
        hidden = self._by_frames(
            lambda part: model.proj_in(model.norm(part).flatten(2).transpose(1, 2)), x
        )
        positions = self._positions(model, hidden)
        for spatial, temporal in zip(
            model.transformer_blocks, model.temporal_transformer_blocks, strict=True
        ):
            hidden = self._spatial(spatial, hidden)
            self._along_time((temporal, model.time_mixer), hidden, positions)
        for span in self._spans(len(x), self._sizes.frames):
            part = model.proj_out(hidden[span]).transpose(1, 2).unflatten(2, (height, width))
            x[span] += part
        return x

    def _positions(self, model: Module, hidden: torch.Tensor) -> torch.Tensor:
        """(rows * frames) x 1 x C: where a frame stands in its window."""
        order = torch.arange(self._frames, device=hidden.device)
        position = model.time_pos_embed(model.time_proj(order).to(hidden.dtype))
        return position.repeat(self._rows, 1).unsqueeze(1)

    def _spatial(self, block: Module, hidden: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor | None = None
        for span in self._spans(len(hidden), self._sizes.frames):
            self._slot.span = span
            result = _place(result, block(hidden[span]), span, len(hidden))
        return _made(result)

    def _along_time(
        self, modules: tuple[Module, Module], hidden: torch.Tensor, positions: torch.Tensor
    ) -> None:
        """Blend the temporal block into `hidden` in place: every pixel is on its own."""
        block, mixer = modules
        for span in self._spans(hidden.shape[1], self._sizes.pixels):
            part = hidden[:, span]
            moved = block(part + positions, num_frames=self._frames)
            hidden[:, span] = mixer(
                x_spatial=part, x_temporal=moved, image_only_indicator=self._is_image
            )


def _attentions(block: Module) -> list[Module | None]:
    if getattr(block, "has_cross_attention", False):
        return list(block.attentions)
    return [None] * len(block.resnets)


def _place(
    result: torch.Tensor | None, part: torch.Tensor, span: slice, total: int
) -> torch.Tensor:
    """Put one group into the whole, which is made when the first group shows its shape."""
    if len(part) == total:
        return part
    if result is None:
        result = part.new_empty((total, *part.shape[1:]))
    result[span] = part
    return result


def _made(result: torch.Tensor | None) -> torch.Tensor:
    if result is None:
        raise ValueError("there is nothing to work on")
    return result
