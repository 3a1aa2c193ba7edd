"""The networks at their public sizes, without memory for their weights."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from benchmarks.sonic_plain import predict_plainly  # noqa: E402
from engine.animators.sonic.attention import AudioContext, mask_levels  # noqa: E402
from engine.animators.sonic.audio_heads import AudioTokenHead, MotionBucketHead  # noqa: E402
from engine.animators.sonic.memory import GroupSizes  # noqa: E402
from engine.animators.sonic.rife import FlowNet  # noqa: E402
from engine.animators.sonic.unet import SonicUNet  # noqa: E402

SVD_XT = {
    "sample_size": 96,
    "in_channels": 8,
    "out_channels": 4,
    "block_out_channels": [320, 640, 1280, 1280],
    "layers_per_block": 2,
    "cross_attention_dim": 1024,
    "transformer_layers_per_block": 1,
    "num_attention_heads": [5, 10, 20, 20],
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 768,
    "num_frames": 25,
}
PUBLIC_TENSORS = 1492
SPEECH_TENSORS = 64
MILLION = 1_000_000


def millions(module):
    return sum(weight.numel() for weight in module.parameters()) / MILLION


def test_the_denoiser_has_the_public_tensors():
    with torch.device("meta"):
        network = SonicUNet(SVD_XT).network

    names = list(network.state_dict())

    assert len(names) == PUBLIC_TENSORS
    assert len([name for name in names if "_ip.0.weight" in name]) == SPEECH_TENSORS
    assert millions(network) == pytest.approx(1575.7, abs=0.1)


def test_the_small_networks_have_the_public_sizes():
    with torch.device("meta"):
        sizes = [
            millions(AudioTokenHead(10 * 5 * 384, 1024, 32, 1024)),
            millions(MotionBucketHead(50 * 384 + 1024, 1024)),
            millions(FlowNet()),
        ]

    assert sizes == pytest.approx([54.3, 21.8, 3.0], abs=0.06)


@pytest.mark.parametrize("sizes", [GroupSizes(), GroupSizes(3, 10)], ids=str)
def test_two_layers_a_block_and_any_shape_agree_with_the_stock_forward(sizes):
    """What the fixtures do not hold: the public number of layers, other frames and sides."""
    torch.manual_seed(0)
    small = SVD_XT | {
        "block_out_channels": [32, 64, 64, 64],
        "num_attention_heads": [1, 2, 2, 2],
        "cross_attention_dim": 24,
        "addition_time_embed_dim": 8,
        "projection_class_embeddings_input_dim": 24,
    }
    unet = SonicUNet(small, sizes)
    unet.network.eval().requires_grad_(False)
    rows, frames = 2, 4
    mask = torch.zeros(1, 1, 192, 64)
    mask[..., 40:120, 10:50] = 1
    levels = mask_levels(mask, unet.num_levels, torch.device("cpu"), torch.float32)
    tokens = torch.randn(rows, 1, 24).expand(rows, frames, 24)
    context = AudioContext(tokens, torch.randn(rows, frames, 5, 24), levels)
    sample, ids = torch.randn(rows, frames, 8, 24, 8), torch.rand(rows, 3) * 20

    out = unet.predict(sample, 0.7, ids, context)

    stock = predict_plainly(unet, sample, 0.7, ids, context)
    assert (out - stock).abs().max().item() <= 5e-6 * stock.abs().max().item() + 1e-5
