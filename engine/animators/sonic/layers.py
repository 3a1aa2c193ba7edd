"""What the networks do between products and convolutions, in as few passes as the device allows.

Pictures are N x P x C: image, pixel, channel. Every function has a form in plain torch, which
any device runs, and one in Triton (`kernels`) for half precision on a card; both give the same
numbers up to rounding. A `vector` is added to every pixel of an image and is float32, N x C or
1 x C: biases, embeddings of time and whatever else is the same everywhere wait in it until a
pass over the pixels is made anyway.
"""

import logging
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

import torch
from torch import nn
from torch.nn import functional

_log = logging.getLogger(__name__)

LONGEST_FUSED_WINDOW = 32
"""Frames that fit into one tile of the attention along time."""

_HALF = (torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class Statistics:
    """Of every channel of every image, in chunks of pixels, so that norms of any grouping follow.

    Attributes:
        mean: N x chunks x C, float32.
        spread: the same shape: sum of the squared distances from the mean.
        counts: chunks, float32: pixels in each.
        pixels: in all chunks.
    """

    mean: torch.Tensor
    spread: torch.Tensor
    counts: torch.Tensor
    pixels: int

    @staticmethod
    def of_images(parts: "list[Statistics]") -> "Statistics":
        """Those of several groups of images of one size."""
        if len(parts) == 1:
            return parts[0]
        mean, spread = ([getattr(p, name) for p in parts] for name in ("mean", "spread"))
        return Statistics(torch.cat(mean), torch.cat(spread), parts[0].counts, parts[0].pixels)

    @staticmethod
    def of_channels(parts: "list[Statistics]") -> "Statistics":
        """Those of pictures whose channels are put behind each other."""
        if len(parts) == 1:
            return parts[0]
        mean, spread = ([getattr(p, name) for p in parts] for name in ("mean", "spread"))
        return Statistics(
            torch.cat(mean, dim=2), torch.cat(spread, dim=2), parts[0].counts, parts[0].pixels
        )

    @staticmethod
    def of_pixels(parts: "list[Statistics]") -> "Statistics":
        """Those of several tiles of the same images."""
        if len(parts) == 1:
            return parts[0]
        mean, spread = ([getattr(p, name) for p in parts] for name in ("mean", "spread"))
        counts = torch.cat([part.counts for part in parts])
        pixels = sum(part.pixels for part in parts)
        return Statistics(torch.cat(mean, dim=1), torch.cat(spread, dim=1), counts, pixels)

    def part(self, span: slice) -> "Statistics":
        """Those of some of the images."""
        return Statistics(self.mean[span], self.spread[span], self.counts, self.pixels)


@dataclass(frozen=True)
class Affine:
    """A norm that is settled: what each channel of each image is multiplied with and gets added.

    Attributes:
        scale: N x C, float32.
        shift: N x C, float32.
    """

    scale: torch.Tensor
    shift: torch.Tensor

    def part(self, images: slice, channels: slice = slice(None)) -> "Affine":
        """That of some images and channels."""
        return Affine(self.scale[images, channels], self.shift[images, channels])


@lru_cache(maxsize=1)
def _kernels() -> ModuleType | None:
    """The module of kernels, if this machine can build and run them."""
    try:
        from engine.animators.sonic import kernels  # noqa: PLC0415 - Triton is on few systems

        probe = torch.randn(1, 40, 64, device="cuda", dtype=torch.float16)
        norm = nn.LayerNorm(64, device="cuda", dtype=torch.float16)
        difference = (kernels.layer_norm(probe, None, norm) - norm(probe)).abs().max()
        if float(difference) < 0.01:
            return kernels
        _log.warning("kernels of this card give wrong numbers; working without them")
    except torch.OutOfMemoryError:
        raise  # says nothing about kernels; asked again next time
    except Exception as error:  # noqa: BLE001 - a compiler and a driver can fail in any way
        _log.info("working without own kernels: %s", type(error).__name__)
    return None


def _fused(x: torch.Tensor) -> ModuleType | None:
    return _kernels() if x.is_cuda and x.dtype in _HALF else None


@lru_cache(maxsize=64)
def _counts(pixels: int, chunk: int, device: torch.device) -> torch.Tensor:
    sizes = [min(chunk, pixels - start) for start in range(0, pixels, chunk)]
    return torch.tensor(sizes, dtype=torch.float32, device=device)


def statistics(x: torch.Tensor) -> Statistics:
    """Look at every channel of every image once; `x` may be a stretch of the pixels of a whole."""
    pixels = x.shape[1]
    if (kernels := _fused(x)) is not None:
        counts = _counts(pixels, kernels.CHUNK_PIXELS, x.device)
        mean, spread = kernels.statistics(x)
        return Statistics(mean, spread, counts, pixels)
    spread, mean = torch.var_mean(x.float(), dim=1, correction=0, keepdim=True)
    return Statistics(mean, spread * pixels, _counts(pixels, pixels, x.device), pixels)


def settle(
    seen: Statistics, norm: nn.GroupNorm, images: int, vector: torch.Tensor | None = None
) -> Affine:
    """Turn statistics into a group norm.

    Args:
        seen: of the pictures without the vector.
        norm: whose weights and groups are used.
        images: neighbouring images that are normed as one: 1 in space, all frames along time.
        vector: added to the pictures before the norm.

    Returns:
        What makes the normed pictures of the pictures without the vector.
    """
    if seen.mean.is_cuda and (kernels := _kernels()) is not None:
        return Affine(
            *kernels.settle(seen.mean, seen.spread, seen.counts, seen.pixels, vector, norm, images)
        )
    total, chunks, channels = seen.mean.shape
    mean = seen.mean if vector is None else seen.mean + vector.unsqueeze(1)
    mean = mean.reshape(total // images, images * chunks, norm.num_groups, -1)
    spread = seen.spread.reshape(mean.shape)
    counts = seen.counts.repeat(images).view(1, -1, 1, 1)
    size = images * seen.pixels * (channels // norm.num_groups)
    middle = (mean * counts).sum(dim=(1, 3), keepdim=True) / size
    around = (spread + (mean - middle).square() * counts).sum(dim=(1, 3), keepdim=True)
    rate = (around / size + norm.eps).rsqrt()
    scale = norm.weight.float() * rate.expand_as(mean)[:, 0].flatten(1)
    middle = middle.expand_as(mean)[:, 0].flatten(1)
    scale, middle = (each.repeat_interleave(images, dim=0) for each in (scale, middle))
    lifted = -middle if vector is None else vector - middle
    return Affine(scale, norm.bias.float() + lifted * scale)


def affine(
    x: torch.Tensor, by: Affine, *, has_silu: bool, out: torch.Tensor | None = None
) -> torch.Tensor:
    """The normed pictures, through SiLU if wished.

    Args:
        x: N x P x C, may be a stretch of pixels.
        by: from `settle`.
        has_silu: whether an activation follows.
        out: where to; may be `x` itself or some channels of a wider picture; None = new.
    """
    out = x.new_empty(x.shape) if out is None else out
    if (kernels := _fused(x)) is not None:
        kernels.affine(x, by.scale, by.shift, out, has_silu=has_silu)
        return out
    value = torch.addcmul(by.shift.unsqueeze(1), x.float(), by.scale.unsqueeze(1))
    out.copy_(functional.silu(value) if has_silu else value)
    return out


def blend(
    a: torch.Tensor,
    b: torch.Tensor,
    shares: tuple[float, float],
    vector: torch.Tensor,
    *,
    out: torch.Tensor | None = None,
    is_measured: bool = False,
) -> tuple[torch.Tensor, Statistics | None]:
    """The weighted sum of two pictures plus a vector.

    Args:
        a: N x P x C, may be a stretch of pixels.
        b: the same.
        shares: weights of `a` and `b`.
        vector: added once.
        out: where to; may be `a` or `b`; None = new.
        is_measured: whether statistics of the sum are wanted, which costs nothing here.
    """
    out = a.new_empty(a.shape) if out is None else out
    if (kernels := _fused(a)) is not None:
        spread = vector.expand(len(a), -1)
        seen = kernels.blend(a, b, shares, spread, out, has_statistics=is_measured)
        if seen is None:
            return out, None
        pixels = a.shape[1]
        counts = _counts(pixels, kernels.CHUNK_PIXELS, a.device)
        return out, Statistics(seen[0], seen[1], counts, pixels)
    value = a.float() * shares[0] + b.float() * shares[1] + vector.unsqueeze(1)
    out.copy_(value)
    return out, statistics(out) if is_measured else None


def layer_norm(
    x: torch.Tensor,
    norm: nn.LayerNorm,
    vector: torch.Tensor | None = None,
    *,
    into: torch.Tensor | None = None,
) -> torch.Tensor:
    """The layer norm of pictures plus a vector; contiguous.

    Args:
        x: N x P x C, may be a stretch of pixels.
        norm: whose weights are used.
        vector: added before.
        into: contiguous; gets all of that added, in place, and the norm is of the whole.
    """
    if (kernels := _fused(x)) is not None:
        vector = None if vector is None else vector.expand(len(x), -1)
        result: torch.Tensor = kernels.layer_norm(x, vector, norm, into)
        return result
    value = x.float() if vector is None else x.float() + vector.unsqueeze(1)
    if into is not None:
        value = value + into.float()
        into.copy_(value)
    weight, bias = norm.weight.float(), norm.bias.float()
    normed = functional.layer_norm(value, norm.normalized_shape, weight, bias, norm.eps)
    return normed.to(x.dtype).contiguous()


def gated_linear(x: torch.Tensor, layer: nn.Linear) -> torch.Tensor:
    """T x K to T x D: a linear layer to 2D, its first half times GELU of the second."""
    if (kernels := _fused(x)) is not None:
        result: torch.Tensor = kernels.gate(layer(x))
        return result
    value, gate = layer(x).chunk(2, dim=-1)
    return value * functional.gelu(gate)


def time_attention(qkv: torch.Tensor, frames: int, heads: int) -> torch.Tensor:
    """Every pixel looks at itself in the frames of its row.

    Args:
        qkv: (rows * frames) x P x 3C, contiguous: query, key and value.
        frames: of a row.
        heads: of the attention.

    Returns:
        (rows * frames) x P x C.
    """
    width = qkv.shape[2] // 3 // heads
    kernels = _fused(qkv)
    if kernels is not None and frames <= LONGEST_FUSED_WINDOW and width in (16, 32, 64, 128):
        result: torch.Tensor = kernels.time_attention(qkv, frames, heads)
        return result
    rows = qkv.unflatten(0, (-1, frames)).unflatten(3, (3, heads, -1))
    query, key, value = rows.permute(3, 0, 2, 4, 1, 5).flatten(1, 2)
    looked = functional.scaled_dot_product_attention(query, key, value)
    looked = looked.unflatten(0, (len(rows), -1)).permute(0, 3, 1, 2, 4)
    return looked.flatten(3).flatten(0, 1)


def space_attention(qkv: torch.Tensor, heads: int) -> torch.Tensor:
    """Every pixel looks at its own image: N x P x 3C to N x P x C."""
    query, key, value = qkv.unflatten(2, (3, heads, -1)).permute(2, 0, 3, 1, 4)
    looked = functional.scaled_dot_product_attention(query, key, value)
    return looked.transpose(1, 2).flatten(2)


def convolve(
    conv: nn.Conv2d, x: torch.Tensor, height: int, width: int, *, has_bias: bool = False
) -> torch.Tensor:
    """A convolution in space: N x (height * width) x C to N x pixels x C', without the bias."""
    plane = x.view(len(x), height, width, -1).permute(0, 3, 1, 2)
    bias = conv.bias if has_bias else None
    made = functional.conv2d(plane, conv.weight, bias, conv.stride, conv.padding)
    return made.permute(0, 2, 3, 1).contiguous().flatten(1, 2)


def convolve_time(conv: nn.Conv3d, x: torch.Tensor, frames: int) -> torch.Tensor:
    """A convolution along time: (rows * frames) x P x C to the same, without the bias."""
    rows = x.unflatten(0, (-1, frames)).permute(0, 3, 1, 2)
    made = functional.conv2d(rows, conv.weight[..., 0], None, padding=(1, 0))
    return made.permute(0, 2, 3, 1).contiguous().flatten(0, 1)


def lay_pixelwise(network: nn.Module) -> None:
    """Lay the weights of convolutions out for pictures whose channels are neighbours."""
    last = torch.channels_last
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            module.weight.data = module.weight.data.contiguous(memory_format=last)
        elif isinstance(module, nn.Conv3d) and module.kernel_size[1:] == (1, 1):
            flat = module.weight.data[..., 0].contiguous(memory_format=last)
            module.weight.data = flat.unsqueeze(-1)
