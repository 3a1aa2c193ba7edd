"""Every file of every set of weights: source, place, size and licence. Pure data.

Voices have a file of their own, `engine.weights.voices`.
"""

from engine.errors import ErrorCode, InputError
from engine.weights.recogniser import RECOGNISER
from engine.weights.translator import TRANSLATOR
from engine.weights.voices import VOICE_SETS
from engine.weights.weight_files import MEGABYTE, WeightFile, WeightSet

SONIC_REPO = "LeonJoe13/Sonic"
SVD_REPO = "stabilityai/stable-video-diffusion-img2vid-xt"
WHISPER_REPO = "openai/whisper-tiny"

SONIC_LICENCE = "CC BY-NC-SA 4.0: non-commercial use only"
SVD_LICENCE = "Stability AI Community License: accept it on the model's page first"
WHISPER_LICENCE = "Apache-2.0"

SVD_FOLDER = "stable-video-diffusion-img2vid-xt"
WHISPER_FOLDER = "whisper-tiny"


def _sonic(path: str, max_bytes: int) -> WeightFile:
    converted = path.rsplit(".", 1)[0] + ".safetensors"
    return WeightFile(path, SONIC_REPO, path, max_bytes, SONIC_LICENCE, also_named=(converted,))


def _svd(path: str, max_bytes: int = 10_000) -> WeightFile:
    place = f"{SVD_FOLDER}/{path}"
    other = (place.replace(".fp16.", "."),) if ".fp16." in place else ()
    return WeightFile(place, SVD_REPO, path, max_bytes, SVD_LICENCE, also_named=other)


def _whisper(path: str, max_bytes: int = 200_000) -> WeightFile:
    place = f"{WHISPER_FOLDER}/{path}"
    other = (place.replace("model.safetensors", "pytorch_model.bin"),)
    also_named = other if path == "model.safetensors" else ()
    return WeightFile(place, WHISPER_REPO, path, max_bytes, WHISPER_LICENCE, also_named=also_named)


# Parameters: network 1,575.7 M, token head 54.3 M, bucket head 21.8 M, flow network 3.0 M
# (with block_tea), all at most float32; autoencoder 97.7 M and CLIP 632.1 M in float16;
# Whisper tiny 37.8 M in float32. The sizes add 1% for names and headers.
SONIC = WeightSet(
    name="sonic",
    title="Sonic, the diffusion animator",
    notice=(
        "Sonic's weights may be used for non-commercial purposes only (CC BY-NC-SA 4.0); the "
        "Stable Video Diffusion parts come under the Stability AI Community License, which must "
        "be accepted on their page; Whisper is Apache-2.0."
    ),
    files=(
        _svd("unet/config.json"),
        _svd("vae/config.json"),
        _svd("image_encoder/config.json"),
        _svd("scheduler/scheduler_config.json"),
        _whisper("config.json"),
        _whisper("preprocessor_config.json"),
        _sonic("RIFE/flownet.pkl", 13 * MEGABYTE),
        _sonic("Sonic/audio2bucket.pth", 89 * MEGABYTE),
        _sonic("Sonic/audio2token.pth", 220 * MEGABYTE),
        _whisper("model.safetensors", 153 * MEGABYTE),
        _svd("vae/diffusion_pytorch_model.fp16.safetensors", 198 * MEGABYTE),
        _svd("image_encoder/model.fp16.safetensors", 1_278 * MEGABYTE),
        _sonic("Sonic/unet.pth", 6_370 * MEGABYTE),
    ),
)

CATALOG: tuple[WeightSet, ...] = (SONIC,)
"""What `weights list` always shows."""

EVERYTHING: tuple[WeightSet, ...] = (*CATALOG, RECOGNISER, TRANSLATOR, *VOICE_SETS)
"""All that can be fetched by name."""


def find_set(name: str) -> WeightSet:
    """The set called `name`.

    Raises:
        InputError: WEIGHTS_UNKNOWN.
    """
    for weight_set in EVERYTHING:
        if weight_set.name == name:
            return weight_set
    known = ", ".join(weight_set.name for weight_set in CATALOG)
    raise InputError(ErrorCode.WEIGHTS_UNKNOWN, name=name, known=known)
