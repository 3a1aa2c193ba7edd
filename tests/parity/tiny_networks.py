"""The product's networks at the tiny sizes of a fixture set, and its weights as a folder."""

from functools import cached_property

import torch
from diffusers import AutoencoderKLTemporalDecoder
from safetensors.torch import save_file
from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection, WhisperConfig
from transformers.models.whisper.feature_extraction_whisper import WhisperFeatureExtractor
from transformers.models.whisper.modeling_whisper import WhisperEncoder

from engine.animators.sonic.audio_heads import AudioTokenHead, MotionBucketHead
from engine.animators.sonic.listening import WhisperEars
from engine.animators.sonic.rife import FlowNet
from engine.animators.sonic.unet import SonicUNet

SVD = "stable-video-diffusion-img2vid-xt"


def ready(module, tensors):
    module.load_state_dict(tensors, strict=True)
    return module.eval().requires_grad_(False)


class TinyNetworks:
    """Every network with the weights of the recipe, in float32 on the CPU."""

    def __init__(self, fixtures):
        self._set = fixtures

    @cached_property
    def unet(self):
        unet = SonicUNet(self._set.config("unet"))
        ready(unet.network, self._set.weights("unet"))
        return unet

    @cached_property
    def vae(self):
        vae = AutoencoderKLTemporalDecoder.from_config(self._set.config("vae"))
        return ready(vae, self._set.weights("vae"))

    @cached_property
    def clip(self):
        config = CLIPVisionConfig.from_dict(self._set.config("clip"))
        return ready(CLIPVisionModelWithProjection(config), self._set.weights("clip"))

    @cached_property
    def ears(self):
        encoder = WhisperEncoder(WhisperConfig.from_dict(self._set.config("whisper")))
        tensors = {
            key.removeprefix("encoder."): tensor
            for key, tensor in self._set.weights("whisper").items()
            if key.startswith("encoder.")
        }
        extractor = WhisperFeatureExtractor(
            **self._set.config("whisper", "preprocessor_config.json")
        )
        return WhisperEars(ready(encoder, tensors), extractor)

    @cached_property
    def token_head(self):
        tensors = self._set.weights("audio2token")
        return ready(AudioTokenHead.shaped_like(tensors), tensors)

    @cached_property
    def bucket_head(self):
        tensors = self._set.weights("audio2bucket")
        return ready(MotionBucketHead.shaped_like(tensors), tensors)

    @cached_property
    def flow_net(self):
        return ready(FlowNet(), self._set.weights("rife"))


def write_weights_folder(fixtures, root):
    """The whole set in the public layout, all in float32."""
    for part, folder in (
        ("vae", f"{SVD}/vae"),
        ("clip", f"{SVD}/image_encoder"),
        ("unet", f"{SVD}/unet"),
        ("scheduler", f"{SVD}/scheduler"),
        ("whisper", "whisper-tiny"),
    ):
        (root / folder).mkdir(parents=True)
        for config in (fixtures.root / "configs" / part).iterdir():
            (root / folder / config.name).write_bytes(config.read_bytes())
    (root / "Sonic").mkdir()
    (root / "RIFE").mkdir()
    save_file(
        fixtures.weights("vae"), root / SVD / "vae" / "diffusion_pytorch_model.fp16.safetensors"
    )
    save_file(fixtures.weights("clip"), root / SVD / "image_encoder" / "model.fp16.safetensors")
    # The public Whisper file is that of the whole speech recogniser.
    whisper = {f"model.{key}": tensor for key, tensor in fixtures.weights("whisper").items()}
    save_file(whisper, root / "whisper-tiny" / "model.safetensors")
    for part in ("unet", "audio2token", "audio2bucket"):
        torch.save(fixtures.weights(part), root / "Sonic" / f"{part}.pth")
    flow = {f"module.{key}": tensor for key, tensor in fixtures.weights("rife").items()}
    torch.save(flow, root / "RIFE" / "flownet.pkl")
    return root
