"""Voices that come by a download: where their files are, how large, and under which licence.

Pure data. Paths, sizes and licences of Piper's voices are those of the list and the model cards
that its makers publish; each set is fetched by `voices get ID`.
"""

from dataclasses import dataclass
from typing import Literal

from engine.weights.weight_files import MEGABYTE, WeightFile, WeightSet

PIPER_REPO = "rhasspy/piper-voices"
PIPER_REVISION = "v1.0.0"
_MEDIUM_BYTES = 63_201_294
_MANY_SPEAKERS_BYTES = 78 * MEGABYTE
_CC0 = "CC0-1.0 recordings"
_FROM_LESSAC = "; trained on from a voice of the Blizzard 2013 research recordings"


@dataclass(frozen=True)
class PiperVoice:
    """One voice of Piper's list.

    Attributes:
        key: as Piper names it: language, region, speaker and quality.
        title: what lists show.
        language: BCP 47 tag.
        licence: of the recordings, in words; what else it was trained from.
        gender: `female`, `male` or None.
        size_bytes: of the network.
        sample_rate_hz: of its sound.
    """

    key: str
    title: str
    language: str
    licence: str
    gender: Literal["female", "male"] | None = None
    size_bytes: int = _MEDIUM_BYTES
    sample_rate_hz: int = 22050

    @property
    def set_name(self) -> str:
        """Name of its set of files."""
        return f"piper-{self.key}"

    @property
    def repo_folder(self) -> str:
        """Where its files lie in the repository."""
        region, speaker, quality = self.key.rsplit("-", 2)
        return f"{region.partition('_')[0]}/{region}/{speaker}/{quality}"

    @property
    def weight_set(self) -> WeightSet:
        """Its files; the configuration comes first, so that a broken download is no voice."""
        names = ((f"{self.key}.onnx.json", 20_000), (f"{self.key}.onnx", self.size_bytes))
        return WeightSet(
            name=self.set_name,
            title=f"Piper voice {self.title}",
            notice=f"Voice {self.title}: {self.licence}.",
            files=tuple(
                WeightFile(
                    path=name,
                    repo=PIPER_REPO,
                    repo_path=f"{self.repo_folder}/{name}",
                    max_bytes=size_bytes,
                    licence=self.licence,
                    revision=PIPER_REVISION,
                )
                for name, size_bytes in names
            ),
        )


PIPER_VOICES = (
    PiperVoice("de_DE-thorsten-medium", "Thorsten", "de", _CC0 + _FROM_LESSAC, "male"),
    PiperVoice("nl_NL-mls-medium", "MLS", "nl", "CC-BY-4.0", size_bytes=_MANY_SPEAKERS_BYTES),
    PiperVoice("pl_PL-gosia-medium", "Gosia", "pl", _CC0 + _FROM_LESSAC, "female"),
    PiperVoice("pl_PL-darkman-medium", "Darkman", "pl", _CC0 + _FROM_LESSAC, "male"),
    PiperVoice("ru_RU-dmitri-medium", "Dmitri", "ru", _CC0 + _FROM_LESSAC, "male"),
    PiperVoice(
        "uk_UA-ukrainian_tts-medium", "Ukrainian", "uk", _CC0, size_bytes=_MANY_SPEAKERS_BYTES
    ),
    PiperVoice("sv_SE-nst-medium", "NST", "sv", _CC0),
    PiperVoice("da_DK-talesyntese-medium", "Talesyntese", "da", _CC0 + _FROM_LESSAC),
    PiperVoice("no_NO-talesyntese-medium", "Talesyntese", "nb", _CC0 + _FROM_LESSAC),
    PiperVoice("fi_FI-harri-medium", "Harri", "fi", _CC0 + _FROM_LESSAC, "male"),
    PiperVoice("cs_CZ-jirka-medium", "Jirka", "cs", _CC0 + _FROM_LESSAC, "male"),
    PiperVoice("vi_VN-vais1000-medium", "VAIS", "vi", "CC-BY-4.0" + _FROM_LESSAC),
    PiperVoice("hu_HU-anna-medium", "Anna", "hu", _CC0 + _FROM_LESSAC, "female"),
    PiperVoice("ro_RO-mihai-medium", "Mihai", "ro", _CC0 + _FROM_LESSAC, "male"),
    PiperVoice(
        "el_GR-rapunzelina-low",
        "Rapunzelina",
        "el",
        f"{_CC0}; trained on from an English voice",
        "female",
        sample_rate_hz=16000,
    ),
)

SUPERTONIC_REPO = "Supertone/supertonic-3"
SUPERTONIC_REVISION = "724fb5abbf5502583fb520898d45929e62f02c0b"
SUPERTONIC_LICENCE = "OpenRAIL-M: free to use, not to harm or deceive people"
SUPERTONIC_STYLES = tuple(f"{sex}{number}" for sex in "FM" for number in range(1, 6))
SUPERTONIC_BYTES = 400 * MEGABYTE


def _supertonic(path: str, max_bytes: int) -> WeightFile:
    licence, revision = SUPERTONIC_LICENCE, SUPERTONIC_REVISION
    return WeightFile(path, SUPERTONIC_REPO, path, max_bytes, licence, revision)


SUPERTONIC = WeightSet(
    name="supertonic",
    title="Supertonic 3, ten voices in 31 languages",
    notice=f"The networks and voices of Supertonic 3 come under {SUPERTONIC_LICENCE}.",
    files=(
        _supertonic("onnx/tts.json", MEGABYTE),
        _supertonic("onnx/unicode_indexer.json", 2 * MEGABYTE),
        *(_supertonic(f"voice_styles/{name}.json", MEGABYTE) for name in SUPERTONIC_STYLES),
        _supertonic("onnx/duration_predictor.onnx", 50 * MEGABYTE),
        _supertonic("onnx/text_encoder.onnx", 100 * MEGABYTE),
        _supertonic("onnx/vocoder.onnx", 150 * MEGABYTE),
        _supertonic("onnx/vector_estimator.onnx", SUPERTONIC_BYTES),
    ),
)

QWEN_LICENCE = "Apache-2.0"


def _qwen(name: str, repo: str, model_bytes: int) -> WeightSet:
    def file(path: str, max_bytes: int) -> WeightFile:
        return WeightFile(path, repo, path, max_bytes, QWEN_LICENCE)

    small = ("config.json", "generation_config.json", "preprocessor_config.json")
    tokens = ("tokenizer_config.json", "vocab.json", "merges.txt")
    return WeightSet(
        name=name,
        title=f"{repo.partition('/')[2]}, a studio voice for an NVIDIA card",
        notice=f"{repo.partition('/')[2]} comes under {QWEN_LICENCE}.",
        files=(
            *(file(path, 5 * MEGABYTE) for path in (*small, *tokens)),
            file("speech_tokenizer/config.json", MEGABYTE),
            file("speech_tokenizer/configuration.json", MEGABYTE),
            file("speech_tokenizer/preprocessor_config.json", MEGABYTE),
            file("speech_tokenizer/model.safetensors", 700 * MEGABYTE),
            file("model.safetensors", model_bytes),
        ),
    )


QWEN_LARGE = _qwen("qwen-1.7b", "Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice", 4_000 * MEGABYTE)
QWEN_SMALL = _qwen("qwen-0.6b", "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice", 1_900 * MEGABYTE)

VOICE_SETS: tuple[WeightSet, ...] = (
    *(voice.weight_set for voice in PIPER_VOICES),
    SUPERTONIC,
    QWEN_SMALL,
    QWEN_LARGE,
)


def set_of_voice(voice_id: str) -> WeightSet | None:
    """The files a voice needs; None when it needs none or is unknown."""
    engine, _, name = voice_id.partition(":")
    wanted = {"piper": f"piper-{name}", "supertonic": "supertonic"}.get(engine)
    if engine == "qwen":
        wanted = f"qwen-{name.partition('-')[0]}"
    return next((known for known in VOICE_SETS if known.name == wanted), None)
