"""The denoiser run plainly: diffusers' own forward pass with the attention as it is defined.

Nothing is skipped, shared, grouped or fused. It is the yardstick of the product's own forward
pass, for its numbers in the tests and for its speed in `benchmarks.sonic`.
"""

from dataclasses import dataclass

import torch
from diffusers import AutoencoderKLTemporalDecoder
from diffusers.models.attention_processor import Attention
from torch.nn import functional

from engine.animators.sonic.attention import (
    AudioAttention,
    AudioContext,
    TemporalAudioAttention,
    heads_apart,
)
from engine.animators.sonic.unet import SonicUNet


@dataclass
class _Look:
    """Attention to the photo and to the speech for one layer, in full."""

    processor: AudioAttention
    context: AudioContext
    frames: int

    def __call__(
        self,
        attn: Attention,
        hidden_states: torch.Tensor,
        encoder_hidden_states: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Queries to the image token and, added to that, to the speech tokens."""
        if isinstance(self.processor, TemporalAudioAttention):
            pixels = len(hidden_states) // len(self.context.image_mean)
            image = self.context.image_mean.repeat_interleave(pixels, dim=0)
            audio = self.context.audio_mean.repeat_interleave(pixels, dim=0)
            strength: torch.Tensor | float = 1.0
        else:
            image, audio = self.context.image_frames, self.context.audio_frames
            strength = _whole_mask(self.context, hidden_states)
        query = heads_apart(attn.to_q(hidden_states), attn.heads)
        seen = _attend(query, attn.to_k(image), attn.to_v(image))
        own = self.processor
        heard = _attend(query, own.to_k_ip[0](audio), own.to_v_ip[0](audio))
        return attn.to_out[0](seen + self.context.scale * strength * heard)


def _attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    heads = query.shape[1]
    looked = functional.scaled_dot_product_attention(
        query, heads_apart(key, heads), heads_apart(value, heads)
    )
    return looked.transpose(1, 2).flatten(2)


def _whole_mask(context: AudioContext, hidden: torch.Tensor) -> torch.Tensor:
    """1 x pixels x 1: the mask of this level, zero outside of its box."""
    level = context.masks[hidden.shape[1]]
    mask = hidden.new_zeros((level.height, level.width))
    box = mask[level.rows, level.columns]
    box.copy_(level.weights.view(box.shape))
    return mask.view(1, -1, 1)


@torch.inference_mode()
def predict_plainly(
    unet: SonicUNet,
    sample: torch.Tensor,
    timestep: float,
    time_ids: torch.Tensor,
    context: AudioContext,
) -> torch.Tensor:
    """What `SonicUNet.predict` gives, by the long way; the same arguments."""
    network = unet.network
    rows, frames = sample.shape[:2]
    layers = {
        name.removesuffix(".processor"): processor
        for name, processor in network.attn_processors.items()
        if ".attn2." in name
    }
    for name, processor in layers.items():
        # Assigned past the module's own bookkeeping, so that its weights keep their names.
        network.get_submodule(name).__dict__["processor"] = _Look(processor, context, frames)
        del network.get_submodule(name)._modules["processor"]
    try:
        unused = sample.new_zeros((rows, 1, 1))
        time = torch.tensor(timestep, dtype=torch.float32, device=sample.device)
        ids = time_ids.to(sample.device, sample.dtype)
        return network(sample, time, unused, ids).sample
    finally:
        for name, processor in layers.items():
            module = network.get_submodule(name)
            del module.__dict__["processor"]
            module._modules["processor"] = processor


@torch.inference_mode()
def decode_plainly(
    vae: AutoencoderKLTemporalDecoder, latents: torch.Tensor, chunk: int
) -> torch.Tensor:
    """What `decode_chunks` gives, by diffusers' own decoder."""
    weight = vae.quant_conv.weight
    scaled = (latents.to(weight.device) / vae.config.scaling_factor).to(weight.dtype)
    parts = scaled.split(chunk)
    return torch.cat([vae.decode(part, num_frames=len(part)).sample.float() for part in parts])
