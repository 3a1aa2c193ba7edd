"""The kernels for half precision on a card against the same functions in plain torch.

They run on a card, or anywhere under Triton's interpreter (`TRITON_INTERPRET=1`).
"""

import os

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from engine.animators.sonic import kernels, layers  # noqa: E402
from engine.animators.sonic.layers import Statistics  # noqa: E402

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
if not INTERPRETED:
    pytestmark = pytest.mark.gpu
DEVICE = "cpu" if INTERPRETED else "cuda"
HALF_STEP = 2e-3  # of a value near 2 in float16


def random(*shape, dtype=torch.float16, seed=0):
    generator = torch.Generator("cpu").manual_seed(seed)
    return torch.randn(shape, generator=generator).to(DEVICE, dtype)


def near(made, expected, tolerance=HALF_STEP):
    assert made.shape == expected.shape
    assert (made.float() - expected.float()).abs().max().item() <= tolerance


def group_norm(channels, groups=32):
    norm = nn.GroupNorm(groups, channels, eps=1e-6).to(DEVICE)
    norm.weight.data, norm.bias.data = random(channels, seed=1).float(), random(channels).float()
    return norm.half()


def measured(x):
    counts = layers._counts(x.shape[1], kernels.CHUNK_PIXELS, x.device)
    return Statistics(*kernels.statistics(x), counts, x.shape[1])


@pytest.mark.parametrize("pixels", [7, 64, 1100])
@pytest.mark.parametrize("images", [1, 4])
@pytest.mark.parametrize("channels", [32, 96])
def test_a_group_norm_over_one_or_more_images(pixels, images, channels):
    x, vector = random(4, pixels, channels) + 3, random(4, channels, seed=2).float()
    vector = vector if images == 1 else vector[:1].expand(4, -1)
    norm = group_norm(channels)
    seen = measured(x)

    scale, shift = kernels.settle(seen.mean, seen.spread, seen.counts, pixels, vector, norm, images)
    out = torch.empty_like(x)
    kernels.affine(x, scale, shift, out, has_silu=True)

    whole = (x.float() + vector[:, None]).unflatten(0, (-1, images)).permute(0, 3, 1, 2)
    normed = functional.group_norm(
        whole, 32, norm.weight.float(), norm.bias.float(), norm.eps
    ).permute(0, 2, 3, 1)
    near(out, functional.silu(normed.flatten(0, 1)), 8e-3)


def test_parts_with_groups_that_span_both_and_a_wider_target():
    first, second = random(2, 70, 64), random(2, 70, 32, seed=1)
    joined = torch.cat([first, second], dim=2)
    norm = group_norm(96)
    seen = Statistics.of_channels([measured(first), measured(second)])
    scale, shift = kernels.settle(seen.mean, seen.spread, seen.counts, 70, None, norm, 1)
    out = torch.empty_like(joined)

    kernels.affine(first, scale[:, :64], shift[:, :64], out[..., :64], has_silu=False)
    kernels.affine(second, scale[:, 64:], shift[:, 64:], out[..., 64:], has_silu=False)

    expected = functional.group_norm(
        joined.float().transpose(1, 2), 32, norm.weight.float(), norm.bias.float(), norm.eps
    )
    near(out, expected.transpose(1, 2), 8e-3)


@pytest.mark.parametrize("has_statistics", [True, False])
def test_a_blend_of_stretches_of_pixels(has_statistics):
    whole, other = random(3, 1300, 64), random(3, 1200, 64, seed=1)
    part, vector = whole[:, 100:], random(3, 64, seed=2).float()
    expected = 0.75 * part.float() + 0.25 * other.float() + vector[:, None]
    before = whole[:, :100].clone()

    seen = kernels.blend(part, other, (0.75, 0.25), vector, part, has_statistics=has_statistics)

    near(part, expected)
    assert torch.equal(whole[:, :100], before)
    if has_statistics:
        counts = layers._counts(1200, kernels.CHUNK_PIXELS, part.device)
        mean = (seen[0] * counts[None, :, None]).sum(1) / 1200
        near(mean, expected.mean(1), 1e-4)
        chunk_mean = expected[:, : kernels.CHUNK_PIXELS].mean(1, keepdim=True)
        spread = (expected[:, : kernels.CHUNK_PIXELS] - chunk_mean).square().sum(1)
        near(seen[1][:, 0] / kernels.CHUNK_PIXELS, spread / kernels.CHUNK_PIXELS, 1e-3)


@pytest.mark.parametrize("channels", [32, 320])
@pytest.mark.parametrize("is_sum", [True, False])
def test_a_layer_norm_with_a_vector_and_into_a_sum(channels, is_sum):
    x, vector = random(2, 90, channels)[:, 10:], random(2, channels, seed=3).float()
    norm = nn.LayerNorm(channels).to(DEVICE).half()
    into = random(2, 80, channels, seed=4) if is_sum else None
    value = x.float() + vector[:, None] + (into.float() if is_sum else 0)

    out = kernels.layer_norm(x, vector, norm, into)

    near(out, functional.layer_norm(value, (channels,)), 4e-3)
    if is_sum:
        near(into, value, 4e-3)


def test_gates():
    wide = random(50, 96)
    value, gate = wide.float().chunk(2, dim=1)

    near(kernels.gate(wide), value * functional.gelu(gate), 8e-3)


@pytest.mark.parametrize(("frames", "heads", "width"), [(25, 2, 64), (5, 2, 16), (16, 1, 32)])
def test_attention_along_time(frames, heads, width):
    qkv = random(2 * frames, 9, 3 * heads * width)

    made = kernels.time_attention(qkv, frames, heads)

    near(made, layers.time_attention(qkv.float().cpu(), frames, heads).to(DEVICE), 3e-3)
