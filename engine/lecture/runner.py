"""A lecture from its inputs to its artifacts, section by section.

What is finished is kept by its content in the data folder: a second attempt, and a later lecture,
begin with the first section that is missing.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.contracts import Artifact, ArtifactKind, JobSpec, Stage
from engine.errors import Canceled
from engine.lecture.cache import FOLDER_NAME, SectionCache, note_used
from engine.lecture.clips import ClipMaker, ClipSource
from engine.lecture.contents import contents_text
from engine.lecture.join import Part, chapters_of, join
from engine.lecture.marking import facts_of
from engine.lecture.options import LectureSpec
from engine.lecture.sections import SectionMaker
from engine.lecture.sound import Music, lecture_sound
from engine.lecture.voicing import Voiced, Voicing
from engine.lecture.workplace import Workplace
from engine.media.atomic import replace_when_done
from engine.media.audio import SPEECH_RATE_HZ
from engine.media.captions import build_cues, write_captions
from engine.media.video import probe_video, read_frames, write_poster
from engine.pipeline.deliver import finished_files
from engine.pipeline.preview import LivePicture
from engine.pipeline.sonic import peak_vram_mb
from engine.pipeline.stage import StageClock
from engine.pipeline.tools import Tools
from engine.provenance.seal import seal
from engine.speech.lexicon import Lexicon
from engine.speech.voice import TimedWord
from engine.storage import LIVE_NAME
from engine.worker.task import TaskContext

VIDEO_NAME = "video.mp4"
POSTER_NAME = "poster.jpg"
CLIPS_NAME = "clips.zip"
CONTENTS_NAME = "contents.txt"
SRT_NAME = "captions.srt"
VTT_NAME = "captions.vtt"
REPORT_NAME = "report.json"
SHARE_STEPS = 100

STAGE_SHARES = {
    Stage.PREPARE: 2.0,
    Stage.SPEAK: 40.0,
    Stage.LISTEN: 0.0,
    Stage.ANIMATE: 50.0,
    Stage.FINISH: 5.0,
    Stage.ASSEMBLE: 3.0,
}
"""Measured with a built-in natural voice and the lite animator at 720 pixels on two cores."""


@dataclass(frozen=True)
class MadeSection:
    """A section whose picture is there.

    Attributes:
        voiced: its sound.
        part: its picture.
        words: with times on its own clock; empty where they are not known.
        notes: what was done differently, as `ErrorCode` values.
        is_new: whether this attempt drew it.
    """

    voiced: Voiced
    part: Part
    words: tuple[TimedWord, ...]
    notes: tuple[str, ...]
    is_new: bool


class LectureJob:
    """Makes one lecture."""

    def __init__(self, work: Workplace) -> None:
        self._work = work
        self._spec = work.spec
        self._lecture: LectureSpec = work.lecture
        self._job_dir = work.job_dir
        self._context = work.context
        self._fps = work.fps
        self._clock = work.clock
        self._clock.shares = STAGE_SHARES
        self._live = LivePicture(work.job_dir / LIVE_NAME)

    def run(self) -> dict[str, Any]:
        """Make it.

        Returns:
            `report`: the numbers of `lecture --json`; `artifacts`: the finished files.

        Raises:
            EngineError: the stage reported last is the one it happened in.
        """
        with self._clock.running(Stage.PREPARE):
            maker = SectionMaker(self._work)
        with self._clock.running(Stage.SPEAK, SHARE_STEPS * len(self._lecture.sections)):
            voiced = self._voice()
        with self._clock.running(Stage.ANIMATE, sum(one.num_frames for one in voiced)):
            made = self._draw(maker, voiced)
        with self._clock.running(Stage.FINISH, len(made)):
            if self._lecture.options.clips:
                self._write_clips(maker, made)
            self._join(maker, made)
        with self._clock.running(Stage.ASSEMBLE):
            return self._assemble(maker, made)

    def _voice(self) -> list[Voiced]:
        lexicon = Lexicon.load(self._context.settings.pronunciations_path)
        work = self._work
        voicing = Voicing(self._lecture, self._job_dir, work.cache, work.tools, lexicon)
        voiced = []
        for index, section in enumerate(self._lecture.sections):
            if self._context.canceled.is_set():
                raise Canceled

            def tell(share: float, before: int = index * SHARE_STEPS) -> None:
                self._clock.step(before + round(share * SHARE_STEPS))

            voiced.append(voicing.voice(section, self._context.canceled, tell))
            tell(1.0)
        work.tools.voices.unload()  # the animator needs the memory
        return voiced

    def _draw(self, maker: SectionMaker, voiced: list[Voiced]) -> list[MadeSection]:
        made: list[MadeSection] = []
        before = 0
        for index, one in enumerate(voiced):
            if self._context.canceled.is_set():
                raise Canceled

            def tell(done: int, offset: int = before) -> None:
                self._clock.step(offset + done)

            drawn = maker.make(index, before, one, tell, self._live.offer)
            part = Part(drawn.video, one.num_frames, one.section.heading)
            made.append(MadeSection(one, part, drawn.words, drawn.notes, drawn.is_new))
            before += one.num_frames
            tell(0, before)
            self._note_used()
        return made

    def _write_clips(self, maker: SectionMaker, made: list[MadeSection]) -> None:
        target = self._job_dir / CLIPS_NAME
        if target.exists():
            return

        def seal_clip(path: Path, number: int) -> None:
            facts = facts_of(self._spec, maker.marks, maker.animator_name, number)
            seal(path, facts, self._context.settings)

        clips = ClipMaker(
            self._job_dir,
            self._lecture.options.frame_size,
            self._fps,
            maker.marks,
            seal_clip,
            self._context.canceled,
        )
        sources = [
            ClipSource(one.part, one.voiced.wav, has_large_label=index == 0)
            for index, one in enumerate(made)
        ]
        clips.write(sources, target, self._clock.step)

    def _join(self, maker: SectionMaker, made: list[MadeSection]) -> None:
        """Write the video and everything that names its parts; the seal is the last write."""
        video = self._job_dir / VIDEO_NAME
        lecture = self._lecture
        counts = [round(one.part.num_frames * SPEECH_RATE_HZ / self._fps) for one in made]
        music = None
        if lecture.music_name is not None:
            volume = lecture.options.music_volume
            music = Music(self._job_dir / lecture.music_name, volume)
        sound = lecture_sound([one.voiced.wav for one in made], counts, music)
        title = lecture.options.title or lecture.title
        parts = [one.part for one in made]
        metadata = {"title": title} if title else {}
        join(parts, sound, video, self._fps, metadata, self._context.canceled)
        for _, frame in read_frames(parts[0].video):
            write_poster(frame, self._job_dir / POSTER_NAME)
            break
        text = contents_text(title, chapters_of(parts, self._fps), self._fps)
        with replace_when_done(self._job_dir / CONTENTS_NAME) as part:
            part.write_text(text, "utf-8")
        words = self._words(made)
        if words and lecture.options.captions != "off":
            cues = build_cues(words, float(sum(counts)) / SPEECH_RATE_HZ)
            write_captions(cues, self._job_dir / SRT_NAME, self._job_dir / VTT_NAME)
        facts = facts_of(self._spec, maker.marks, maker.animator_name)
        seal(video, facts, self._context.settings)

    def _words(self, made: list[MadeSection]) -> list[TimedWord]:
        """All words on the clock of the lecture."""
        words: list[TimedWord] = []
        frames = 0
        for one in made:
            at_s = float(frames / self._fps)
            words += [
                TimedWord(word.text, word.start_s + at_s, word.end_s + at_s) for word in one.words
            ]
            frames += one.part.num_frames
        return words

    def _assemble(self, maker: SectionMaker, made: list[MadeSection]) -> dict[str, Any]:
        self._live.remove()
        report = self._report(maker, made)
        with replace_when_done(self._job_dir / REPORT_NAME) as part:
            part.write_text(json.dumps(report), "utf-8")
        artifacts = [artifact.model_dump() for artifact in self._artifacts()]
        return {"report": report, "artifacts": artifacts}

    def _report(self, maker: SectionMaker, made: list[MadeSection]) -> dict[str, Any]:
        info = probe_video(self._job_dir / VIDEO_NAME)
        elapsed_s = sum(self._clock.seconds.values())
        parts = [one.part for one in made]
        chapters = chapters_of(parts, self._fps)
        notes = [*maker.notes, *(note for one in made for note in one.notes)]
        facts = facts_of(self._spec, maker.marks, maker.animator_name)
        duration_s = float(chapters[-1][1] / self._fps)
        return {
            "duration_s": round(info.duration_s, 3),
            "audio_duration_s": round(duration_s, 3),
            "fps": f"{info.fps.numerator}/{info.fps.denominator}",
            "width_px": info.width_px,
            "height_px": info.height_px,
            "num_frames": info.num_frames,
            "animator": maker.animator_name or "none",
            "seed": self._spec.seed,
            "elapsed_s": round(elapsed_s, 2),
            "realtime_factor": round(elapsed_s / duration_s, 3),
            "peak_vram_mb": peak_vram_mb() if maker.animator_name == "sonic" else 0.0,
            "stages": dict(self._clock.seconds),
            "sections": [
                {
                    "number": number,
                    "heading": heading,
                    "first_frame": start,
                    "num_frames": end - start,
                    "start_s": round(float(start / self._fps), 3),
                    "rendered": one.is_new,
                }
                for number, (one, (start, end, heading)) in enumerate(
                    zip(made, chapters, strict=True), start=1
                )
            ],
            "rendered_sections": sum(one.is_new for one in made),
            "notes": list(dict.fromkeys(notes)),
            "note_values": maker.note_values,
            "memory_steps": [],
            "labels": facts.model_dump(
                mode="json", include={"content_id", "visible_label", "watermark"}
            ),
        }

    def _artifacts(self) -> list[Artifact]:
        kinds: tuple[tuple[ArtifactKind, str], ...] = (
            ("video", VIDEO_NAME),
            ("poster", POSTER_NAME),
            ("srt", SRT_NAME),
            ("vtt", VTT_NAME),
            ("contents", CONTENTS_NAME),
            ("clips", CLIPS_NAME),
            ("report", REPORT_NAME),
        )
        return finished_files(self._job_dir, kinds)

    def _note_used(self) -> None:
        note_used(self._job_dir, self._lecture.scope, self._work.cache.used)


def run_lecture(payload: dict[str, Any], context: TaskContext, tools: Tools) -> dict[str, Any]:
    """Make the lecture of one job.

    Args:
        payload: `spec` (a `JobSpec` as JSON) and `job_dir`.
        context: progress, cancel, settings.
        tools: models of this process.

    Returns:
        See `LectureJob.run`.
    """
    spec = JobSpec.model_validate(payload["spec"])
    job_dir = Path(payload["job_dir"])
    cache = SectionCache(
        context.settings.data_dir / FOLDER_NAME, spec.lecture.scope if spec.lecture else ""
    )
    clock = StageClock(context.report)
    return LectureJob(Workplace(spec, job_dir, cache, context, tools, clock)).run()
