# mypy: disable-error-code="import-not-found, no-any-return"
"""Triton kernels of `layers` for half precision on a card: how each is started.

What they compute is in `triton_code`.
"""

import torch
import triton

from engine.animators.sonic.triton_code import (
    affine_kernel,
    blend_kernel,
    gate_kernel,
    layer_norm_kernel,
    settle_kernel,
    statistics_kernel,
    time_attention_kernel,
)

CHUNK_PIXELS = 1024
"""Pixels whose statistics one program gathers."""

_ROWS, _COLUMNS = 64, 64


def statistics(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and sum of squared distances of every channel in every chunk: N x K x C each."""
    images, pixels, channels = x.shape
    num_chunks = triton.cdiv(pixels, CHUNK_PIXELS)
    mean = x.new_empty((images, num_chunks, channels), dtype=torch.float32)
    spread = torch.empty_like(mean)
    grid = (images, num_chunks, triton.cdiv(channels, _COLUMNS))
    statistics_kernel[grid](
        x, mean, spread, pixels, channels, num_chunks, x.stride(0),
        CHUNK=CHUNK_PIXELS, ROWS=_ROWS, COLUMNS=_COLUMNS,
    )  # fmt: skip
    return mean, spread


def settle(  # noqa: PLR0913, PLR0917 - what a group norm needs
    mean: torch.Tensor,
    spread: torch.Tensor,
    counts: torch.Tensor,
    pixels: int,
    vector: torch.Tensor | None,
    norm: torch.nn.GroupNorm,
    images: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Factor and summand of every image and channel (N x C each) of a group norm."""
    total, num_chunks, channels = mean.shape
    scale = mean.new_empty((total, channels))
    shift = torch.empty_like(scale)
    group_channels = channels // norm.num_groups
    settle_kernel[(total // images, norm.num_groups)](
        mean, spread, counts, mean if vector is None else vector, norm.weight, norm.bias,
        scale, shift, images, num_chunks, channels, group_channels, pixels, norm.eps,
        0 if vector is None else vector.stride(0),
        HAS_VECTOR=vector is not None, ROWS=32, COLUMNS=triton.next_power_of_2(group_channels),
    )  # fmt: skip
    return scale, shift


def affine(
    x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor, out: torch.Tensor, *, has_silu: bool
) -> None:
    """Write `x * scale + shift`, through SiLU if wished, to `out` (strided), all N x P x C."""
    images, pixels, channels = x.shape
    rows = 2 * _ROWS
    grid = (images, triton.cdiv(pixels, rows), triton.cdiv(channels, _COLUMNS))
    affine_kernel[grid](
        x, scale, shift, out, pixels, channels,
        x.stride(0), scale.stride(0), out.stride(0), out.stride(1),
        HAS_SILU=has_silu, ROWS=rows, COLUMNS=_COLUMNS,
    )  # fmt: skip


def blend(
    a: torch.Tensor,
    b: torch.Tensor,
    shares: tuple[float, float],
    vector: torch.Tensor,
    out: torch.Tensor,
    *,
    has_statistics: bool,
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Write the weighted sum of `a` and `b` plus a vector for each image to `out`."""
    images, pixels, channels = a.shape
    num_chunks = triton.cdiv(pixels, CHUNK_PIXELS)
    shape = (images, num_chunks, channels) if has_statistics else (1,)
    mean = a.new_empty(shape, dtype=torch.float32)
    spread = torch.empty_like(mean)
    blend_kernel[(images, num_chunks, triton.cdiv(channels, _COLUMNS))](
        a, b, vector, out, mean, spread, *shares, pixels, channels, num_chunks,
        a.stride(0), b.stride(0), vector.stride(0), out.stride(0),
        HAS_STATISTICS=has_statistics, CHUNK=CHUNK_PIXELS, ROWS=_ROWS, COLUMNS=_COLUMNS,
    )  # fmt: skip
    return (mean, spread) if has_statistics else None


def layer_norm(
    x: torch.Tensor,
    vector: torch.Tensor | None,
    norm: torch.nn.LayerNorm,
    into: torch.Tensor | None = None,
) -> torch.Tensor:
    """The layer norm of `x` plus a vector for each image, N x P x C; contiguous.

    With `into` (contiguous), that sum is first added to it, in place, and the norm is of the whole.
    """
    images, pixels, channels = x.shape
    out = x.new_empty(x.shape)
    columns = triton.next_power_of_2(channels)
    rows = max(1, 4096 // columns)
    layer_norm_kernel[(triton.cdiv(pixels, rows), images)](
        x, x if vector is None else vector, x if into is None else into,
        norm.weight, norm.bias, out, pixels, channels, norm.eps,
        x.stride(0), 0 if vector is None else vector.stride(0),
        HAS_VECTOR=vector is not None, HAS_SUM=into is not None, ROWS=rows, COLUMNS=columns,
    )  # fmt: skip
    return out


def gate(x: torch.Tensor) -> torch.Tensor:
    """T x 2D to T x D: the first half times GELU of the second."""
    tokens, width = x.shape[0], x.shape[1] // 2
    out = x.new_empty((tokens, width))
    rows, columns = 16, 256
    gate_kernel[(triton.cdiv(tokens, rows), triton.cdiv(width, columns))](
        x, out, tokens, width, ROWS=rows, COLUMNS=columns
    )
    return out


def time_attention(qkv: torch.Tensor, frames: int, heads: int) -> torch.Tensor:
    """Every pixel looks at itself in the frames of its row.

    Args:
        qkv: (rows * frames) x P x 3C, contiguous: query, key and value.
        frames: of a row, up to 32.
        heads: of the attention.

    Returns:
        (rows * frames) x P x C.
    """
    images, pixels, channels = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    width = channels // heads
    out = qkv.new_empty((images, pixels, channels))
    time_attention_kernel[(pixels * heads, images // frames)](
        qkv, out, frames, pixels, heads, width**-0.5,
        FRAMES=max(16, triton.next_power_of_2(frames)), WIDTH=width, num_warps=1,
    )  # fmt: skip
    return out
