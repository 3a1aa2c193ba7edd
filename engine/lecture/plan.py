"""Which words and which part of which recording belong to which slide. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import ErrorCode, InputError
from engine.lecture.options import LectureOptions, LectureSection
from engine.lecture.script import ScriptSection, parse_script, sections_of_notes
from engine.lecture.slide_names import slide_name
from engine.lecture.times import parse_times, spread_times
from engine.settings import EngineSettings

CHARACTERS_PER_SECOND = 16.0
"""Characters of text a voice speaks in a second at speed 1."""


@dataclass(frozen=True)
class Slide:
    """One slide of a deck.

    Attributes:
        name: of its picture in the job's folder.
        note: what the speaker's notes say, may be empty.
        title: what stands at its top, may be empty.
    """

    name: str
    note: str = ""
    title: str = ""


@dataclass(frozen=True)
class Recording:
    """A recording that was taken in.

    Attributes:
        name: of the WAV in the job's folder.
        duration_s: its length in seconds.
    """

    name: str
    duration_s: float


@dataclass(frozen=True)
class Spoken:
    """What is said, as it was given.

    Attributes:
        script: Markdown, None = the notes of the slides count.
        recordings: none, one, or one for each slide.
        times: text with the slide times, for one recording.
    """

    script: str | None
    recordings: tuple[Recording, ...] = ()
    times: str | None = None


def plan_sections(
    slides: Sequence[Slide], spoken: Spoken, settings: EngineSettings, language: str = "en"
) -> tuple[LectureSection, ...]:
    """One section for each slide.

    Args:
        slides: in their order.
        spoken: what is said to them.
        settings: for the limits.
        language: in which a slide without a title is named.

    Raises:
        InputError: words, times or recordings do not fit the slides; see `engine.lecture.script`
            and `engine.lecture.times`. TEXT_TOO_LONG or SCRIPT_TOO_LONG.
    """
    words = _words(slides, spoken, language)
    if words is not None:
        require_fitting(len(words), len(slides))
        _require_short(words, settings)
    if not spoken.recordings:
        return tuple(
            LectureSection(
                heading=part.heading,
                text=part.text,
                silence_s=part.silence_s,
                slide_name=slide.name,
            )
            for slide, part in zip(slides, words or (), strict=True)
        )
    texts = [""] * len(slides) if words is None else [part.text for part in words]
    headings = [
        slide.title or slide_name(number, language) for number, slide in enumerate(slides, start=1)
    ]
    if words is not None:
        headings = [part.heading for part in words]
    if len(spoken.recordings) == 1 and (len(slides) == 1 or spoken.times):
        return _timed(slides, spoken, headings, texts)
    if spoken.times or len(spoken.recordings) != len(slides):
        raise InputError(
            ErrorCode.RECORDINGS_COUNT, recordings=len(spoken.recordings), slides=len(slides)
        )
    return tuple(
        LectureSection(heading=heading, text=text, slide_name=slide.name, audio_name=sound.name)
        for slide, sound, heading, text in zip(
            slides, spoken.recordings, headings, texts, strict=True
        )
    )


def require_fitting(num_sections: int, num_slides: int) -> None:
    """Make sure that every slide has its section.

    Raises:
        InputError: SCRIPT_TOO_MANY or SCRIPT_TOO_FEW.
    """
    if num_sections == num_slides:
        return
    code = ErrorCode.SCRIPT_TOO_MANY if num_sections > num_slides else ErrorCode.SCRIPT_TOO_FEW
    raise InputError(code, sections=num_sections, slides=num_slides)


def expected_duration_s(
    section: LectureSection, options: LectureOptions, speed: float = 1.0
) -> float | None:
    """About how long a section takes; None when its recording runs to its end."""
    if section.silence_s is not None:
        return section.silence_s
    if section.audio_name is None:
        return len(section.text) / CHARACTERS_PER_SECOND / speed + options.pause_s
    return None if section.end_s is None else section.end_s - section.start_s


def _words(
    slides: Sequence[Slide], spoken: Spoken, language: str
) -> tuple[ScriptSection, ...] | None:
    """The parts of the script, or of the notes; None where only a recording counts."""
    if spoken.script is not None and spoken.script.strip():
        return parse_script(spoken.script, language)
    if spoken.recordings:
        return None
    if not any(slide.note for slide in slides):
        raise InputError(ErrorCode.SCRIPT_MISSING)
    titles = [slide.title for slide in slides]
    return sections_of_notes([slide.note for slide in slides], titles, language)


def _require_short(words: Sequence[ScriptSection], settings: EngineSettings) -> None:
    """The whole within the limit of a lecture, each part within that of one text."""
    total = sum(len(part.text) for part in words)
    if total > settings.max_script_characters:
        limit = settings.max_script_characters
        raise InputError(ErrorCode.SCRIPT_TOO_LONG, count=total, limit=limit)
    for number, part in enumerate(words, start=1):
        if len(part.text) > settings.max_text_characters:
            raise InputError(
                ErrorCode.SCRIPT_SECTION_LONG,
                number=number,
                count=len(part.text),
                limit=settings.max_text_characters,
            )


def _timed(
    slides: Sequence[Slide], spoken: Spoken, headings: Sequence[str], texts: Sequence[str]
) -> tuple[LectureSection, ...]:
    """The parts of one recording."""
    sound = spoken.recordings[0]
    times = spread_times(parse_times(spoken.times or ""), len(slides), sound.duration_s)
    ends = [*(time.start_s for time in times[1:]), None]
    return tuple(
        LectureSection(
            heading=time.heading or heading,
            text=text,
            slide_name=slide.name,
            audio_name=sound.name,
            start_s=time.start_s,
            end_s=end_s,
        )
        for slide, time, end_s, heading, text in zip(
            slides, times, ends, headings, texts, strict=True
        )
    )
