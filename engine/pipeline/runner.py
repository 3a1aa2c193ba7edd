"""One job from its inputs to its artifacts, stage by stage.

Every stage writes under the job's folder by write-to-temp and rename; a second attempt starts
at the first output that is missing.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import soundfile as sf
from PIL import Image

from engine.animators.animator import Animator, Scene
from engine.contracts import Artifact, ArtifactKind, JobSpec, RenderOptions, Stage
from engine.errors import Canceled, ErrorCode
from engine.gpu.cleanup import release_memory
from engine.gpu.room import wait_for_room
from engine.lipsync.from_audio import loudness_of_wav
from engine.lipsync.from_timings import curves_from_timings
from engine.lipsync.score import SyncReport, gates, score_video
from engine.lipsync.visemes import bilabial_times
from engine.media.atomic import replace_when_done
from engine.media.caption_drawer import CaptionDrawer, columns_for
from engine.media.captions import build_cues, write_captions
from engine.media.typefaces import find_undrawable
from engine.media.video import frames_for, probe_video
from engine.pipeline.animate import (
    POSTER_NAME,
    VIDEO_NAME,
    Extras,
    build_scene,
    frame_photo,
    render_scene,
)
from engine.pipeline.calibrate import calibrate, correction_s
from engine.pipeline.care import care_for
from engine.pipeline.deliver import finished_files
from engine.pipeline.drawing import PIECES_NAME, draw_within_memory, recall_drawing
from engine.pipeline.foresight import Foresight
from engine.pipeline.hear import Heard, Script, hear
from engine.pipeline.intake import JudgedPortrait, find_faces, judge_faces, load_png
from engine.pipeline.labels import facts_for, marks_for
from engine.pipeline.preview import LivePicture
from engine.pipeline.sonic import card_memory, peak_vram_mb
from engine.pipeline.speak import Timings, load_timings, save_timings, speak_to_file
from engine.pipeline.stage import SONIC_STAGE_SHARES, StageClock
from engine.pipeline.tools import Tools
from engine.provenance.seal import seal
from engine.speech.lexicon import Lexicon
from engine.speech.recognise import Recogniser
from engine.speech.voice import TimedWord
from engine.storage import LIVE_NAME
from engine.weights.recogniser import recogniser_folder
from engine.worker.task import TaskContext

SPOKEN_NAME = "spoken.wav"
TIMINGS_NAME = "timings.json"
REPORT_NAME = "report.json"
SRT_NAME = "captions.srt"
VTT_NAME = "captions.vtt"
SHARE_STEPS = 100


def _ignore(_done: int) -> None:
    return


class VideoJob:
    """Makes one video; every method is one stage."""

    def __init__(
        self,
        spec: JobSpec,
        job_dir: Path,
        context: TaskContext,
        tools: Tools,
        paces: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self._spec = spec
        self._job_dir = job_dir
        self._context = context
        self._tools = tools
        self._clock = StageClock(context.report)
        self._sound: dict[str, Any] = {}
        self._live = LivePicture(job_dir / LIVE_NAME)
        self._paces = paces
        self._foresight: Foresight | None = None

    def run(self) -> dict[str, Any]:
        """Run every stage.

        Returns:
            `report`: the numbers of `animate --json`; `artifacts`: the finished files.

        Raises:
            EngineError: the stage reported last is the one it happened in.
        """
        with self._clock.running(Stage.PREPARE):
            animator = self._animator()
            judged = self._prepare()
            self._live.offer(frame_photo(self._spec.options, judged, animator.name)[0])
        with self._clock.running(Stage.SPEAK, SHARE_STEPS):
            speech_wav, spoken = self._speak()
        duration_s = sf.info(str(speech_wav)).duration
        with self._clock.running(Stage.LISTEN):
            heard = self._listen(speech_wav, spoken, duration_s)
        curves, words, phonemes = heard.curves, heard.words, heard.phonemes

        def scene_at(size_px: int) -> Scene:
            options = self._spec.options.model_copy(update={"size_px": size_px})
            spec = self._spec.model_copy(update={"options": options})
            framed = frame_photo(options, judged, animator.name)
            return build_scene(spec, framed, curves, speech_wav, duration_s, self._context.settings)

        def draw(scene: Scene, way: Animator) -> None:
            self._draw(scene, way, words, duration_s)

        video = self._job_dir / VIDEO_NAME
        self._foresee(scene_at)
        with self._clock.running(
            Stage.ANIMATE, frames_for(duration_s, Fraction(self._spec.options.fps))
        ):
            if video.exists():
                drawing = recall_drawing(self._job_dir, self._spec.options)
            else:
                self._wait_for_card(animator, scene_at)
                drawing = draw_within_memory(
                    self._spec.options, animator, scene_at, draw, self._job_dir
                )
        scene = scene_at(drawing.size_px)

        def score() -> SyncReport:
            return score_video(
                video,
                self._tools.finder,
                curves=curves,
                known_bilabials_s=bilabial_times(phonemes) if phonemes else None,
                face=scene.face,
                threads=scene.threads,
                on_share=self._scored,
            )

        def redraw(shift_s: float) -> None:
            draw(replace(scene, shift_s=shift_s), animator)

        with self._clock.running(Stage.FINISH, SHARE_STEPS):
            sync = score()
            shift_s = correction_s(self._spec.options, animator.name, sync)
            if shift_s:
                sync, shift_s = calibrate(video, sync, shift_s, redraw, score)
            shutil.rmtree(self._job_dir / PIECES_NAME, ignore_errors=True)
        with self._clock.running(Stage.ASSEMBLE):
            if words:
                cues = build_cues(words, duration_s)
                write_captions(
                    cues,
                    self._job_dir / SRT_NAME,
                    self._job_dir / VTT_NAME,
                    highlights=self._spec.options.highlight_words,
                )
            report = {
                **self._report(video, duration_s, animator.name, sync),
                "notes": [
                    *judged.verdict.warnings,
                    *heard.notes,
                    *undrawn_note(self._spec.options, words),
                ],
                "note_values": judged.verdict.values,
                "memory_steps": list(drawing.steps),
                "sound": self._sound,
                "calibration_ms": round(1000 * (shift_s or scene.shift_s), 1),
                "labels": self._seal(video, scene, animator.name, sync),
            }
            return self._assemble(report)

    def _animator(self) -> Animator:
        with Image.open(self._job_dir / self._spec.portrait_name) as photo:
            photo_size = photo.size
        animator = self._tools.animator(
            self._spec.options,
            self._context.settings,
            photo_size,
            self._clock.step_share,
            self._job_dir / PIECES_NAME,
        )
        if animator.name == "sonic":
            self._clock.shares = SONIC_STAGE_SHARES
        else:
            self._foresight = Foresight(
                self._spec, self._job_dir, self._tools, self._paces, photo_size
            )
            self._clock.expect(self._foresight.costs)
        return animator

    def _foresee(self, scene_at: Callable[[int], Scene]) -> None:
        """Tell the clock what the rest should cost, now that picture and sound are known."""
        if self._foresight is not None:
            self._foresight.see(scene_at(self._spec.options.output_size_px))
            self._clock.expect(self._foresight.costs)

    def _wait_for_card(self, animator: Animator, scene_at: Callable[[int], Scene]) -> None:
        """Let other programs finish first when they hold the memory of the card."""
        if animator.name == "lite":
            return
        scene = scene_at(self._spec.options.output_size_px)
        height_px, width_px = scene.canvas.shape[:2]
        wait_for_room(
            animator.need(width_px, height_px, scene.num_frames).vram_mb,
            card_memory,
            self._clock.wait,
            self._context.canceled,
            self._context.settings.card_wait_s,
        )

    def _draw(
        self, scene: Scene, animator: Animator, words: Sequence[TimedWord], duration_s: float
    ) -> None:
        captions, options = None, self._spec.options
        if words and options.captions == "burn" and not undrawn_note(options, words):
            height_px, width_px = scene.canvas.shape[:2]
            cues = build_cues(words, duration_s, columns_for(width_px, height_px))
            highlights = options.highlight_words
            captions = CaptionDrawer(cues, width_px, height_px, scene.fps, highlights=highlights)
        # Sonic spends most of the time before the first frame and tells its own share.
        on_frame = self._clock.step if animator.name == "lite" else _ignore
        canceled = self._context.canceled
        extras = Extras(captions, marks_for(self._spec, scene, self._context.settings), self._live)
        render_scene(scene, animator, self._job_dir, canceled, on_frame, extras)

    def _scored(self, share: float) -> None:
        if self._context.canceled.is_set():
            raise Canceled
        self._clock.step(round(share * SHARE_STEPS))

    def _prepare(self) -> JudgedPortrait:
        pixels = load_png(self._job_dir / self._spec.portrait_name)
        options = self._spec.options
        if options.face_points is not None:
            _, faces, _ = find_faces(pixels, options, self._tools)
        else:
            faces = tuple(self._tools.finder.find(pixels))
        return JudgedPortrait(pixels, faces, judge_faces(pixels, faces, options))

    def _speak(self) -> tuple[Path, Timings]:
        """The sound of the video, and the times of what a voice of ours says."""
        wav, timings = self._say_or_take()
        options, is_recording = self._spec.options, self._spec.speech is None
        cared = care_for(
            wav, options, self._tools.listener, self._job_dir, is_recording=is_recording
        )
        self._sound = cared.facts
        return cared.wav, timings

    def _say_or_take(self) -> tuple[Path, Timings]:
        if self._spec.speech is None:
            return self._job_dir / (self._spec.audio_name or ""), Timings()
        spoken, timings = self._job_dir / SPOKEN_NAME, self._job_dir / TIMINGS_NAME
        if not timings.exists():
            try:
                clip = speak_to_file(
                    self._spec.speech,
                    spoken,
                    self._tools.voices,
                    self._context.canceled,
                    lambda done, total: self._clock.step_share(done / total),
                    Lexicon.load(self._context.settings.pronunciations_path),
                )
            finally:
                self._tools.voices.unload()  # the animator, or the next job, needs the memory
                release_memory()
            save_timings(clip, timings)
        return spoken, load_timings(timings)

    def _listen(self, speech_wav: Path, spoken: Timings, duration_s: float) -> Heard:
        if spoken.phonemes:
            loudness = loudness_of_wav(speech_wav)
            curves = curves_from_timings(spoken.phonemes, duration_s, loudness)
            return Heard(curves, spoken.words, spoken.phonemes, spoken.notes)
        script = Script.of(self._spec.script, self._spec.script_language)
        lexicon = Lexicon.load(self._context.settings.pronunciations_path)
        heard = hear(
            speech_wav, script, self._tools, self._context.canceled, lexicon, self._recogniser()
        )
        # A voice may know its words but not its sounds.
        notes = (*spoken.notes, *heard.notes)
        return replace(heard, words=heard.words or spoken.words, notes=notes)

    def _recogniser(self) -> Recogniser | None:
        """Who writes the captions of a recording whose words are not known."""
        options, speech = self._spec.options, self._spec.speech
        if options.captions == "off" or speech is not None:
            return None
        folder = recogniser_folder(self._context.settings)
        return None if folder is None else Recogniser(folder, self._spec.script_language)

    def _report(
        self, video: Path, duration_s: float, animator: str, sync: SyncReport
    ) -> dict[str, Any]:
        info = probe_video(video)
        elapsed_s = sum(self._clock.seconds.values())
        return {
            "duration_s": round(info.duration_s, 3),
            "audio_duration_s": round(duration_s, 3),
            "fps": f"{info.fps.numerator}/{info.fps.denominator}",
            "width_px": info.width_px,
            "height_px": info.height_px,
            "num_frames": info.num_frames,
            "animator": animator,
            "seed": self._spec.seed,
            "elapsed_s": round(elapsed_s, 2),
            "realtime_factor": round(elapsed_s / duration_s, 3),
            "peak_vram_mb": peak_vram_mb() if animator == "sonic" else 0.0,
            "stages": dict(self._clock.seconds),
            "stage_costs": self._foresight.table_costs if self._foresight else {},
            "sync": {**sync.model_dump(), "failed_gates": gates(sync)},
        }

    def _seal(self, video: Path, scene: Scene, animator: str, sync: SyncReport) -> dict[str, Any]:
        """Write the labels into the finished file; nothing may change it afterwards."""
        marks = marks_for(self._spec, scene, self._context.settings)
        facts = facts_for(self._spec, marks, animator, sync)
        seal(video, facts, self._context.settings)
        return facts.model_dump(mode="json", include={"content_id", "visible_label", "watermark"})

    def _assemble(self, report: dict[str, Any]) -> dict[str, Any]:
        self._live.remove()
        with replace_when_done(self._job_dir / REPORT_NAME) as part:
            part.write_text(json.dumps(report), "utf-8")
        return {"report": report, "artifacts": [a.model_dump() for a in self._artifacts()]}

    def _artifacts(self) -> list[Artifact]:
        kinds: tuple[tuple[ArtifactKind, str], ...] = (
            ("video", VIDEO_NAME),
            ("poster", POSTER_NAME),
            ("speech", SPOKEN_NAME),
            ("timings", TIMINGS_NAME),
            ("srt", SRT_NAME),
            ("vtt", VTT_NAME),
            ("report", REPORT_NAME),
        )
        return finished_files(self._job_dir, kinds)


def undrawn_note(options: RenderOptions, words: Sequence[TimedWord]) -> tuple[str, ...]:
    """Why captions that were to stand in the picture do not.

    What was typed was checked before; a recogniser may write letters that no font has.
    """
    if options.captions == "burn" and any(find_undrawable(word.text) for word in words):
        return (ErrorCode.CAPTIONS_NOT_DRAWN.value,)
    return ()


def run_video(payload: dict[str, Any], context: TaskContext, tools: Tools) -> dict[str, Any]:
    """Make the video of one job.

    Args:
        payload: `spec` (a `JobSpec` as JSON), `job_dir`, and `paces`: see `stage_costs`.
        context: progress, cancel, settings.
        tools: models of this process.

    Returns:
        See `VideoJob.run`.
    """
    spec = JobSpec.model_validate(payload["spec"])
    paces = payload.get("paces") or {}
    return VideoJob(spec, Path(payload["job_dir"]), context, tools, paces).run()
