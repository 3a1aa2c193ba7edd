"""Full-size Sonic networks with made-up weights, in memory or as a folder in the public layout.

`python -m benchmarks.sonic_tree DIR` writes about 5 GB. Speed and memory do not depend on the
values of weights; pictures made with these are noise.
"""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from diffusers import AutoencoderKLTemporalDecoder
from safetensors.torch import save_file
from torch import nn
from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection, WhisperConfig
from transformers.models.whisper.modeling_whisper import WhisperEncoder

from engine.animators.sonic.audio_heads import AudioTokenHead, MotionBucketHead
from engine.animators.sonic.rife import FlowNet
from engine.animators.sonic.unet import SonicUNet
from engine.weights.catalog import SVD_FOLDER, WHISPER_FOLDER

UNET: dict[str, Any] = {
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
VAE: dict[str, Any] = {
    "in_channels": 3,
    "out_channels": 3,
    "latent_channels": 4,
    "layers_per_block": 2,
    "block_out_channels": [128, 256, 512, 512],
    "down_block_types": ["DownEncoderBlock2D"] * 4,
    "sample_size": 768,
    "scaling_factor": 0.18215,
    "force_upcast": True,
}
CLIP: dict[str, Any] = {
    "hidden_size": 1280,
    "intermediate_size": 5120,
    "num_hidden_layers": 32,
    "num_attention_heads": 16,
    "patch_size": 14,
    "image_size": 224,
    "projection_dim": 1024,
    "hidden_act": "gelu",
}
WHISPER: dict[str, Any] = {
    "d_model": 384,
    "encoder_layers": 4,
    "encoder_attention_heads": 6,
    "encoder_ffn_dim": 1536,
    "num_mel_bins": 80,
    "max_source_positions": 1500,
}
SCHEDULER: dict[str, Any] = {"sigma_min": 0.002, "sigma_max": 700.0}
EXTRACTOR: dict[str, Any] = {"feature_size": 80, "sampling_rate": 16_000, "n_fft": 400}


@contextmanager
def made_on(device: str, dtype: torch.dtype) -> Iterator[None]:
    """Networks made inside get their weights there and as that."""
    before = torch.get_default_dtype()
    torch.manual_seed(0)
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            yield
    finally:
        torch.set_default_dtype(before)


def make_unet(device: str, dtype: torch.dtype = torch.float16) -> SonicUNet:
    """The denoiser."""
    with made_on(device, dtype):
        unet = SonicUNet(UNET)
    # Some of diffusers' parameters are made on the CPU whatever the default is.
    unet.network.to(device, dtype).eval().requires_grad_(False)
    return unet


def make_vae(device: str, dtype: torch.dtype = torch.float16) -> AutoencoderKLTemporalDecoder:
    """The autoencoder."""
    with made_on(device, dtype):
        vae = AutoencoderKLTemporalDecoder.from_config(VAE)
    return vae.to(device, dtype).eval().requires_grad_(False)


def write_tree(root: Path, device: str) -> None:
    """Write every file of the set."""
    for name, config in (("unet", UNET), ("vae", VAE), ("image_encoder", CLIP)):
        _write_json(root / SVD_FOLDER / name / "config.json", config)
    _write_json(root / SVD_FOLDER / "scheduler" / "scheduler_config.json", SCHEDULER)
    _write_json(root / WHISPER_FOLDER / "config.json", WHISPER)
    _write_json(root / WHISPER_FOLDER / "preprocessor_config.json", EXTRACTOR)
    half, full = torch.float16, torch.float32
    _save(make_vae(device), root / SVD_FOLDER / "vae/diffusion_pytorch_model.fp16.safetensors")
    with made_on(device, half):
        clip = CLIPVisionModelWithProjection(CLIPVisionConfig(**CLIP)).to(half)
    _save(clip, root / SVD_FOLDER / "image_encoder/model.fp16.safetensors")
    with made_on(device, full):
        encoder = WhisperEncoder(WhisperConfig(**WHISPER))
    _save(encoder, root / WHISPER_FOLDER / "model.safetensors", "model.encoder.")
    (root / "Sonic").mkdir(parents=True)
    (root / "RIFE").mkdir()
    torch.save(_state(make_unet(device).network), root / "Sonic/unet.pth")
    with made_on(device, full):
        token_head = AudioTokenHead(10 * 5 * 384, 1024, 32, 1024)
        bucket_head = MotionBucketHead(50 * 384 + 1024, 1024)
        flow_net = FlowNet()
    torch.save(_state(token_head), root / "Sonic/audio2token.pth")
    torch.save(_state(bucket_head), root / "Sonic/audio2bucket.pth")
    torch.save(_state(flow_net, "module."), root / "RIFE/flownet.pkl")


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")


def _state(module: nn.Module, prefix: str = "") -> dict[str, torch.Tensor]:
    return {prefix + name: value.cpu().contiguous() for name, value in module.state_dict().items()}


def _save(module: nn.Module, path: Path, prefix: str = "") -> None:
    save_file(_state(module, prefix), path, metadata={"format": "pt"})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write a full-size folder of made-up weights.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments = parser.parse_args()
    write_tree(arguments.folder, arguments.device)
