"""The pre-flight check: will these inputs do, and what will the video cost here?"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.animators.animator import Animator
from engine.contracts import (
    AudioVerdict,
    CheckReport,
    Estimate,
    PortraitVerdict,
    RenderOptions,
    SpeechOptions,
)
from engine.errors import ErrorCode, InputError
from engine.face.framing import expected_shape
from engine.pipeline.decode import received_sound
from engine.pipeline.intake import check_text, judge_picture, require_drawable
from engine.pipeline.sonic import can_take_sonic, free_vram_mb, sonic_for, unmeasured_rate
from engine.pipeline.tools import Tools
from engine.settings import EngineSettings
from engine.speech.words import is_unspaced

# Characters of text a voice speaks in a second at speed 1 (hibari: 103 characters in 6.4 s).
CHARACTERS_PER_SECOND = 16.0

# Each is a syllable: a Chinese voice speaks 4.5 in a second.
CHARACTERS_OF_AN_IDEOGRAPH = 3.5

# Seconds of work for one second of 25 fps video at 512 px, before this machine was measured
# (two cores, docs/performance.md); grows with the number of pixels and frames.
UNMEASURED_SECONDS_PER_SECOND = 0.8

# Below this share of speech in a recording we warn: tones and noise stay near 0, read speech
# with pauses is over .4.
MIN_SPEECH_SHARE = 0.05

# Where the job's fixed costs go: child start, face rig, first frame.
FIXED_SECONDS = 2.0


def check_inputs(payload: dict[str, Any], settings: EngineSettings, tools: Tools) -> CheckReport:
    """Judge a portrait and/or a recording or text; nothing is rendered or kept.

    Args:
        payload: `portrait` and `audio` as the decode lane answered or refused, `speech` (each
            may be None), `options`, and `rates`:
            measured seconds of work per second of video, by `animator:size`.
        settings: limits.
        tools: models of this process.

    Returns:
        The verdicts; `ok` only when every given input will do.
    """
    options = RenderOptions.model_validate(payload["options"])
    portrait = audio = None
    shape: tuple[int, int] | None = None
    if payload.get("portrait"):
        portrait = _check_portrait(payload["portrait"], options, tools)
        if portrait.width_px and portrait.height_px:
            shape = (portrait.width_px, portrait.height_px)
    if payload.get("audio"):
        audio = _check_audio(payload["audio"], options, tools)
    elif payload.get("speech"):
        speech = SpeechOptions.model_validate(payload["speech"])
        audio = _check_speech(speech, options, settings, tools)
    given = [verdict for verdict in (portrait, audio) if verdict is not None]
    is_ok = bool(given) and all(verdict.verdict == "ok" for verdict in given)
    estimate: dict[str, Estimate] = {}
    if is_ok and audio is not None and audio.duration_s and shape:
        job = _Job(options, audio.duration_s, expected_shape(options, *shape))
        rates = payload.get("rates") or {}
        estimate["lite"] = job.estimate(tools.lite, rates, job.unmeasured_lite_rate)
        if can_take_sonic(options, settings, shape):
            rate = unmeasured_rate(options, has_card=free_vram_mb() is not None)
            estimate["sonic"] = job.estimate(sonic_for(options, settings), rates, rate)
    return CheckReport(ok=is_ok, portrait=portrait, audio=audio, estimate=estimate)


def _check_portrait(
    decoded: Mapping[str, Any], options: RenderOptions, tools: Tools
) -> PortraitVerdict:
    try:
        judged = judge_picture(decoded, options, tools)
    except InputError as error:
        return PortraitVerdict(verdict=error.code, values=error.values)
    warnings = (*judged.verdict.warnings, *_told(judged.notes))
    return judged.verdict.model_copy(update={"warnings": warnings})


def _check_audio(decoded: Mapping[str, Any], options: RenderOptions, tools: Tools) -> AudioVerdict:
    try:
        sound = received_sound(decoded)
    except InputError as error:
        return AudioVerdict(verdict=error.code, values=error.values)
    speech, share = sound.facts, 0.0
    if not speech.is_silent:
        share = float((tools.listener.listen_wav(sound.wav).speaking > 0.5).mean())
    warns = not speech.is_silent and share < MIN_SPEECH_SHARE
    return AudioVerdict(
        duration_s=round(speech.duration_s, 3),
        sample_rate_hz=speech.source_sample_rate_hz,
        channels=speech.channels,
        speech_share=round(share, 3),
        verdict=_verdict(is_silent=speech.is_silent, options=options),
        warnings=(*((ErrorCode.NO_SPEECH,) if warns else ()), *_told(speech.notes)),
    )


def _verdict(*, is_silent: bool, options: RenderOptions) -> str:
    """Whether a recording that could be read will do."""
    if is_silent:
        return ErrorCode.SILENT
    return "ok" if options.captions == "off" else ErrorCode.CAPTIONS_NEED_TEXT


def _check_speech(
    speech: SpeechOptions, options: RenderOptions, settings: EngineSettings, tools: Tools
) -> AudioVerdict:
    try:
        cleaned = check_text(speech, settings, tools)
        require_drawable(cleaned, options)
    except InputError as error:
        return AudioVerdict(verdict=error.code, values=error.values)
    text = cleaned.mapped.text
    length = sum(CHARACTERS_OF_AN_IDEOGRAPH if is_unspaced(character) else 1 for character in text)
    duration_s = max(length / CHARACTERS_PER_SECOND / speech.speed, 0.5)
    return AudioVerdict(duration_s=round(duration_s, 1), warnings=_told(cleaned.notes))


def _told(notes: Iterable[str]) -> tuple[str, ...]:
    """Of what a reader noted, that which a person should hear: what has a sentence."""
    return tuple(note for note in notes if note in set(ErrorCode))


@dataclass(frozen=True)
class _Job:
    """A video that may be made.

    Attributes:
        options: what was asked.
        duration_s: of the speech.
        shape: width and height of the video in pixels.
    """

    options: RenderOptions
    duration_s: float
    shape: tuple[int, int]

    @property
    def unmeasured_lite_rate(self) -> float:
        return UNMEASURED_SECONDS_PER_SECOND * (self.options.output_size_px / 512) ** 2

    def estimate(
        self, animator: Animator, rates: Mapping[str, float], unmeasured_rate: float
    ) -> Estimate:
        """What the video costs with one animator.

        Args:
            animator: who draws it.
            rates: measured seconds of work per second of video, by `animator:size`.
            unmeasured_rate: where nothing was measured.
        """
        fps = self.options.fps
        rate = rates.get(f"{animator.name}:{self.options.output_size_px}", unmeasured_rate)
        work_s = math.ceil(self.duration_s * 10) / 10 * rate * fps / 25
        need = animator.need(*self.shape, math.ceil(self.duration_s * fps))
        return Estimate(
            seconds=round(FIXED_SECONDS + work_s, 1),
            peak_vram_mb=need.vram_mb,
            peak_rss_mb=need.rss_mb,
        )
