"""What a lecture is: its look, its sections, everything a worker needs. Types only.

Part of the contract that crosses the process wall; imports nothing of the engine.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

LayoutName = Literal["corner", "side", "full", "off"]
Corner = Literal["tl", "tr", "bl", "br"]
PresenterShape = Literal["round", "square"]
BackgroundKind = Literal["plain", "blurred", "picture"]
LectureAspect = Literal["16:9", "9:16"]
Transition = Literal["cut", "fade"]

PREVIEW_SIZE_PX = 360
"""Short side of the quick look at one slide."""


class FrozenModel(BaseModel):
    """Immutable, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LectureOptions(FrozenModel):
    """Everything a person may choose about the look of a lecture.

    Attributes:
        layout: where the presenter is: `corner`, `side` (beside the slide), `full` (alone in the
            picture while the first sentence of a slide is said, then the slide alone) or `off`.
        corner: which corner.
        shape: of the presenter in the corner.
        cover: the presenter may cover a corner of the slide; else the slide is made smaller so
            that nothing of it is hidden.
        background: behind slide and presenter: one colour, a blurred copy of the slide, or the
            picture that came with the request.
        colour: of the plain background, `#rrggbb` or a colour name.
        aspect: shape of the video.
        size_px: its short side in pixels.
        fps: frames a second.
        transition: `cut` shows the next slide at once, `fade` lets slides fade out and in.
        pause_s: silence after the words of each slide, where a text is spoken.
        captions: `srt` = files beside the video, `burn` = drawn into the picture too.
        title, subtitle: shown in the lower third at the start; empty = not shown.
        music_volume: of the background music in pauses, 0-1; it is lowered while someone speaks.
        clips: also keep every slide's part as a video of its own, all of them in one ZIP.
    """

    layout: LayoutName = "corner"
    corner: Corner = "br"
    shape: PresenterShape = "round"
    cover: bool = False
    background: BackgroundKind = "plain"
    colour: str = "#15181e"
    aspect: LectureAspect = "16:9"
    size_px: Literal[360, 720, 1080] = 720
    fps: Literal[24, 25, 30, 50, 60] = 25
    transition: Transition = "cut"
    pause_s: float = Field(default=0.6, ge=0.0, le=10.0)
    captions: Literal["off", "srt", "burn"] = "srt"
    title: str = Field(default="", max_length=80)
    subtitle: str = Field(default="", max_length=80)
    music_volume: float = Field(default=0.3, ge=0.0, le=1.0)
    clips: bool = False

    @property
    def frame_size(self) -> tuple[int, int]:
        """Width and height of the video in pixels, both even."""
        long = self.size_px * 16 // 9 // 2 * 2
        return (long, self.size_px) if self.aspect == "16:9" else (self.size_px, long)


class LectureVoice(FrozenModel):
    """Who speaks the texts; see `SpeechOptions`."""

    language: str | None = None
    voice: str | None = None
    speed: float = Field(default=1.0, ge=0.5, le=2.0)
    style: str | None = None


class LectureSection(FrozenModel):
    """One slide and what is said to it.

    Attributes:
        heading: name of the chapter.
        text: what is said; of a recording its known words, empty where they are not known.
        slide_name: the picture of the slide.
        silence_s: nothing is said, the slide is shown for this time.
        audio_name: the recording that has the words, None = `text` is spoken.
        start_s, end_s: the part of the recording; an end of None = to its end.
    """

    heading: str
    text: str = ""
    slide_name: str
    silence_s: float | None = None
    audio_name: str | None = None
    start_s: float = 0.0
    end_s: float | None = None


class LectureSpec(FrozenModel):
    """What a worker needs to make a lecture. File names are relative to the job's folder.

    Attributes:
        title: of the video, may be empty.
        sections: in order.
        options: of the look.
        voice: who speaks.
        background_name, music_name: files of the job, None = none.
        scope: folder name of the owner's finished sections, so that nobody meets another's.
    """

    title: str = ""
    sections: tuple[LectureSection, ...]
    options: LectureOptions = LectureOptions()
    voice: LectureVoice = LectureVoice()
    background_name: str | None = None
    music_name: str | None = None
    scope: str

    @property
    def file_names(self) -> tuple[str, ...]:
        """Every file of the job that was given, each once."""
        sections = [(section.slide_name, section.audio_name) for section in self.sections]
        names = [name for pair in sections for name in pair]
        return tuple(dict.fromkeys(filter(None, [*names, self.background_name, self.music_name])))
