"""What comes in: decoded inputs are judged and kept in the job's folder, or refused with a code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.contracts import PortraitVerdict, RenderOptions, SpeechOptions
from engine.errors import EngineError, ErrorCode, InputError
from engine.face.cut_off import shows_part_of_face
from engine.face.detector import FaceFinder, turned
from engine.face.geometry import Face
from engine.face.manual import face_at
from engine.face.portrait_check import judge_portrait
from engine.media.atomic import replace_when_done
from engine.media.typefaces import find_undrawable
from engine.pipeline.decode import received_portrait, received_sound
from engine.pipeline.spoken_length import spoken_length_s
from engine.pipeline.tools import Tools
from engine.settings import EngineSettings
from engine.speech.text import CleanText, clean

PORTRAIT_NAME = "portrait.png"
SHOWN_CHARACTERS = 20  # of those that cannot be drawn


@dataclass(frozen=True)
class JudgedPortrait:
    """A decoded picture and what was found in it.

    Attributes:
        pixels: H x W x 3, uint8, RGB, upright.
        faces: largest first, in pixels of `pixels`.
        verdict: what to tell the person, with the turn of the picture.
        notes: what was done to the file on the way, such as `first_frame_used`.
    """

    pixels: NDArray[np.uint8]
    faces: tuple[Face, ...]
    verdict: PortraitVerdict
    notes: tuple[str, ...] = ()

    @property
    def chosen(self) -> Face:
        """The face that speaks; only for a verdict that does not block."""
        if self.verdict.chosen is None:
            raise InputError(ErrorCode.NO_FACE)
        return self.faces[self.verdict.chosen]


def judge_picture(
    decoded: Mapping[str, Any], options: RenderOptions, tools: Tools, *, warns: bool = True
) -> JudgedPortrait:
    """Turn a decoded picture upright, find and judge its faces.

    Args:
        decoded: what the decode lane answered.
        options: choices of the person.
        tools: models of this process.
        warns: somebody will read the warnings, so things before the mouth are looked for.

    Raises:
        InputError: the decode lane refused the file.
    """
    portrait = received_portrait(decoded)
    pixels, faces, turn_deg = find_faces(portrait.pixels, options, tools)
    verdict = judge_faces(pixels, faces, options, tools.finder if warns else None)
    if verdict.verdict == ErrorCode.NO_FACE and shows_part_of_face(pixels, tools.finder):
        verdict = verdict.model_copy(update={"verdict": ErrorCode.FACE_CUT_OFF})
    verdict = verdict.model_copy(update={"turn_deg": turn_deg})
    return JudgedPortrait(pixels, faces, verdict, portrait.notes)


def find_faces(
    pixels: NDArray[np.uint8], options: RenderOptions, tools: Tools
) -> tuple[NDArray[np.uint8], tuple[Face, ...], int]:
    """The picture turned upright, its faces or the one face a person pointed at, and the turn.

    Raises:
        InputError: BAD_OPTION when the points cannot be those of a face.
    """
    if options.face_points is not None:
        return pixels, (face_at(pixels, options.face_points, tools.finder),), 0
    found = tools.finder.find_upright(pixels)
    return found.pixels, tuple(found.faces), found.turn_deg


def judge_faces(
    pixels: NDArray[np.uint8],
    faces: Sequence[Face],
    options: RenderOptions,
    finder: FaceFinder | None = None,
) -> PortraitVerdict:
    """What there is to say about a picture; a face that was pointed at is drawn as it is.

    With a finder, things before the mouth are looked for too.
    """
    is_placed = options.face_points is not None
    index = None if is_placed else options.face_index
    force = options.force or is_placed
    return judge_portrait(pixels, faces, face_index=index, force=force, finder=finder)


def take_in(payload: dict[str, Any], settings: EngineSettings, tools: Tools) -> dict[str, Any]:
    """Judge the inputs of a new job; the picture is kept in the job's folder.

    Args:
        payload: `portrait`, `audio` or `speech`, `script`, `options`, `job_dir`; the first two
            are what the decode lane answered (of a picture that was judged before with its
            verdict, `judged`), and the recording lies in the job's folder already.
            Jobs of a batch share a portrait that was taken in before them: what is None is
            left aside.
        settings: limits.
        tools: models of this process.

    Returns:
        `portrait_name`, `audio_name` (None for text), `duration_s` (of a text: about).

    Raises:
        InputError: the first thing that cannot be used.
    """
    options = RenderOptions.model_validate(payload["options"])
    job_dir = Path(payload["job_dir"])
    tools.require_animator(options, settings)
    if payload["portrait"] is not None:
        pixels, verdict = _upright(payload["portrait"], options, tools)
        if verdict.verdict != "ok":
            raise InputError(ErrorCode(verdict.verdict), **verdict.values)
        save_png(job_dir / PORTRAIT_NAME, pixels)
    taken = {"portrait_name": PORTRAIT_NAME, "audio_name": None, "duration_s": None}
    if payload.get("speech"):
        speech = SpeechOptions.model_validate(payload["speech"])
        cleaned = check_text(speech, settings, tools)
        require_drawable(cleaned, options)
        return {**taken, "duration_s": round(expected_length_s(cleaned, speech, tools), 1)}
    if payload["audio"] is None:
        return taken
    sound = received_sound(payload["audio"])
    if sound.facts.is_silent:
        raise InputError(ErrorCode.SILENT)
    script = payload.get("script")
    if script and options.captions == "burn":
        require_drawable(clean(script, len(script)), options)
    return {**taken, "audio_name": sound.wav.name, "duration_s": sound.facts.duration_s}


def _upright(
    decoded: Mapping[str, Any], options: RenderOptions, tools: Tools
) -> tuple[NDArray[np.uint8], PortraitVerdict]:
    """The picture turned upright, and what was said of it before or is said now."""
    if "judged" in decoded:
        known = PortraitVerdict.model_validate(decoded["judged"])
        return turned(received_portrait(decoded).pixels, known.turn_deg), known
    judged = judge_picture(decoded, options, tools, warns=False)
    return judged.pixels, judged.verdict


def check_text(speech: SpeechOptions, settings: EngineSettings, tools: Tools) -> CleanText:
    """The text as it will be spoken, after a check that a voice can speak it.

    Raises:
        InputError: TEXT_EMPTY, TEXT_TOO_LONG, VOICE_UNKNOWN or LANGUAGE_UNSUPPORTED.
    """
    cleaned = clean(speech.text, settings.max_text_characters)
    tools.voices.choose(cleaned.mapped.text, speech.language, speech.voice)
    return cleaned


def expected_length_s(cleaned: CleanText, speech: SpeechOptions, tools: Tools) -> float:
    """About how many seconds the voice that will be chosen takes for a text."""
    voice = tools.voices.choose(cleaned.mapped.text, speech.language, speech.voice)
    return spoken_length_s(cleaned, voice.languages[0], speech.speed)


def require_drawable(cleaned: CleanText, options: RenderOptions) -> None:
    """Make sure that captions in the picture have all their letters.

    Raises:
        InputError: CAPTIONS_UNDRAWABLE.
    """
    if options.captions == "burn" and (missing := find_undrawable(cleaned.mapped.text)):
        raise InputError(ErrorCode.CAPTIONS_UNDRAWABLE, characters=missing[:SHOWN_CHARACTERS])


def save_png(target: Path, pixels: NDArray[np.uint8]) -> None:
    """Write an RGB picture losslessly; level 1 because it is read once and kept briefly."""
    _, encoded = cv2.imencode(
        ".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_PNG_COMPRESSION, 1]
    )
    with replace_when_done(target) as part:
        part.write_bytes(encoded.tobytes())


def load_png(source: Path) -> NDArray[np.uint8]:
    """Read a picture of ours back as H x W x 3, uint8, RGB."""
    encoded = np.frombuffer(source.read_bytes(), np.uint8)
    decoded = cv2.imdecode(encoded, cv2.IMREAD_COLOR)
    if decoded is None:
        raise EngineError(ErrorCode.DAMAGED_IMAGE)
    return np.asarray(cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB), dtype=np.uint8)
