# ruff: noqa: ANN001, ANN201, ANN202, PLR0913, PLR0917 - compiled functions have their own types
# mypy: disable-error-code="no-untyped-def, import-not-found, no-any-return"
"""The code of `kernels`, compiled by Triton: each reads and writes every element once.

The network is bound by memory between its products and convolutions; these kernels do in one
pass what the library's operations do in three to five. Pictures lie pixel by pixel (the channels
of a pixel are neighbours), so that products, convolutions and kernels share one layout. Sums
are taken in float32, in an order that never changes. Sizes of pictures are no part of what is
compiled, so that a new size costs nothing.
"""

import triton
import triton.language as tl

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
def statistics_kernel(
    x, mean, spread, pixels, channels, num_chunks, stride_n,
    CHUNK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Mean and spread of every channel in one chunk of an image's pixels."""
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
def settle_kernel(
    mean, spread, counts, vector, weight, bias, scale, shift,
    images, num_chunks, channels, group_channels, pixels, eps, stride_vector,
    HAS_VECTOR: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """One group of channels of one unit of images: its norm as factor and summand."""
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
def affine_kernel(
    x, scale, shift, out, pixels, channels,
    stride_n, stride_scale, out_stride_n, out_stride_p,
    HAS_SILU: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """A tile times a factor plus a summand for each channel, through SiLU if wished."""
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
def blend_kernel(
    a, b, vector, out, mean, spread,
    share_a, share_b, pixels, channels, num_chunks,
    stride_a, stride_b, stride_vector, stride_out,
    HAS_STATISTICS: tl.constexpr, CHUNK: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The weighted sum of two pictures plus a vector, and its statistics if wished."""
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
def layer_norm_kernel(
    x, vector, into, weight, bias, out, pixels, channels, eps,
    stride_n, stride_vector,
    HAS_VECTOR: tl.constexpr, HAS_SUM: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The norm of some pixels over their channels, after what is to be added."""
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
def gate_kernel(
    x, out, tokens, width,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The first half of each row times GELU of the second."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (rows < tokens)[:, None] & (columns < width)[None, :]
    at = x + rows[:, None] * (2 * width) + columns[None, :]
    value = tl.load(at, mask=inside, other=0.0).to(tl.float32)
    gate = tl.load(at + width, mask=inside, other=0.0).to(tl.float32)
    place = out + rows[:, None] * width + columns[None, :]
    tl.store(place, (value * _gelu(gate)).to(out.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["frames", "pixels", "heads"])
def time_attention_kernel(
    qkv, out, frames, pixels, heads, scale,
    FRAMES: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """One head of one pixel: its frames look at each other."""
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
