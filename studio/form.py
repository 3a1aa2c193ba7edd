"""What a person filled in, as the engine's own request types. Pure: no Gradio, no files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from engine.contracts import AnimateRequest, Captions, RenderOptions, SpeechOptions
from engine.errors import ErrorCode, InputError

VoiceSource = Literal["upload", "record", "text"]

TITLE_CHARACTERS = 60

_SPEECH_OPTIONS = ("language", "voice", "speed", "style")
_OTHER_OPTIONS = ("title", "script", "idempotency_key")


@dataclass(frozen=True)
class FormValues:
    """The Create page as it stands. Names are those of the page's controls.

    Attributes:
        portrait, recording, microphone: uploaded files, or None.
        face: number of the chosen face, below 0 = the largest.
        points: where the face was marked by hand, as eight numbers; empty = it was found.
        source: which of recording, microphone and text counts.
        script: the words of the recording, where they are known.
        hear_words: whether the words of a recording are found out, for its captions.
        burn: whether captions are drawn into the picture.
        highlight_words: whether captions show which word is said.
        level_sound, reduce_noise, trim_silence: what is done to the sound.
        size: short side in pixels, 0 = as the preset says.
        steps: of the diffusion, 0 = as the preset says.
        expand: room around the face for sonic, below 0 = as the framing says.
        seed: as typed; empty = drawn at random.
        calibrate: `auto`, `off`, or milliseconds as text.
    """

    portrait: str | None
    face: float | None
    points: str | None
    framing: str
    aspect: str
    source: VoiceSource
    recording: str | None
    microphone: str | None
    text: str | None
    language: str | None
    voice: str | None
    speed: float
    script: str | None
    hear_words: bool
    burn: bool
    highlight_words: bool
    level_sound: bool
    reduce_noise: bool
    trim_silence: bool
    preset: str
    animator: str
    size: int
    steps: int
    expand: float
    dynamic_scale: float
    motion_scale: float
    smoothing: float
    seed: str | None
    fps: int
    background: str
    calibrate: str
    allow_smaller: bool
    force: bool
    consent: bool

    @classmethod
    def read(cls, fields: Mapping[str, Any], values: Mapping[Any, Any]) -> "FormValues":
        """The values of controls that are known by these names."""
        return cls(**{name: values[control] for name, control in fields.items()})

    @property
    def audio(self) -> str | None:
        """The recording that counts, if one does."""
        return {"upload": self.recording, "record": self.microphone, "text": None}[self.source]

    @property
    def has_voice(self) -> bool:
        """Whether there is anything to say."""
        return bool(self.audio) or (self.source == "text" and bool((self.text or "").strip()))

    @property
    def known_words(self) -> str | None:
        """The words of the recording that counts, where they were typed."""
        words = (self.script or "").strip()
        return words if words and self.source != "text" else None

    @property
    def _captions(self) -> Captions:
        """Files come with known words in any case; those of a recording are asked for."""
        hears = self.hear_words and self.source != "text" and self.known_words is None
        has_words = self.source == "text" or self.known_words is not None or hears
        if self.burn and has_words:
            return "burn"
        return "srt" if hears else "off"

    def speech(self) -> SpeechOptions | None:
        """The text to speak, or None when a recording counts."""
        if self.source != "text" or not (self.text or "").strip():
            return None
        return SpeechOptions(
            text=self.text or "",
            language=self.language or None,
            voice=self.voice or None,
            speed=self.speed,
        )

    def options(self) -> RenderOptions:
        """The choices about the picture.

        Raises:
            InputError: BAD_OPTION, naming the first value that cannot be used.
        """
        face = self.face if self.face is not None and self.face >= 0 else None
        return parse_options(
            {
                "preset": self.preset,
                "animator": self.animator,
                "size_px": self.size or None,
                "num_inference_steps": self.steps or None,
                "expand_ratio": self.expand if self.expand >= 0 else None,
                "captions": self._captions,
                "highlight_words": self.highlight_words,
                "level_sound": self.level_sound,
                "reduce_noise": self.reduce_noise and self.source != "text",
                "trim_silence": self.trim_silence and self.source != "text",
                "dynamic_scale": self.dynamic_scale,
                "motion_scale": self.motion_scale,
                "smoothing": self.smoothing,
                "seed": (self.seed or "").strip() or None,
                "fps": self.fps,
                "framing": self.framing,
                "aspect": self.aspect,
                "face_index": face,
                "face_points": self.points or None,
                "background": self.background,
                "calibrate": int(self.calibrate)
                if self.calibrate[-1:].isdigit()
                else self.calibrate,
                "allow_smaller": self.allow_smaller,
                "force": self.force,
            }
        )

    def request(self, label_language: str = "en") -> AnimateRequest:
        """Everything the engine needs to make the video.

        Args:
            label_language: BCP 47 tag of the label in the picture.

        Raises:
            InputError: BAD_OPTION.
        """
        speech = self.speech()
        return AnimateRequest(
            portrait=self.portrait or "",
            audio=self.audio,
            speech=speech,
            script=self.known_words,
            options=self.options(),
            consent=self.consent,
            label_language=label_language,
            title=title_of(self.audio if self.source == "upload" else None, speech, self.portrait),
        )


@dataclass(frozen=True)
class CallerOptions:
    """The `options` of an endpoint call, sorted by what they are about."""

    render: RenderOptions
    speech: SpeechOptions | None
    title: str
    script: str | None
    idempotency_key: str | None


def parse_options(given: Mapping[str, Any]) -> RenderOptions:
    """Render options from plain values; None means the default.

    Raises:
        InputError: BAD_OPTION, naming the first value that cannot be used.
    """
    try:
        return RenderOptions(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise _bad_option(error) from None


def parse_caller_options(given: Mapping[str, Any], text: str) -> CallerOptions:
    """Sort the options of a program: picture, speech, and what is about the job itself.

    Args:
        given: the options as they came.
        text: what should be said; empty when a recording was sent.

    Raises:
        InputError: BAD_OPTION, naming the first value that cannot be used.
    """
    about_job = {name: str(given[name]) for name in _OTHER_OPTIONS if given.get(name)}
    about_speech = {name: given[name] for name in _SPEECH_OPTIONS if given.get(name) is not None}
    about_picture = {
        name: value
        for name, value in given.items()
        if name not in _OTHER_OPTIONS and name not in _SPEECH_OPTIONS
    }
    try:
        speech = SpeechOptions(text=text, **about_speech) if text.strip() else None
    except ValidationError as error:
        raise _bad_option(error) from None
    return CallerOptions(
        render=parse_options(about_picture),
        speech=speech,
        title=about_job.get("title", "")[:TITLE_CHARACTERS],
        script=about_job.get("script"),
        idempotency_key=about_job.get("idempotency_key"),
    )


def title_of(audio: str | None, speech: SpeechOptions | None, portrait: str | None) -> str:
    """What lists call the video: the first words, or the name of the recording or the photo."""
    if speech is not None:
        title = " ".join(speech.text.split())
    else:
        title = Path(audio or portrait or "").stem.replace("_", " ")
    if len(title) <= TITLE_CHARACTERS:
        return title
    return title[: TITLE_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"


def _bad_option(error: ValidationError) -> InputError:
    first = error.errors()[0]
    option = str(first["loc"][0]).replace("_", " ") if first["loc"] else "options"
    reason = first["msg"][:1].lower() + first["msg"][1:]
    return InputError(ErrorCode.BAD_OPTION, option=option, reason=reason)
