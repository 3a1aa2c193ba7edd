"""The picture of each section: taken from what was kept, or drawn."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import Canceled
from engine.lecture.board import draw_board
from engine.lecture.cache import digest_of, key_of
from engine.lecture.compose import SectionComposer, SectionLook
from engine.lecture.lower_third import LowerThird
from engine.lecture.marking import marks_of, num_large_frames, planned_layout
from engine.lecture.options import LectureSection, LectureSpec
from engine.lecture.presenter import Presenter
from engine.lecture.section_writer import encoder_name, section_writer
from engine.lecture.voicing import Voiced
from engine.lecture.workplace import Workplace
from engine.lipsync.from_audio import loudness_of_wav
from engine.lipsync.from_timings import curves_from_timings
from engine.media.atomic import replace_when_done
from engine.media.caption_drawer import caption_zone, columns_for
from engine.media.captions import Cue, build_cues
from engine.pipeline.hear import Heard, Script, hear
from engine.pipeline.intake import load_png
from engine.speech.lexicon import Lexicon
from engine.speech.voice import TimedWord

RECIPE = 2
"""Counted up when the same section would be drawn differently."""

ALONE_MIN_S, ALONE_MAX_S = 3.0, 8.0
"""How long a presenter is alone in the picture: whole sentences, within these limits."""

_SENTENCE_MARKS = tuple(".!?…。！？।؟")  # noqa: RUF001 - marks of many scripts


@dataclass(frozen=True)
class DrawnSection:
    """The picture of a section and what was heard in it.

    Attributes:
        video: its MP4 without sound, kept by its content.
        words: with times on its own clock.
        notes: what was done differently, as `ErrorCode` values.
        is_new: whether it had to be drawn.
    """

    video: Path
    words: tuple[TimedWord, ...]
    notes: tuple[str, ...]
    is_new: bool


class SectionMaker:
    """Makes the pictures of one lecture's sections.

    Args:
        work: the job.

    Attributes:
        marks: labels drawn into every frame.
    """

    def __init__(self, work: Workplace) -> None:
        self._work = work
        self._job_dir = work.job_dir
        self._cache = work.cache
        self._lecture: LectureSpec = work.lecture
        self._fps = work.fps
        self._tell: Callable[[float], None] = _ignore
        self._first_index = 0
        settings = work.context.settings
        first = load_png(work.job_dir / self._lecture.sections[0].slide_name)
        ratio = first.shape[1] / first.shape[0]
        self._layout = planned_layout(work.options, ratio, settings)
        self._presenter = None
        if self._layout.presenter is not None:
            self._presenter = Presenter(work, self._layout.presenter, self._tell_share)
        self._title = self._lower_third()
        slide = self._layout.slide_rect(first.shape[1], first.shape[0])
        self.marks = marks_of(work.spec, self._layout, slide, self._title, settings)

    @property
    def animator_name(self) -> str:
        """Who draws the presenter; empty where there is none."""
        return self._presenter.name if self._presenter is not None else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is worth knowing about the portrait, as `ErrorCode` values."""
        return self._presenter.warnings if self._presenter is not None else ()

    @property
    def note_values(self) -> dict[str, Any]:
        """The numbers of the notes' sentences."""
        return self._presenter.judged.verdict.values if self._presenter is not None else {}

    def make(
        self,
        index: int,
        first_frame: int,
        voiced: Voiced,
        on_frame: Callable[[int], None],
        show: Callable[[NDArray[np.uint8]], None],
    ) -> DrawnSection:
        """Draw one section, or take what was drawn before.

        Args:
            index: of the section, from 0.
            first_frame: of the section in the lecture; the label is large in its first seconds,
                however short the first sections are.
            voiced: its sound.
            on_frame: called with the number of frames finished.
            show: handed a picture of it, H x W x 3, uint8, RGB.

        Raises:
            Canceled: nothing of the section is left behind.
        """
        self._first_index = min(first_frame, num_large_frames(self._fps))
        key = key_of(self._recipe(index, voiced))
        video, told = self._cache.place(key, ".mp4"), self._cache.place(key, ".json")
        if video.exists() and told.exists():
            words, notes = _read_words(told)
            return DrawnSection(video, words, notes, is_new=False)
        heard = self._listen(voiced)
        with replace_when_done(told) as part:
            part.write_text(_words_text(heard), "utf-8")
        self._tell = lambda share: on_frame(round(share * voiced.num_frames))
        self._draw(index, voiced, heard, video, on_frame, show)
        self._tell = _ignore
        self._cache.drop_folder(key)
        return DrawnSection(video, heard.words, heard.notes, is_new=True)

    def _recipe(self, index: int, voiced: Voiced) -> dict[str, Any]:
        """Everything the picture of a section depends on."""
        options = self._lecture.options
        look = options.model_dump(
            mode="json", exclude={"pause_s", "title", "subtitle", "music_volume", "clips"}
        )
        background = self._lecture.background_name
        return {
            "recipe": RECIPE,
            "encoder": encoder_name(),
            "sound": voiced.key,
            "words": voiced.section.text,
            "slide": digest_of(self._job_dir / voiced.section.slide_name),
            "background": digest_of(self._job_dir / background) if background else None,
            "look": look,
            "captions": options.captions == "burn",
            "places": repr(self._layout),
            "title": [options.title, options.subtitle] if index == 0 else None,
            "is_first": index == 0,
            "first_index": self._first_index,
            "marks": [self.marks.facts, repr(self.marks.label.box if self.marks.label else None)],
            "presenter": self._presenter.recipe if self._presenter is not None else None,
        }

    def _listen(self, voiced: Voiced) -> Heard:
        """What the mouth does, and the words where they are known."""
        spoken = voiced.timings
        duration_s = float(voiced.num_frames / self._fps)
        section: LectureSection = voiced.section
        if spoken.phonemes:
            loudness = loudness_of_wav(voiced.wav)
            curves = curves_from_timings(spoken.phonemes, duration_s, loudness)
            return Heard(curves, spoken.words, spoken.phonemes, spoken.notes)
        if section.silence_s is not None:
            return Heard(curves_from_timings((), duration_s))
        script = Script.of(section.text, self._lecture.voice.language)
        lexicon = Lexicon.load(self._work.context.settings.pronunciations_path)
        return hear(voiced.wav, script, self._work.tools, self._work.context.canceled, lexicon)

    def _draw(
        self,
        index: int,
        voiced: Voiced,
        heard: Heard,
        video: Path,
        on_frame: Callable[[int], None],
        show: Callable[[NDArray[np.uint8]], None],
    ) -> None:
        options = self._lecture.options
        slide = load_png(self._job_dir / voiced.section.slide_name)
        backdrop = None
        if self._lecture.background_name is not None:
            backdrop = load_png(self._job_dir / self._lecture.background_name)
        board = draw_board(options, self._layout, slide, backdrop)
        show(board.full)
        look = SectionLook(
            board=board,
            layout=self._layout,
            fps=self._fps,
            num_frames=voiced.num_frames,
            is_faded=options.transition == "fade",
            cues=self._cues(heard, voiced),
            title=self._title if index == 0 else None,
            marks=self.marks,
            first_index=self._first_index,
        )
        frames, num_alone = None, 0
        if self._presenter is not None:
            count = voiced.num_frames
            if self._presenter.place.is_alone:
                count = num_alone = self._num_alone(heard, voiced)
            key = video.name.partition(".")[0]
            frames = self._presenter.frames(voiced, heard.curves, count, key)
        composer = SectionComposer(look, frames, num_alone)
        # The lite animator tells nothing by itself; a slow one is nearly done when frames come.
        tells_frames = self.animator_name in ("", "lite")
        with section_writer(video, options.frame_size, self._fps) as writer:
            for done, planes in enumerate(composer.frames(), start=1):
                if self._work.context.canceled.is_set():
                    raise Canceled
                writer.write(planes)
                if tells_frames:
                    on_frame(done)

    def _cues(self, heard: Heard, voiced: Voiced) -> tuple[Cue, ...]:
        if self._lecture.options.captions != "burn" or not heard.words:
            return ()
        width, height = self._lecture.options.frame_size
        duration_s = float(voiced.num_frames / self._fps)
        return build_cues(heard.words, duration_s, columns_for(width, height))

    def _num_alone(self, heard: Heard, voiced: Voiced) -> int:
        """Frames until the end of the first sentences, never more than half of the section."""
        ends = (word.end_s for word in heard.words if word.text.endswith(_SENTENCE_MARKS))
        first_s = next((end_s for end_s in ends if end_s >= ALONE_MIN_S), ALONE_MAX_S)
        return min(math.ceil(min(first_s, ALONE_MAX_S) * self._fps), voiced.num_frames // 2)

    def _tell_share(self, share: float) -> None:
        self._tell(share)

    def _lower_third(self) -> LowerThird | None:
        options = self._lecture.options
        if not (options.title or options.subtitle):
            return None
        width, height = options.frame_size
        is_burnt = options.captions == "burn"
        bottom_px = caption_zone(width, height)[3] if is_burnt else 0
        return LowerThird(options, self._layout, self._fps, bottom_px)


def _ignore(_share: float) -> None:
    return


def _words_text(heard: Heard) -> str:
    words = [[word.text, round(word.start_s, 4), round(word.end_s, 4)] for word in heard.words]
    return json.dumps({"words": words, "notes": list(heard.notes)}, ensure_ascii=False)


def _read_words(path: Path) -> tuple[tuple[TimedWord, ...], tuple[str, ...]]:
    stored = json.loads(path.read_text("utf-8"))
    words = tuple(TimedWord(text, start_s, end_s) for text, start_s, end_s in stored["words"])
    return words, tuple(stored["notes"])
