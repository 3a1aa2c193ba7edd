"""Reading the labels of a stranger's video, in the decode lane."""

from pathlib import Path
from typing import Any

from engine.errors import ErrorCode, InputError
from engine.media.probe import sniff
from engine.provenance.certificate import known_anchor
from engine.provenance.verify import check_labels
from engine.provenance.watermark import load_watermark
from engine.settings import EngineSettings
from engine.worker.confine import FileGuard


def check_stranger(source: Path, settings: EngineSettings, guard: FileGuard) -> dict[str, Any]:
    """Check the labels of a file of unknown origin; nothing but it is opened.

    Returns:
        A `LabelCheck` as JSON.

    Raises:
        InputError: NOT_A_VIDEO or what else is wrong with the file.
    """
    anchor_pem = known_anchor(settings)
    watermark = load_watermark(settings.watermark)
    sniff(source, settings.max_audio_bytes)
    with guard.during([source], []) as violations:
        found = check_labels(source, anchor_pem, watermark)
    if violations:
        raise InputError(ErrorCode.NOT_A_VIDEO)
    return found.model_dump(mode="json")
