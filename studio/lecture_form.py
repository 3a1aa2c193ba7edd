"""What a person filled in on the Lecture page, as the engine's own request type. Pure."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engine.contracts import RenderOptions
from engine.errors import ErrorCode, InputError
from engine.lecture.options import LectureOptions, LectureVoice
from engine.lecture.request import LectureRequest
from engine.lecture.script import ScriptSection, write_script
from engine.lecture.slide_names import slide_name

MAX_ROWS_CHARACTERS = 5_000_000

# A line that begins so would be taken for the heading of the next slide.
_HEADING_MARK = re.compile(r"(?m)^ {0,3}#+[ \t]*")


@dataclass(frozen=True)
class LectureForm:
    """The page as it stands. Names are those of the page's controls.

    Attributes:
        portrait, backdrop, music: uploaded files, or None.
        face: number of the chosen face, below 0 = the largest.
        slides, recordings: uploaded files, in order.
        rows: heading and text of each slide as JSON, from the browser.
        times: when the slides come in one recording, empty = not given.
        language, voice, speed: who speaks.
        consent: whether the box is ticked.
    """

    portrait: str | None
    face: float | None
    slides: tuple[str, ...]
    rows: str
    recordings: tuple[str, ...]
    times: str
    language: str | None
    voice: str | None
    speed: float
    layout: str
    corner: str
    shape: str
    background: str
    backdrop: str | None
    colour: str
    aspect: str
    size: int
    transition: str
    captions: str
    pause: float
    title: str
    subtitle: str
    music: str | None
    volume: float
    clips: bool
    consent: bool

    def request(self, label_language: str = "en") -> LectureRequest:
        """Everything the engine needs to make the lecture.

        Raises:
            InputError: SCRIPT_SECTION_EMPTY or BAD_OPTION.
        """
        face = int(self.face) if self.face is not None and self.face >= 0 else None
        try:
            return LectureRequest(
                portrait=self.portrait if self.layout != "off" else None,
                slides=self.slides,
                script=self.script(label_language),
                audio=self.recordings,
                times=self.times.strip() or None if self.recordings else None,
                music=self.music,
                backdrop=self.backdrop if self.background == "picture" else None,
                options=LectureOptions.model_validate(self._look()),
                voice=LectureVoice(
                    language=self.language or None, voice=self.voice or None, speed=self.speed
                ),
                render=RenderOptions(face_index=face),
                consent=self.consent,
                title=self.title.strip() or self._name(),
                label_language=label_language,
            )
        except ValidationError as error:
            fault = error.errors()[0]
            option = str(fault["loc"][-1]).replace("_", " ") if fault["loc"] else "options"
            raise InputError(ErrorCode.BAD_OPTION, option=option, reason=fault["msg"]) from None

    def script(self, language: str = "en") -> str | None:
        """The cards as Markdown; of recordings only when the words of all slides are known.

        Args:
            language: in which a slide without a name is called by its number.
        """
        rows = read_rows(self.rows)
        if self.recordings and not all(row["text"].strip() for row in rows):
            return None
        sections = [
            ScriptSection(
                row["heading"].strip() or slide_name(number, language), _spoken(row["text"])
            )
            for number, row in enumerate(rows, start=1)
        ]
        return write_script(sections) if sections else None

    def _look(self) -> dict[str, Any]:
        return {
            "layout": self.layout,
            "corner": self.corner,
            "shape": self.shape,
            "background": self.background,
            "colour": self.colour,
            "aspect": self.aspect,
            "size_px": int(self.size),
            "transition": self.transition,
            "captions": self.captions,
            "pause_s": self.pause,
            "title": self.title.strip(),
            "subtitle": self.subtitle.strip(),
            "music_volume": self.volume,
            "clips": self.clips,
        }

    def _name(self) -> str:
        return Path(self.slides[0]).stem.replace("_", " ") if self.slides else ""


def read_rows(text: str) -> list[dict[str, str]]:
    """Heading and text of each slide, from the browser; what is not that is empty.

    Raises:
        InputError: SCRIPT_TOO_LONG.
    """
    if len(text) > MAX_ROWS_CHARACTERS:
        raise InputError(ErrorCode.SCRIPT_TOO_LONG, count=len(text), limit=MAX_ROWS_CHARACTERS)
    try:
        rows = json.loads(text or "[]")
    except ValueError:
        return []
    if not isinstance(rows, list):
        return []
    return [
        {name: str(row.get(name) or "") for name in ("heading", "text")}
        for row in rows
        if isinstance(row, dict)
    ]


def script_json(sections: tuple[ScriptSection, ...]) -> str:
    """A script for the cards of the browser."""
    rows = [
        {
            "heading": section.heading,
            "text": section.text if section.silence_s is None else f"[pause {section.silence_s:g}]",
        }
        for section in sections
    ]
    return json.dumps(rows, ensure_ascii=False)


def _spoken(text: str) -> str:
    return _HEADING_MARK.sub("", text).strip()
