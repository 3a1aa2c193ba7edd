"""Checking a finished video, ours or not: is it labelled, and was it left as it was."""

from pathlib import Path

import av

from engine.contracts import LabelCheck
from engine.errors import ErrorCode
from engine.media.video_moments import read_moments
from engine.media.video_probe import probe_video
from engine.provenance.manifest import FoundManifest, read_manifest
from engine.provenance.metadata import FoundTags, find_tags
from engine.provenance.reader import find_label
from engine.provenance.sound_check import check_sound, is_wav
from engine.provenance.watermark import Watermark

FIRST_S = (0.0, 1.0, 1.9)
"""In the first two seconds the label must be large."""

LATER_SHARES = (0.5, 0.97)
"""Later it may be small; looked for in the middle and near the end of the clip."""


def check_labels(
    video: Path, anchor_pem: str | None = None, watermark: Watermark | None = None
) -> LabelCheck:
    """Read every label of a video, or of a spoken WAV.

    Args:
        video: any file.
        anchor_pem: certificate of this installation, None when it has none yet.
        watermark: that is looked for as well.

    Returns:
        What was found; `problems` names what is missing or broken.

    Raises:
        InputError: NOT_A_VIDEO, EMPTY_FILE or FILE_NOT_FOUND.
    """
    if video.is_file() and is_wav(video):
        return check_sound(video, anchor_pem)
    info = probe_video(video)
    manifest = read_manifest(video, anchor_pem)
    tags = find_tags(video)
    problems: list[ErrorCode] = []
    language, has_watermark = None, None
    try:
        language, has_watermark = _look(video, info.duration_s, watermark)
        if language is None:
            problems.append(ErrorCode.VISIBLE_LABEL_MISSING)
    except (av.FFmpegError, ValueError):
        problems.append(ErrorCode.PICTURE_UNREADABLE)
    problems += _problems(manifest, tags)
    facts = manifest.proven_facts
    sync = facts.get("sync")
    return LabelCheck(
        ok=not problems,
        problems=tuple(code.value for code in problems),
        duration_s=round(info.duration_s, 3),
        visible_label=language,
        aigc=tags.aigc,
        xmp_says_ai=tags.xmp_says_ai,
        manifest=manifest.state,
        manifest_faults=manifest.faults,
        says_ai=manifest.says_ai,
        signer=manifest.signer,
        signed_here=manifest.is_own,
        watermark=has_watermark,
        facts={name: value for name, value in facts.items() if name != "sync"},
        sync=sync if isinstance(sync, dict) else {},
    )


def _look(
    video: Path, duration_s: float, watermark: Watermark | None
) -> tuple[str | None, bool | None]:
    """Language of the label if it is there all the time, and whether the watermark is."""
    first = [time_s for time_s in FIRST_S if time_s < max(duration_s, 0.1)]
    later = [share * duration_s for share in LATER_SHARES if share * duration_s > FIRST_S[-1]]
    seen, marked = [], []
    for frame in read_moments(video, [*first, *later]):
        if watermark is not None:
            marked.append(watermark.find(frame))
        seen.append(find_label(frame))
        if seen[-1] is None:
            break  # looking for it takes long where it is not
    has_watermark = any(marked) if marked else None
    if not seen or any(label is None for label in seen):
        return None, has_watermark
    if any(label is None or not label.is_large for label in seen[: len(first)]):
        return None, has_watermark
    return next(label.language for label in seen if label is not None), has_watermark


def _problems(manifest: FoundManifest, tags: FoundTags) -> list[ErrorCode]:
    problems = []
    if tags.aigc is None:
        problems.append(ErrorCode.AIGC_MISSING)
    if not tags.xmp_says_ai:
        problems.append(ErrorCode.XMP_MISSING)
    return problems + manifest.problems
