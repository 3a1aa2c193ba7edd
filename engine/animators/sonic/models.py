"""Building each network from a weights folder: made without memory, then filled.

The networks take their turns on the card, so each is built when its stage begins and given up
when it ends; weights come from the disk (or the system's cache of it) straight to the device.
"""

from typing import Any

import torch
from accelerate import init_empty_weights
from diffusers import AutoencoderKLTemporalDecoder
from torch import nn
from transformers import (
    CLIPVisionConfig,
    CLIPVisionModelWithProjection,
    WhisperConfig,
    WhisperFeatureExtractor,
)
from transformers.models.whisper.modeling_whisper import WhisperEncoder

from engine.animators.sonic.audio_heads import AudioTokenHead, MotionBucketHead
from engine.animators.sonic.decoder import prepare_decoder
from engine.animators.sonic.listening import WhisperEars
from engine.animators.sonic.rife import FlowNet
from engine.animators.sonic.schedule import NoiseSchedule, karras_schedule
from engine.animators.sonic.shelf import WeightShelf
from engine.animators.sonic.unet import SonicUNet
from engine.animators.sonic.weight_files import Place, SonicFolder, Tensors
from engine.weights.catalog import SVD_FOLDER, WHISPER_FOLDER

RIFE_PREFIX = "module."
# Whisper's public file calls the encoder `model.encoder.`, a bare model `encoder.`.
ENCODER_MARK = "encoder."


class SonicModels:
    """Builds the networks of one weights folder.

    Args:
        folder: the weights.
        device: where the networks run.
        dtype: of the denoiser, the autoencoder and CLIP; the small networks stay in float32.
        shelf: keeps weights in main memory from one job to the next.
    """

    def __init__(
        self,
        folder: SonicFolder,
        device: torch.device,
        dtype: torch.dtype,
        shelf: WeightShelf | None = None,
    ) -> None:
        self.folder = folder
        self._shelf = shelf or WeightShelf()
        self.device = device
        self._half = Place(device, dtype)
        self._full = Place(device, torch.float32)

    def unet(self, *, is_streamed: bool = False) -> SonicUNet:
        """The denoiser, with its attention to speech.

        Args:
            is_streamed: keep the weights in main memory; they visit the device block by block.
        """
        if is_streamed:
            unet = self._unet(Place(torch.device("cpu"), self._half.dtype))
            unet.stream_weights(self.device)
            return unet
        return self._unet(self._half)

    def _unet(self, place: Place) -> SonicUNet:
        with init_empty_weights(include_buffers=False):
            unet = SonicUNet(self.folder.config(f"{SVD_FOLDER}/unet/config.json"))
        self._fill(unet.network, "Sonic/unet.pth", place)
        return unet

    def autoencoder(self) -> AutoencoderKLTemporalDecoder:
        """Photo to latent and latents to frames."""
        config = self.folder.config(f"{SVD_FOLDER}/vae/config.json")
        with init_empty_weights(include_buffers=False):
            vae = AutoencoderKLTemporalDecoder.from_config(config)
        name = f"{SVD_FOLDER}/vae/diffusion_pytorch_model.fp16.safetensors"
        self._fill(vae, name, self._half)
        prepare_decoder(vae)
        return vae

    def image_encoder(self) -> CLIPVisionModelWithProjection:
        """CLIP's vision half with its projection."""
        config = CLIPVisionConfig.from_dict(
            self.folder.config(f"{SVD_FOLDER}/image_encoder/config.json")
        )
        with init_empty_weights(include_buffers=False):
            encoder = CLIPVisionModelWithProjection(config)
        name = f"{SVD_FOLDER}/image_encoder/model.fp16.safetensors"
        tensors = self._tensors(name, self._half)
        # Older files hold a table of positions that newer versions compute.
        tensors.pop("vision_model.embeddings.position_ids", None)
        self.folder.fill(encoder, name, tensors, self._half)
        return encoder

    def ears(self) -> WhisperEars:
        """Whisper's encoder; the decoder is never read into memory."""
        config = WhisperConfig.from_dict(self.folder.config(f"{WHISPER_FOLDER}/config.json"))
        with init_empty_weights(include_buffers=False):
            encoder = WhisperEncoder(config)
        name = f"{WHISPER_FOLDER}/model.safetensors"
        tensors = {
            key.removeprefix("model.").removeprefix(ENCODER_MARK): tensor
            for key, tensor in self._tensors(name, self._full).items()
            if key.removeprefix("model.").startswith(ENCODER_MARK)
        }
        self.folder.fill(encoder, name, tensors, self._full)
        return WhisperEars(encoder, self._extractor())

    def _extractor(self) -> Any:  # noqa: ANN401 - untyped library
        config = self.folder.config(f"{WHISPER_FOLDER}/preprocessor_config.json")
        # The public file holds a table of mel filters; the library computes its own.
        config.pop("mel_filters", None)
        return WhisperFeatureExtractor(**config)

    def token_head(self) -> AudioTokenHead:
        """Whisper states to speech tokens."""
        name = "Sonic/audio2token.pth"
        tensors = self._shaping(name, ("proj1.weight", "proj3.weight", "norm.weight"))
        with init_empty_weights():
            head = AudioTokenHead.shaped_like(tensors)
        self.folder.fill(head, name, tensors, self._full)
        return head

    def bucket_head(self) -> MotionBucketHead:
        """Whisper states to motion buckets."""
        name = "Sonic/audio2bucket.pth"
        tensors = self._shaping(name, ("proj1.weight",))
        with init_empty_weights():
            head = MotionBucketHead.shaped_like(tensors)
        self.folder.fill(head, name, tensors, self._full)
        return head

    def _shaping(self, name: str, keys: tuple[str, ...]) -> Tensors:
        """The tensors of a file whose shapes decide the size of its network."""
        tensors = self._tensors(name, self._full)
        self.folder.require_keys(name, tensors, keys)
        return tensors

    def flow_net(self) -> FlowNet:
        """The network that makes frames between frames."""
        name = "RIFE/flownet.pkl"
        tensors = self._tensors(name, self._full)
        if any(key.startswith(RIFE_PREFIX) for key in tensors):
            tensors = {
                key.removeprefix(RIFE_PREFIX): tensor
                for key, tensor in tensors.items()
                if key.startswith(RIFE_PREFIX)
            }
        with init_empty_weights():
            net = FlowNet()
        self.folder.fill(net, name, tensors, self._full)
        return net

    def schedule(self, num_steps: int) -> NoiseSchedule:
        """Noise levels between the bounds of the published scheduler."""
        config = self.folder.config(f"{SVD_FOLDER}/scheduler/scheduler_config.json")
        bounds = {key: config[key] for key in ("sigma_min", "sigma_max") if key in config}
        return karras_schedule(num_steps, **bounds)

    def _fill(self, module: nn.Module, name: str, place: Place) -> None:
        self.folder.fill(module, name, self._tensors(name, place), place)

    def _tensors(self, name: str, place: Place) -> Tensors:
        path = self.folder.path(name)
        return self._shelf.tensors(path, place.dtype, lambda: self.folder.tensors(name))
