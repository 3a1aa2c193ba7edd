# ruff: noqa: ANN001, ANN202, PLR0913, PLR0917 - compiled functions have their own types
# mypy: disable-error-code="no-untyped-def, import-not-found, no-any-return"
"""Triton kernels of `layers`: each reads and writes every element once.

The network is bound by memory between its products and convolutions; these kernels do in one
pass what the library's operations do in three to five. Pictures lie pixel by pixel (the channels
of a pixel are neighbours), so that products, convolutions and kernels share one layout. Sums
are taken in float32, in an order that never changes. Sizes of pictures are no part of what is
compiled, so that a new size costs nothing.
"""

import torch
import triton
import triton.language as tl

CHUNK_PIXELS = 1024
"""Pixels whose statistics one program gathers."""

_ROWS, _COLUMNS = 64, 64
_SQRT_HALF = tl.constexpr(0.7071067811865476)
_LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def _gelu(x):
    return x * 0.5 * (1.0 + tl.erf(x * _SQRT_HALF))


@triton.jit
def _spread_of(away, squares, count):
    """Mean distance from the anchor and sum of squared distances from the mean, per column."""
    lift = tl.sum(away, 0) / count
    return lift, tl.maximum(tl.sum(squares, 0) - lift * lift * count, 0.0)


@triton.jit(do_not_specialize=["pixels", "num_chunks"])
def _statistics_kernel(
    x, mean, spread, pixels, channels, num_chunks, stride_n,
    CHUNK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    n, k = tl.program_id(0), tl.program_id(1)
    columns = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    base = x + n.to(tl.int64) * stride_n
    first, end = k * CHUNK, tl.minimum((k + 1) * CHUNK, pixels)
    anchor = tl.load(base + first * channels + columns, mask=columns < channels, other=0.0)
    anchor = anchor.to(tl.float32)
    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    squares = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in range(first, end, ROWS):
        rows = start + tl.arange(0, ROWS)
        inside = (rows < end)[:, None] & (columns < channels)[None, :]
        value = tl.load(
            base + rows[:, None] * channels + columns[None, :], mask=inside, other=0.0
        ).to(tl.float32)
        away = tl.where(inside, value - anchor[None, :], 0.0)
        sums += away
        squares += away * away
    lift, total = _spread_of(sums, squares, (end - first).to(tl.float32))
    place = (n * num_chunks + k) * channels + columns
    tl.store(mean + place, anchor + lift, mask=columns < channels)
    tl.store(spread + place, total, mask=columns < channels)


@triton.jit(do_not_specialize=["images", "num_chunks", "group_channels", "pixels"])
def _settle_kernel(
    mean, spread, counts, vector, weight, bias, scale, shift,
    images, num_chunks, channels, group_channels, pixels, eps, stride_vector,
    HAS_VECTOR: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    unit, group = tl.program_id(0), tl.program_id(1)
    within = tl.arange(0, COLUMNS)
    columns = group * group_channels + within
    is_own = within < group_channels
    parts = images * num_chunks
    size = 1.0 * images * pixels * group_channels
    total = 0.0
    for start in range(0, parts, ROWS):
        part = start + tl.arange(0, ROWS)
        inside = (part < parts)[:, None] & is_own[None, :]
        place = (unit * parts + part)[:, None] * channels + columns[None, :]
        value = tl.load(mean + place, mask=inside, other=0.0)
        if HAS_VECTOR:
            image = unit * images + part // num_chunks
            value += tl.load(
                vector + image[:, None] * stride_vector + columns[None, :], mask=inside, other=0.0
            )
        count = tl.load(counts + part % num_chunks, mask=part < parts, other=0.0)
        total += tl.sum(tl.sum(value * count[:, None], 1), 0)
    middle = total / size
    around = 0.0
    for start in range(0, parts, ROWS):
        part = start + tl.arange(0, ROWS)
        inside = (part < parts)[:, None] & is_own[None, :]
        place = (unit * parts + part)[:, None] * channels + columns[None, :]
        value = tl.load(mean + place, mask=inside, other=0.0)
        if HAS_VECTOR:
            image = unit * images + part // num_chunks
            value += tl.load(
                vector + image[:, None] * stride_vector + columns[None, :], mask=inside, other=0.0
            )
        count = tl.load(counts + part % num_chunks, mask=part < parts, other=0.0)
        away = tl.where(inside, value - middle, 0.0)
        own = tl.load(spread + place, mask=inside, other=0.0)
        around += tl.sum(tl.sum(own + away * away * count[:, None], 1), 0)
    rate = 1.0 / tl.sqrt(around / size + eps)
    factor = tl.load(weight + columns, mask=is_own, other=0.0).to(tl.float32) * rate
    summand = tl.load(bias + columns, mask=is_own, other=0.0).to(tl.float32)
    for image in range(0, images):
        place = (unit * images + image) * channels + columns
        lifted = tl.zeros([COLUMNS], tl.float32) - middle
        if HAS_VECTOR:
            at = vector + (unit * images + image) * stride_vector + columns
            lifted += tl.load(at, mask=is_own, other=0.0)
        tl.store(scale + place, factor, mask=is_own)
        tl.store(shift + place, summand + lifted * factor, mask=is_own)


@triton.jit(do_not_specialize=["pixels"])
def _affine_kernel(
    x, scale, shift, out, pixels, channels,
    stride_n, stride_scale, out_stride_n, out_stride_p,
    HAS_SILU: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(0).to(tl.int64)
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (rows < pixels)[:, None] & (columns < channels)[None, :]
    at = x + n * stride_n + rows[:, None] * channels + columns[None, :]
    value = tl.load(at, mask=inside, other=0.0).to(tl.float32)
    factor = tl.load(scale + n * stride_scale + columns, mask=columns < channels, other=0.0)
    summand = tl.load(shift + n * stride_scale + columns, mask=columns < channels, other=0.0)
    value = value * factor[None, :] + summand[None, :]
    if HAS_SILU:
        value = value / (1.0 + tl.exp(-value))
    at = out + n * out_stride_n + rows[:, None] * out_stride_p + columns[None, :]
    tl.store(at, value.to(out.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["pixels", "num_chunks"])
def _blend_kernel(
    a, b, vector, out, mean, spread,
    share_a, share_b, pixels, channels, num_chunks,
    stride_a, stride_b, stride_vector, stride_out,
    HAS_STATISTICS: tl.constexpr, CHUNK: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    n, k = tl.program_id(0).to(tl.int64), tl.program_id(1)
    columns = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    first, end = k * CHUNK, tl.minimum((k + 1) * CHUNK, pixels)
    is_own = columns < channels
    summand = tl.load(vector + n * stride_vector + columns, mask=is_own, other=0.0)
    anchor = summand
    if HAS_STATISTICS:
        near = first * channels + columns
        anchor += tl.load(a + n * stride_a + near, mask=is_own, other=0.0).to(tl.float32) * share_a
        anchor += tl.load(b + n * stride_b + near, mask=is_own, other=0.0).to(tl.float32) * share_b
    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    squares = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in range(first, end, ROWS):
        rows = start + tl.arange(0, ROWS)
        inside = (rows < end)[:, None] & is_own[None, :]
        at = rows[:, None] * channels + columns[None, :]
        value = tl.load(a + n * stride_a + at, mask=inside, other=0.0).to(tl.float32) * share_a
        value += tl.load(b + n * stride_b + at, mask=inside, other=0.0).to(tl.float32) * share_b
        value += summand[None, :]
        tl.store(out + n * stride_out + at, value.to(out.dtype.element_ty), mask=inside)
        if HAS_STATISTICS:
            away = tl.where(inside, value - anchor[None, :], 0.0)
            sums += away
            squares += away * away
    if HAS_STATISTICS:
        lift, total = _spread_of(sums, squares, (end - first).to(tl.float32))
        place = (n * num_chunks + k) * channels + columns
        tl.store(mean + place, anchor + lift, mask=is_own)
        tl.store(spread + place, total, mask=is_own)


@triton.jit(do_not_specialize=["pixels"])
def _layer_norm_kernel(
    x, vector, into, weight, bias, out, pixels, channels, eps,
    stride_n, stride_vector,
    HAS_VECTOR: tl.constexpr, HAS_SUM: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    is_own = columns < channels
    inside = (rows < pixels)[:, None] & is_own[None, :]
    at = rows[:, None] * channels + columns[None, :]
    value = tl.load(x + n * stride_n + at, mask=inside, other=0.0).to(tl.float32)
    if HAS_VECTOR:
        value += tl.load(vector + n * stride_vector + columns, mask=is_own, other=0.0)[None, :]
    place = n * pixels * channels + at
    if HAS_SUM:
        value += tl.load(into + place, mask=inside, other=0.0).to(tl.float32)
        tl.store(into + place, value.to(into.dtype.element_ty), mask=inside)
    middle = tl.sum(tl.where(inside, value, 0.0), 1) / channels
    away = tl.where(inside, value - middle[:, None], 0.0)
    rate = 1.0 / tl.sqrt(tl.sum(away * away, 1) / channels + eps)
    factor = tl.load(weight + columns, mask=is_own, other=0.0).to(tl.float32)
    summand = tl.load(bias + columns, mask=is_own, other=0.0).to(tl.float32)
    value = away * rate[:, None] * factor[None, :] + summand[None, :]
    tl.store(out + place, value.to(out.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["tokens"])
def _gate_kernel(
    x, out, tokens, width,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (rows < tokens)[:, None] & (columns < width)[None, :]
    at = x + rows[:, None] * (2 * width) + columns[None, :]
    value = tl.load(at, mask=inside, other=0.0).to(tl.float32)
    gate = tl.load(at + width, mask=inside, other=0.0).to(tl.float32)
    place = out + rows[:, None] * width + columns[None, :]
    tl.store(place, (value * _gelu(gate)).to(out.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["frames", "pixels", "heads"])
def _time_attention_kernel(
    qkv, out, frames, pixels, heads, scale,
    FRAMES: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    place = tl.program_id(0)
    head, pixel = place % heads, place // heads
    row = tl.program_id(1).to(tl.int64)
    order, width = tl.arange(0, FRAMES), tl.arange(0, WIDTH)
    channels = heads * WIDTH
    token = (row * frames + order) * pixels + pixel
    inside = (order < frames)[:, None]
    at = qkv + token[:, None] * (3 * channels) + head * WIDTH + width[None, :]
    query = tl.load(at, mask=inside, other=0.0)
    key = tl.load(at + channels, mask=inside, other=0.0)
    value = tl.load(at + 2 * channels, mask=inside, other=0.0)
    likeness = tl.dot(query, tl.trans(key)) * (scale * _LOG2_E)
    likeness = tl.where((order < frames)[None, :], likeness, float("-inf"))
    weight = tl.exp2(likeness - tl.max(likeness, 1)[:, None])
    seen = tl.dot(weight.to(value.dtype), value) / tl.sum(weight, 1)[:, None]
    at = out + token[:, None] * channels + head * WIDTH + width[None, :]
    tl.store(at, seen.to(out.dtype.element_ty), mask=inside)


def statistics(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and sum of squared distances of every channel in every chunk: N x K x C each."""
    images, pixels, channels = x.shape
    num_chunks = triton.cdiv(pixels, CHUNK_PIXELS)
    mean = x.new_empty((images, num_chunks, channels), dtype=torch.float32)
    spread = torch.empty_like(mean)
    grid = (images, num_chunks, triton.cdiv(channels, _COLUMNS))
    _statistics_kernel[grid](
        x, mean, spread, pixels, channels, num_chunks, x.stride(0),
        CHUNK=CHUNK_PIXELS, ROWS=_ROWS, COLUMNS=_COLUMNS,
    )  # fmt: skip
    return mean, spread


def settle(
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
    _settle_kernel[(total // images, norm.num_groups)](
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
    _affine_kernel[grid](
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
    _blend_kernel[(images, num_chunks, triton.cdiv(channels, _COLUMNS))](
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
    _layer_norm_kernel[(triton.cdiv(pixels, rows), images)](
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
    _gate_kernel[(triton.cdiv(tokens, rows), triton.cdiv(width, columns))](
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
    _time_attention_kernel[(pixels * heads, images // frames)](
        qkv, out, frames, pixels, heads, width**-0.5,
        FRAMES=max(16, triton.next_power_of_2(frames)), WIDTH=width, num_warps=1,
    )  # fmt: skip
    return out
