"""Both ends of the decode lane: what its child does, and how the quick child reads the outcome.

The decoders of this module's imports see bytes of strangers, so nothing else is loaded here:
no models, no settings of people.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.contracts import Progress, Stage
from engine.errors import EngineError, ErrorCode, InputError
from engine.lecture.pages import deck_tasks
from engine.media.audio import SpeechFile, decode_speech
from engine.media.image import Portrait, read_portrait
from engine.worker.confine import FileGuard
from engine.worker.task import TaskContext, TaskTable

CHANNELS = 3


@dataclass(frozen=True)
class DecodedSound:
    """A recording that is a WAV of ours now, with what its source was like."""

    wav: Path
    facts: SpeechFile


def decode_tasks(guard: FileGuard) -> TaskTable:
    """The tasks of the decode lane, watched by `guard`."""

    def picture(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        source, target = Path(payload["source"]), Path(payload["target"])
        with guard.during([source], [target.parent]) as violations:
            portrait = read_portrait(source, context.settings, payload["background"])
            portrait.pixels.tofile(target)
        if violations:
            raise InputError(ErrorCode.DAMAGED_IMAGE)
        height_px, width_px = portrait.pixels.shape[:2]
        facts = {key: value for key, value in vars(portrait).items() if key != "pixels"}
        return {"pixels": str(target), "width_px": width_px, "height_px": height_px, **facts}

    def sound(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        source, target = Path(payload["source"]), Path(payload["target"])

        def tell(share: float) -> None:
            context.report(Progress(stage=Stage.PREPARE, percent=100.0 * share))

        with guard.during([source], [target.parent]) as violations:
            facts = decode_speech(source, target, context.settings, tell)
        if violations:
            target.unlink()
            raise InputError(ErrorCode.DAMAGED_AUDIO)
        return {"wav": str(target), **asdict(facts)}

    def labels(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        # Few files are checked, and what checks them weighs 40 MB.
        from engine.pipeline.label_check import check_stranger  # noqa: PLC0415

        return check_stranger(Path(payload["source"]), context.settings, guard)

    return {
        "decode_picture": picture,
        "decode_sound": sound,
        "check_labels": labels,
        **deck_tasks(guard),
    }


def received_portrait(payload: Mapping[str, Any]) -> Portrait:
    """The picture that `decode_picture` answered with.

    Raises:
        InputError: the lane refused it.
    """
    _raise_refusal(payload)
    facts = {field.name: payload[field.name] for field in fields(Portrait) if field.name in payload}
    facts["notes"] = tuple(facts["notes"])
    facts["pixels"] = _read_pixels(
        Path(payload["pixels"]), int(payload["height_px"]), int(payload["width_px"])
    )
    return Portrait(**facts)


def received_sound(payload: Mapping[str, Any]) -> DecodedSound:
    """The recording that `decode_sound` answered with.

    Raises:
        InputError: the lane refused it.
    """
    _raise_refusal(payload)
    facts = {field.name: payload[field.name] for field in fields(SpeechFile)}
    facts["notes"] = tuple(facts["notes"])
    return DecodedSound(Path(payload["wav"]), SpeechFile(**facts))


def _raise_refusal(payload: Mapping[str, Any]) -> None:
    if "refused" in payload:
        raise InputError(ErrorCode(payload["refused"]), **payload["values"])


def _read_pixels(path: Path, height_px: int, width_px: int) -> NDArray[np.uint8]:
    """Raw RGB; its length is checked, so that whatever the decoder did, this reads a picture."""
    pixels = np.fromfile(path, np.uint8)
    if pixels.size != height_px * width_px * CHANNELS:
        raise EngineError(ErrorCode.INTERNAL)
    return pixels.reshape(height_px, width_px, CHANNELS)


TASKS: TaskTable = decode_tasks(FileGuard())
