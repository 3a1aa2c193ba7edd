"""What comes in for a lecture is judged and kept by the quick child; the quick look at a slide."""

import re
import shutil
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.contracts import JobSpec, RenderOptions, SpeechOptions
from engine.errors import ErrorCode, InputError
from engine.lecture.board import resized
from engine.lecture.cache import SectionCache, scope_of
from engine.lecture.join import Part, join
from engine.lecture.options import (
    PREVIEW_SIZE_PX,
    LectureOptions,
    LectureSection,
    LectureSpec,
    LectureVoice,
)
from engine.lecture.sections import SectionMaker
from engine.lecture.sound import lecture_sound
from engine.lecture.voicing import Voicing
from engine.lecture.workplace import Workplace
from engine.media.audio import SPEECH_RATE_HZ
from engine.media.image import parse_background
from engine.media.typefaces import find_undrawable
from engine.pipeline.decode import received_portrait
from engine.pipeline.intake import (
    PORTRAIT_NAME,
    SHOWN_CHARACTERS,
    judge_picture,
    save_png,
)
from engine.pipeline.preview import small_jpeg
from engine.pipeline.stage import StageClock
from engine.pipeline.tools import Tools
from engine.speech.lexicon import Lexicon
from engine.speech.text import clean
from engine.worker.task import TaskContext, TaskTable

LONG_SIDE_PX = 1920
"""Slides are kept at this width (or height), the size of the largest video."""

THUMB_SIDE_PX = 420
THUMB_QUALITY = 78
"""A card of the page at common pixel densities, about 15 kB."""

PREVIEW_CHARACTERS = 110
"""A quick look says one sentence or two."""

_SENTENCE_END = re.compile(r"(?<=[.!?…。！？।؟])\s")  # noqa: RUF001 - marks of many scripts


def lecture_tasks(tools: Tools) -> TaskTable:
    """The tasks of the quick child that are about lectures."""

    def keep(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
        for slide in payload["slides"]:
            _keep_slide(slide)
        return {}

    def intake(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        return take_in_lecture(payload, context, tools)

    def preview(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        return preview_section(payload, context, tools)

    return {"keep_slides": keep, "lecture_intake": intake, "lecture_preview": preview}


def take_in_lecture(payload: dict[str, Any], context: TaskContext, tools: Tools) -> dict[str, Any]:
    """Judge the inputs of a new lecture; its pictures are kept in the job's folder.

    Args:
        payload: `portrait` and `backdrop` as the decode lane answered (None = none),
            `backdrop_target`, `music`, `sections`, `voice`, `options`, `render`, `job_dir`.
        context: settings.
        tools: models of this process.

    Returns:
        `portrait_name`, empty for a lecture without presenter.

    Raises:
        InputError: the first thing that cannot be used.
    """
    options = LectureOptions.model_validate(payload["options"])
    sections = [LectureSection.model_validate(section) for section in payload["sections"]]
    voice = LectureVoice.model_validate(payload["voice"])
    parse_background(options.colour)
    for section in sections:
        _check_words(section, voice, options, tools)
    require_title_drawable(options)
    if payload.get("music") and payload["music"]["is_silent"]:
        raise InputError(ErrorCode.SILENT)
    _keep_backdrop(payload)
    return {"portrait_name": _keep_portrait(payload, context, tools)}


def preview_section(payload: dict[str, Any], context: TaskContext, tools: Tools) -> dict[str, Any]:
    """Make a small video of the first words of one section.

    Args:
        payload: as of `take_in_lecture`, but `section` instead of `sections`, and `target`.
        context: settings.
        tools: models of this process.

    Returns:
        `duration_s`.
    """
    job_dir, target = Path(payload["job_dir"]), Path(payload["target"])
    wanted = LectureOptions.model_validate(payload["options"])
    update = {"size_px": PREVIEW_SIZE_PX, "captions": "off", "clips": False}
    options = wanted.model_copy(update=update)
    section = LectureSection.model_validate(payload["section"])
    silence_s = None if section.silence_s is None else min(section.silence_s, 2.0)
    update = {"text": first_words(section.text), "silence_s": silence_s}
    section = section.model_copy(update=update)
    voice = LectureVoice.model_validate(payload["voice"])
    _check_words(section, voice, options, tools)
    require_title_drawable(options)
    _keep_backdrop(payload)
    portrait_name = _keep_portrait(payload, context, tools)
    render = RenderOptions.model_validate(payload["render"])
    lecture = LectureSpec(
        sections=(section,),
        options=options,
        voice=voice,
        background_name=Path(payload["backdrop_target"]).name if payload["backdrop"] else None,
        scope=scope_of("preview"),
    )
    spec = JobSpec(
        job_id="0" * 32,
        kind="lecture",
        portrait_name=portrait_name,
        options=render.model_copy(update={"animator": "lite"}),
        lecture=lecture,
    )
    cache = SectionCache(job_dir / "made", lecture.scope)
    clock = StageClock(context.report)
    maker = SectionMaker(Workplace(spec, job_dir, cache, context, tools, clock))
    lexicon = Lexicon.load(context.settings.pronunciations_path)
    voicing = Voicing(lecture, job_dir, cache, tools, lexicon)
    voiced = voicing.voice(section, context.canceled, lambda _share: None)
    drawn = maker.make(0, 0, voiced, lambda _done: None, lambda _picture: None)
    fps = Fraction(options.fps)
    count = round(voiced.num_frames * SPEECH_RATE_HZ / fps)
    part = Part(drawn.video, voiced.num_frames, section.heading)
    sound = lecture_sound([voiced.wav], [count])
    join([part], sound, target, fps, {}, Event(), has_chapters=False)
    shutil.rmtree(job_dir / "made", ignore_errors=True)
    return {"duration_s": round(float(voiced.num_frames / fps), 3)}


def first_words(text: str) -> str:
    """Whole sentences from the start of a text, as many as a quick look has time for."""
    taken = ""
    for sentence in _SENTENCE_END.split(text):
        longer = f"{taken} {sentence}".strip()
        if taken and len(longer) > PREVIEW_CHARACTERS:
            break
        taken = longer
    if len(taken) <= 2 * PREVIEW_CHARACTERS:
        return taken
    return taken[: 2 * PREVIEW_CHARACTERS].rsplit(" ", 1)[0]


def require_title_drawable(options: LectureOptions) -> None:
    """Make sure that the title in the picture has all its letters.

    Raises:
        InputError: CAPTIONS_UNDRAWABLE.
    """
    missing = find_undrawable(f"{options.title}{options.subtitle}")
    if missing:
        raise InputError(ErrorCode.CAPTIONS_UNDRAWABLE, characters=missing[:SHOWN_CHARACTERS])


def _check_words(
    section: LectureSection, voice: LectureVoice, options: LectureOptions, tools: Tools
) -> None:
    """Make sure that the words can be spoken, and drawn where that was asked."""
    if not section.text:
        return
    cleaned = clean(section.text, max(len(section.text), 1))
    if section.audio_name is None:
        speech = SpeechOptions(text=section.text, **voice.model_dump())
        tools.voices.choose(cleaned.mapped.text, speech.language, speech.voice)
    if options.captions == "burn" and (missing := find_undrawable(cleaned.mapped.text)):
        raise InputError(ErrorCode.CAPTIONS_UNDRAWABLE, characters=missing[:SHOWN_CHARACTERS])


def _keep_portrait(payload: Mapping[str, Any], context: TaskContext, tools: Tools) -> str:
    """Judge and keep the portrait.

    Returns:
        Its name in the job's folder, empty where there is none.
    """
    if not payload.get("portrait"):
        return ""
    render = RenderOptions.model_validate(payload["render"])
    tools.require_animator(render, context.settings)
    judged = judge_picture(payload["portrait"], render, tools)
    if judged.verdict.verdict != "ok":
        raise InputError(ErrorCode(judged.verdict.verdict), **judged.verdict.values)
    save_png(Path(payload["job_dir"]) / PORTRAIT_NAME, judged.pixels)
    return PORTRAIT_NAME


def _keep_backdrop(payload: Mapping[str, Any]) -> None:
    if payload.get("backdrop"):
        backdrop = received_portrait(payload["backdrop"])
        save_png(Path(payload["backdrop_target"]), backdrop.pixels)


def _keep_slide(slide: Mapping[str, Any]) -> None:
    """Pack raw pixels: a JPEG for pages, a lossless picture for jobs."""
    facts = {"notes": (), "is_grey": False, "bit_depth": 8}
    size = {"source_width_px": slide["width_px"], "source_height_px": slide["height_px"]}
    pixels = received_portrait({**facts, **size, **slide}).pixels
    target = Path(slide["target"])
    if target.suffix == ".jpg":
        target.write_bytes(small_jpeg(pixels, THUMB_SIDE_PX, THUMB_QUALITY))
    else:
        save_png(target, _fitted(pixels))
    Path(slide["pixels"]).unlink(missing_ok=True)


def _fitted(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """No larger than the largest video shows."""
    scale = LONG_SIDE_PX / max(pixels.shape[:2])
    if scale >= 1:
        return pixels
    height, width = (max(round(side * scale), 2) for side in pixels.shape[:2])
    return resized(pixels, width, height)
