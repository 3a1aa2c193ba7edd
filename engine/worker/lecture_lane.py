"""The inputs of a lecture on their way into a job: slides, recordings, words, portrait.

Every file of a stranger is opened by the decode lane; the quick child keeps what came out.
"""

import contextlib
import shutil
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import ErrorCode, InputError
from engine.lecture.options import LectureSection, LectureSpec
from engine.lecture.plan import Recording, Slide, Spoken, plan_sections
from engine.lecture.request import LectureRequest
from engine.worker.office import convert_to_pdf
from engine.worker.quick import PREVIEW_AGE_S, SPEECH_NAME, QuickLane, absolute

PAGES_AT_ONCE = 12
"""Raw pages are 6 MB each; they lie on the disk until the quick child has packed them."""

HEAD_BYTES = 1024
"""A PDF may begin with some bytes that are not its own."""

PDF_MARK, ZIP_MARK = b"%PDF-", b"PK\x03\x04"
PREVIEW_FACTOR = 4.0
"""A look at a slide speaks and draws some seconds of video, more than any other question."""

BACKDROP_NAME = "backdrop.png"
MUSIC_NAME = "music.wav"
MAX_RECORDINGS = 500


@dataclass(frozen=True)
class TakenLecture:
    """A lecture whose files lie in its job's folder.

    Attributes:
        spec: what to make.
        portrait_name: empty for a lecture without presenter.
        recorded_s: length of all recordings in seconds.
    """

    spec: LectureSpec
    portrait_name: str
    recorded_s: float


class LectureLane(QuickLane):
    """The quick lane's questions about lectures; arguments as of `QuickLane`."""

    def take_in_lecture(self, request: LectureRequest, folder: Path, scope: str) -> TakenLecture:
        """Re-encode the inputs of a lecture into the folder of its job.

        Args:
            request: what was asked.
            folder: of the job.
            scope: of the owner's finished sections.

        Raises:
            InputError: what is wrong with the inputs.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        with self._scratch() as scratch:
            slides = self._take_slides(request.slides, folder, scratch)
            recordings = self._take_recordings(request.audio, folder)
            spoken = Spoken(request.script, recordings, request.times)
            sections = plan_sections(slides, spoken, self._settings, request.label_language)
            music = self._heard(request.music, folder / MUSIC_NAME)
            has_backdrop = request.options.background == "picture"
            backdrop = request.backdrop if has_backdrop else None
            payload = {
                "portrait": self._presenter(request, scratch),
                "backdrop": self._seen(backdrop, request.render, scratch / "backdrop"),
                "backdrop_target": str(folder / BACKDROP_NAME),
                "music": music,
                "sections": [section.model_dump(mode="json") for section in sections],
                "voice": request.voice.model_dump(mode="json"),
                "options": request.options.model_dump(mode="json"),
                "render": request.render.model_dump(mode="json"),
                "job_dir": str(folder),
            }
            answer = self._probe("lecture_intake", payload)
        spec = LectureSpec(
            title=request.title,
            sections=sections,
            options=request.options,
            voice=request.voice,
            background_name=BACKDROP_NAME if backdrop else None,
            music_name=MUSIC_NAME if music else None,
            scope=scope,
        )
        recorded_s = sum(recording.duration_s for recording in recordings)
        return TakenLecture(spec, answer["portrait_name"], recorded_s)

    def open_deck(self, slides: Sequence[str]) -> tuple[Path, tuple[Slide, ...]]:
        """Show the slides before anything is made.

        Returns:
            A folder with their pictures that lives for an hour at least, and the slides.

        Raises:
            InputError: what is wrong with the file.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        folder = self._new_deck_folder()
        try:
            with self._scratch() as scratch:
                found = self._take_slides(slides, folder, scratch, is_small=True)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return folder, found

    def preview_section(self, request: LectureRequest, number: int) -> Path:
        """Make a short, small video of one slide.

        Args:
            request: the lecture; recordings and captions are left out.
            number: of the slide, from 1.

        Returns:
            An MP4 that lives for an hour at least.

        Raises:
            InputError: what is wrong with the inputs.
            EngineError: PROBE_TIMEOUT, WORKER_LOST.
        """
        target = self._new_preview(".mp4")
        with self._scratch() as scratch:
            slides = self._take_slides(request.slides, scratch, scratch, only=number)
            spoken = Spoken(request.script)
            sections = plan_sections(slides, spoken, self._settings, request.label_language)
            section: LectureSection = sections[number - 1]
            backdrop = request.backdrop if request.options.background == "picture" else None
            payload = {
                "portrait": self._presenter(request, scratch),
                "backdrop": self._seen(backdrop, request.render, scratch / "backdrop"),
                "backdrop_target": str(scratch / BACKDROP_NAME),
                "section": section.model_dump(mode="json"),
                "voice": request.voice.model_dump(mode="json"),
                "options": request.options.model_dump(mode="json"),
                "render": request.render.model_dump(mode="json"),
                "job_dir": str(scratch),
                "target": str(target),
            }
            self._ask("lecture_preview", payload, PREVIEW_FACTOR * self._settings.quick_timeout_s)
        return target

    def _new_deck_folder(self) -> Path:
        """A folder for a deck; those that nobody can look at any more are removed."""
        root = self._temp_dir()
        oldest = time.time() - PREVIEW_AGE_S
        for old in root.glob("deck-*"):
            with contextlib.suppress(OSError):  # just removed
                if old.stat().st_mtime < oldest:
                    shutil.rmtree(old, ignore_errors=True)
        folder = root / f"deck-{uuid.uuid4().hex}"
        folder.mkdir()
        return folder

    def _presenter(self, request: LectureRequest, scratch: Path) -> dict[str, Any] | None:
        """The decoded portrait; None for a lecture without presenter."""
        if request.options.layout == "off":
            return None
        return self._seen(request.portrait, request.render, scratch)

    def _take_recordings(self, paths: Sequence[str], folder: Path) -> tuple[Recording, ...]:
        if len(paths) > MAX_RECORDINGS:
            raise InputError(
                ErrorCode.RECORDINGS_COUNT, recordings=len(paths), slides=self._settings.max_slides
            )
        recordings = []
        for index, path in enumerate(paths):
            name = SPEECH_NAME if len(paths) == 1 else f"speech-{index:04}.wav"
            heard = self._heard(path, folder / name) or {}
            if heard.get("is_silent"):
                raise InputError(ErrorCode.SILENT)
            recordings.append(Recording(name, float(heard["duration_s"])))
        return tuple(recordings)

    def _take_slides(
        self,
        paths: Sequence[str],
        folder: Path,
        scratch: Path,
        *,
        is_small: bool = False,
        only: int | None = None,
    ) -> tuple[Slide, ...]:
        """Keep the pictures of a deck in a folder.

        Args:
            paths: one PDF or PowerPoint file, or pictures.
            folder: where they are kept.
            scratch: for what is needed on the way.
            is_small: keep small JPEGs for a page instead of lossless pictures.
            only: keep the picture of this slide alone.
        """
        sources = [str(absolute(path)) for path in paths]
        if not sources:
            raise InputError(ErrorCode.SLIDES_NONE)
        if len(sources) > self._settings.max_slides:
            limit = self._settings.max_slides
            raise InputError(ErrorCode.SLIDES_TOO_MANY, count=len(sources), limit=limit)
        kinds = {self._kind_of(path) for path in sources}
        suffix = ".jpg" if is_small else ".png"
        if kinds == {"picture"}:
            return self._take_pictures(sources, folder, scratch, suffix, only)
        if len(sources) > 1:
            raise InputError(ErrorCode.SLIDES_MIXED)
        if kinds == {"pdf"}:
            count = self._take_pages(Path(sources[0]), folder, scratch, suffix, only)
            return tuple(Slide(_slide_name(index, suffix)) for index in range(count))
        told = self._decode.notes(sources[0])
        office = scratch / "office"
        office.mkdir()
        pdf = convert_to_pdf(Path(sources[0]), office, self._settings)
        count = self._take_pages(pdf, folder, scratch, suffix, only)
        shutil.rmtree(office, ignore_errors=True)
        empty = [""] * count
        rows = zip(range(count), [*told["notes"], *empty], [*told["titles"], *empty], strict=False)
        return tuple(Slide(_slide_name(index, suffix), note, title) for index, note, title in rows)

    def _kind_of(self, path: str) -> str:
        """`pdf`, `pptx` or `picture`, told from the first bytes."""
        source = Path(path)
        try:
            size = source.stat().st_size
            with source.open("rb") as file:
                head = file.read(HEAD_BYTES)
        except OSError:
            raise InputError(ErrorCode.FILE_NOT_FOUND, name=source.name) from None
        if not size:
            raise InputError(ErrorCode.EMPTY_FILE)
        if size > self._settings.max_slides_bytes:
            limit_mb = round(self._settings.max_slides_bytes / 1e6)
            raise InputError(ErrorCode.FILE_TOO_LARGE, size_mb=round(size / 1e6), limit_mb=limit_mb)
        if PDF_MARK in head:
            return "pdf"
        return "pptx" if head.startswith(ZIP_MARK) else "picture"

    def _take_pages(
        self, source: Path, folder: Path, scratch: Path, suffix: str, only: int | None
    ) -> int:
        """Keep the pages of a PDF; a few at a time, because raw pixels are large."""
        first, num_pages = 0 if only is None else only - 1, None
        while num_pages is None or (first < num_pages and only is None):
            raw = scratch / f"raw-{uuid.uuid4().hex}"
            raw.mkdir()
            count = PAGES_AT_ONCE if only is None else 1
            answer = self._decode.pages(str(source), raw, first, count)
            num_pages = int(answer["num_pages"])
            rows = [
                {**page, "target": str(folder / _slide_name(first + index, suffix))}
                for index, page in enumerate(answer["pages"])
            ]
            self._probe("keep_slides", {"slides": rows})
            shutil.rmtree(raw, ignore_errors=True)
            first += count
        return num_pages

    def _take_pictures(
        self, sources: Sequence[str], folder: Path, scratch: Path, suffix: str, only: int | None
    ) -> tuple[Slide, ...]:
        slides = []
        for index, source in enumerate(sources):
            name = _slide_name(index, suffix)
            slides.append(Slide(name))
            if only is not None and only != index + 1:
                continue
            try:
                seen = self._decode.picture(source, "white", scratch / "slide")
            except InputError as error:
                if error.code is ErrorCode.NOT_AN_IMAGE:
                    raise InputError(ErrorCode.SLIDES_UNREADABLE) from None
                raise
            self._probe("keep_slides", {"slides": [{**seen, "target": str(folder / name)}]})
        return tuple(slides)


def _slide_name(index: int, suffix: str) -> str:
    return f"slide-{index + 1:04}{suffix}"


def require_lecture(request: LectureRequest) -> None:
    """Refuse what can be seen without opening a file.

    Raises:
        InputError: CONSENT_MISSING, BAD_OPTION or FILE_NOT_FOUND.
    """
    if not request.consent:
        raise InputError(ErrorCode.CONSENT_MISSING)
    if request.options.layout != "off" and request.portrait is None:
        raise InputError(ErrorCode.PORTRAIT_MISSING)
    if request.options.background == "picture" and request.backdrop is None:
        raise InputError(
            ErrorCode.BAD_OPTION, option="background", reason="no picture for it was given"
        )
    paths = [request.portrait, *request.slides, *request.audio, request.music, request.backdrop]
    for path in paths:
        if path is not None and not Path(path).is_file():
            raise InputError(ErrorCode.FILE_NOT_FOUND, name=Path(path).name)
