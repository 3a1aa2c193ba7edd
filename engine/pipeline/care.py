"""The sound of a video: what was recorded or spoken, after the care its person asked for.

The original stays beside it, untouched; lips, captions and the finished film follow this one.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile as sf

from engine.contracts import RenderOptions
from engine.lipsync.curves import CURVE_RATE_HZ
from engine.lipsync.from_audio import Listener
from engine.media.atomic import replace_when_done
from engine.media.care import (
    MAX_GAIN_DB,
    gain_to_target_db,
    loudness_lufs,
    reduce_noise,
    write_cared,
)

SOUND_NAME = "sound.wav"
FACTS_NAME = "sound.json"
CLEAN_NAME = "clean.wav"

# Left around the speech when silence is cut off: a breath before, an ending that rings out.
LEAD_S = 0.2
TAIL_S = 0.4

SPEAKS = 0.5
"""Probability from which on the listening net is believed that somebody speaks."""

# A gain that nobody hears is not worth another generation of the sound.
LEAST_GAIN_DB = 0.5


@dataclass(frozen=True)
class CaredSound:
    """The sound a video is made of.

    Attributes:
        wav: where it lies; the original when nothing was to be done.
        facts: for the report: `loudness_lufs`, `gain_db`, `noise_reduced`, `trimmed_s`.
    """

    wav: Path
    facts: dict[str, Any]


def care_for(
    wav: Path, options: RenderOptions, listener: Listener, job_dir: Path, *, is_recording: bool
) -> CaredSound:
    """Level, clean and trim a sound as its options say.

    Only recordings are cleaned and trimmed: a voice of ours has no noise, and its times are known.

    Args:
        wav: mono, of the job.
        options: what was asked.
        listener: hears where somebody speaks.
        job_dir: where the result goes; one that lies there from an earlier attempt is used.
        is_recording: whether a person was recorded.

    Raises:
        EngineError: DISK_FULL.
    """
    target, facts_path = job_dir / SOUND_NAME, job_dir / FACTS_NAME
    if facts_path.exists():
        facts = json.loads(facts_path.read_text("utf-8"))
        return CaredSound(target if target.exists() else wav, facts)
    source, clean = wav, job_dir / CLEAN_NAME
    if is_recording and options.reduce_noise:
        reduce_noise(wav, clean)
        source = clean
    whole_s = float(sf.info(str(wav)).duration)
    span_s = (0.0, whole_s)
    if is_recording and options.trim_silence:
        span_s = _spoken_span_s(source, listener, whole_s)
    gain_db = gain_to_target_db(source) if options.level_sound else 0.0
    gain_db = gain_db if LEAST_GAIN_DB <= abs(gain_db) <= MAX_GAIN_DB else 0.0
    facts = {
        "gain_db": round(gain_db, 1),
        "noise_reduced": source is clean,
        "trimmed_s": [round(span_s[0], 3), round(whole_s - span_s[1], 3)],
    }
    if gain_db or source is clean or span_s != (0.0, whole_s):
        write_cared(source, target, gain_db, span_s)
        clean.unlink(missing_ok=True)
    lufs = loudness_lufs(target if target.exists() else wav)
    facts["loudness_lufs"] = None if lufs is None else round(lufs, 1)
    with replace_when_done(facts_path) as part:
        part.write_text(json.dumps(facts), "utf-8")
    return CaredSound(target if target.exists() else wav, facts)


def _spoken_span_s(wav: Path, listener: Listener, whole_s: float) -> tuple[float, float]:
    """From shortly before the first word to shortly behind the last one."""
    speaks = np.flatnonzero(listener.listen_wav(wav).speaking > SPEAKS)
    if not len(speaks):
        return 0.0, whole_s
    start_s = max(0.0, float(speaks[0]) / CURVE_RATE_HZ - LEAD_S)
    end_s = min(whole_s, float(speaks[-1] + 1) / CURVE_RATE_HZ + TAIL_S)
    return start_s, end_s
