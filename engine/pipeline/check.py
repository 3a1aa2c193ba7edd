"""The pre-flight check: will these inputs do, and what will the video cost here?"""

import math
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from engine.animators.animator import Animator
from engine.contracts import (
    PRESETS,
    AudioVerdict,
    CheckReport,
    Estimate,
    PortraitVerdict,
    PresetName,
    RenderOptions,
    SpeechOptions,
)
from engine.errors import EngineError, ErrorCode, InputError
from engine.face.framing import expected_shape
from engine.machine import usable_cores
from engine.pipeline.animate import shown_window
from engine.pipeline.decode import received_sound
from engine.pipeline.foresight import USUAL_FACE_SHARE, known_paces
from engine.pipeline.intake import check_text, expected_length_s, judge_picture, require_drawable
from engine.pipeline.sonic import can_take_sonic, free_vram_mb, sonic_for, unmeasured_rate
from engine.pipeline.stage_costs import Work, moving_megapixels, stage_costs
from engine.pipeline.tools import Tools
from engine.settings import EngineSettings
from engine.speech.speaking_cost import speaking_s
from engine.weights.recogniser import recogniser_folder

# Below this share of speech in a recording we warn: tones and noise stay near 0, read speech
# with pauses is over .4.
MIN_SPEECH_SHARE = 0.05

PACE = "pace:"

# A child that was not started yet loads its programs first; Sonic also its first weights.
START_SECONDS = 1.0
FIXED_SECONDS = 2.0


def check_inputs(payload: dict[str, Any], settings: EngineSettings, tools: Tools) -> CheckReport:
    """Judge a portrait and/or a recording or text; nothing is rendered or kept.

    Args:
        payload: `portrait` and `audio` as the decode lane answered or refused (in place of an
            file that was judged before its verdict, `judged`), `speech` (each may be None),
            `script` (known words of the recording), `options`, and `rates`: measured seconds of
            work per second of video, by `animator:size`.
        settings: limits.
        tools: models of this process.

    Returns:
        The verdicts; `ok` only when every given input will do.
    """
    options = RenderOptions.model_validate(payload["options"])
    audio = None
    shape: tuple[int, int] | None = None
    has_script = bool((payload.get("script") or "").strip())
    has_script = has_script or recogniser_folder(settings) is not None
    with ThreadPoolExecutor(1, "look") as beside:
        looking = beside.submit(_check_portrait, payload.get("portrait"), options, settings, tools)
        if payload.get("audio"):
            audio = _check_audio(payload["audio"], options, tools, has_script=has_script)
        elif payload.get("speech"):
            speech = SpeechOptions.model_validate(payload["speech"])
            audio = _check_speech(speech, options, settings, tools)
        portrait = looking.result()
    if portrait is not None and portrait.width_px and portrait.height_px:
        shape = (portrait.width_px, portrait.height_px)
    given = [verdict for verdict in (portrait, audio) if verdict is not None]
    is_ok = bool(given) and all(verdict.verdict == "ok" for verdict in given)
    report = CheckReport(ok=is_ok, portrait=portrait, audio=audio)
    if not is_ok or audio is None or not audio.duration_s or shape is None:
        return report
    speaking = 0.0
    if not payload.get("audio"):
        speech = SpeechOptions.model_validate(payload["speech"])
        voice = tools.voices.choose(speech.text, speech.language, speech.voice)
        speaking = speaking_s(voice, audio.duration_s)
    rates = payload.get("rates") or {}
    paces = {key[len(PACE) :]: rate for key, rate in rates.items() if key.startswith(PACE)}
    costs = _Costs(
        duration_s=audio.duration_s,
        speaking_s=speaking,
        photo_size=shape,
        face_share=_face_share(portrait) if portrait else USUAL_FACE_SHARE,
        rates=rates,
        paces=known_paces(paces, tools.finder),
        settings=settings,
        tools=tools,
    )
    return report.model_copy(
        update={"estimate": costs.by_animator(options), "presets": costs.by_preset(options)}
    )


def _check_portrait(
    decoded: Mapping[str, Any] | None,
    options: RenderOptions,
    settings: EngineSettings,
    tools: Tools,
) -> PortraitVerdict | None:
    if not decoded:
        return None
    if "judged" in decoded:
        return PortraitVerdict.model_validate(decoded["judged"])
    try:
        judged = judge_picture(decoded, options, tools)
    except InputError as error:
        return PortraitVerdict(verdict=error.code, values=error.values)
    change: dict[str, Any] = {"warnings": (*judged.verdict.warnings, *_told(judged.notes))}
    if judged.verdict.chosen is not None:
        size = (judged.pixels.shape[1], judged.pixels.shape[0])
        animator = "sonic" if _may_be_sonic(options, settings, size) else "lite"
        shown = shown_window(options, judged, animator)
        change["shown"] = (shown.x, shown.y, shown.width, shown.height)
    return judged.verdict.model_copy(update=change)


def _may_be_sonic(
    options: RenderOptions, settings: EngineSettings, photo_size: tuple[int, int]
) -> bool:
    """Whether Sonic is what would draw it, or was asked for and is ready."""
    return options.animator != "lite" and can_take_sonic(options, settings, photo_size)


def _check_audio(
    decoded: Mapping[str, Any], options: RenderOptions, tools: Tools, *, has_script: bool
) -> AudioVerdict:
    has_words = has_script or options.captions == "off"
    if "judged" in decoded:
        known = AudioVerdict.model_validate(decoded["judged"])
        verdict = _verdict(is_silent=known.verdict == ErrorCode.SILENT, has_words=has_words)
        return known.model_copy(update={"verdict": verdict})
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
        verdict=_verdict(is_silent=speech.is_silent, has_words=has_words),
        warnings=(*((ErrorCode.NO_SPEECH,) if warns else ()), *_told(speech.notes)),
    )


def _verdict(*, is_silent: bool, has_words: bool) -> str:
    """Whether a recording that could be read will do; captions need words."""
    if is_silent:
        return ErrorCode.SILENT
    return "ok" if has_words else ErrorCode.CAPTIONS_NEED_TEXT


def _check_speech(
    speech: SpeechOptions, options: RenderOptions, settings: EngineSettings, tools: Tools
) -> AudioVerdict:
    try:
        cleaned = check_text(speech, settings, tools)
        require_drawable(cleaned, options)
        duration_s = expected_length_s(cleaned, speech, tools)
    except EngineError as error:  # a speech server may be away
        return AudioVerdict(verdict=error.code, values=error.values)
    return AudioVerdict(duration_s=round(duration_s, 1), warnings=_told(cleaned.notes))


def _face_share(portrait: PortraitVerdict) -> float:
    """Share of the shown part of the photo that the face covers."""
    if portrait.chosen is None or portrait.shown is None:
        return USUAL_FACE_SHARE
    _, _, width, height = portrait.faces[portrait.chosen].box
    return width * height / max(portrait.shown[2] * portrait.shown[3], 1.0)


def _told(notes: Iterable[str]) -> tuple[str, ...]:
    """Of what a reader noted, that which a person should hear: what has a sentence."""
    return tuple(note for note in notes if note in set(ErrorCode))


@dataclass(frozen=True)
class _Costs:
    """What a video of known inputs costs here.

    Attributes:
        duration_s: of the speech.
        speaking_s: what a voice needs for it.
        photo_size: width and height of the upright picture in pixels.
        face_share: share of the shown part that the face covers.
        rates: measured seconds of work per second of video, by `animator:size`.
        paces: of the stages of the lite animator on this machine.
        settings: where weights lie.
        tools: the animators.
    """

    duration_s: float
    speaking_s: float
    photo_size: tuple[int, int]
    face_share: float
    rates: Mapping[str, float]
    paces: Mapping[str, float]
    settings: EngineSettings
    tools: Tools

    def by_animator(self, options: RenderOptions) -> dict[str, Estimate]:
        """With each animator that is a choice."""
        found = {"lite": self._lite(options)}
        if _may_be_sonic(options, self.settings, self.photo_size):
            found["sonic"] = self._sonic(options)
        return found

    def by_preset(self, options: RenderOptions) -> dict[PresetName, Estimate]:
        """With each quality, its own size and steps."""
        found: dict[PresetName, Estimate] = {}
        for name in PRESETS:
            own = options.model_copy(
                update={"preset": name, "size_px": None, "num_inference_steps": None}
            )
            is_sonic = _may_be_sonic(own, self.settings, self.photo_size)
            found[name] = self._sonic(own) if is_sonic else self._lite(own)
        return found

    def _lite(self, options: RenderOptions) -> Estimate:
        width_px, height_px = expected_shape(options, *self.photo_size)
        picture_mp = width_px * height_px / 1e6
        work = Work(
            speech_s=self.duration_s,
            fps=options.fps,
            picture_mp=picture_mp,
            moving_mp=moving_megapixels(self.face_share * width_px * height_px, picture_mp),
            photo_mp=self.photo_size[0] * self.photo_size[1] / 1e6,
            speaking_s=self.speaking_s,
            cores=usable_cores(),
        )
        seconds = START_SECONDS + sum(stage_costs(work, self.paces).values())
        return self._estimate(options, self.tools.lite, seconds)

    def _sonic(self, options: RenderOptions) -> Estimate:
        key = f"sonic:{options.output_size_px}"
        rate = self.rates.get(key) or unmeasured_rate(options, has_card=free_vram_mb() is not None)
        work_s = math.ceil(self.duration_s * 10) / 10 * rate * options.fps / 25
        seconds = FIXED_SECONDS + self.speaking_s + work_s
        return self._estimate(options, sonic_for(options, self.settings), seconds)

    def _estimate(self, options: RenderOptions, animator: Animator, seconds: float) -> Estimate:
        """What the video costs with one animator that takes so many seconds."""
        shape = expected_shape(options, *self.photo_size)
        need = animator.need(*shape, math.ceil(self.duration_s * options.fps))
        return Estimate(
            seconds=round(seconds, 1), peak_vram_mb=need.vram_mb, peak_rss_mb=need.rss_mb
        )
