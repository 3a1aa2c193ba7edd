"""A finished job as a filled-in form, to change something and make it again. No Gradio."""

import shutil
import uuid
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from engine.contracts import JobRecord, RenderOptions
from studio.form import TITLE_CHARACTERS, FormValues

V = TypeVar("V")

LARGEST_FACE = -1
AS_FRAMING = -1.0


def form_of(record: JobRecord, portrait: Path | None, recording: Path | None) -> FormValues:
    """The form as it must have been; the consent has to be given anew.

    Args:
        record: the job.
        portrait: copy of its photo, None where it is gone.
        recording: copy of its recording, None where it is gone or never was.
    """
    options, speech = record.spec.options, record.spec.speech
    face = options.face_index
    return FormValues(
        portrait=str(portrait) if portrait is not None else None,
        face=face if face is not None else LARGEST_FACE,
        points=points_text(options),
        framing=options.framing,
        aspect=options.aspect,
        source="text" if speech is not None else "upload",
        recording=str(recording) if recording is not None else None,
        microphone=None,
        text=speech.text if speech is not None else None,
        language=speech.language if speech is not None else None,
        voice=speech.voice if speech is not None else None,
        speed=speech.speed if speech is not None else 1.0,
        script=record.spec.script,
        hear_words=speech is None and not record.spec.script and options.captions != "off",
        burn=options.captions == "burn",
        highlight_words=options.highlight_words,
        level_sound=options.level_sound,
        reduce_noise=options.reduce_noise,
        trim_silence=options.trim_silence,
        preset=options.preset,
        animator=options.animator,
        size=options.size_px or 0,
        steps=options.num_inference_steps or 0,
        expand=options.expand_ratio if options.expand_ratio is not None else AS_FRAMING,
        dynamic_scale=options.dynamic_scale,
        motion_scale=options.motion_scale,
        smoothing=options.smoothing,
        seed=str(record.spec.seed),
        fps=options.fps,
        background=options.background,
        calibrate=str(options.calibrate),
        allow_smaller=options.allow_smaller,
        force=options.force,
        consent=False,
    )


def points_text(options: RenderOptions) -> str:
    """The four points of a face that was marked by hand, as the form keeps them."""
    return ",".join(f"{share:g}" for point in options.face_points or () for share in point)


def values_of(form: FormValues) -> dict[str, Any]:
    """The values of a form by the names of its controls."""
    return asdict(form)


def kept(value: V, offered: Iterable[V], otherwise: V) -> V:
    """The value where the page offers it; programs may have used others."""
    return value if value in set(offered) else otherwise


def lend(path: Path, uploads: Path, name: str) -> Path:
    """Copy a file of a job among the uploads, where the page may show it.

    The folder is random; the name is what the next video is called by, so it keeps the letters
    and digits of the old title and nothing else.

    Args:
        path: the job's file.
        uploads: Gradio's folder of uploads, which is emptied at every start.
        name: title of the job.
    """
    plain = "".join(letter if letter.isalnum() else "_" for letter in name)[:TITLE_CHARACTERS]
    target = uploads / uuid.uuid4().hex / f"{plain.strip('_') or 'video'}{path.suffix}"
    target.parent.mkdir(parents=True)
    shutil.copyfile(path, target)
    return target
