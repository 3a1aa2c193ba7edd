"""The labels of a job's video: where the visible one goes, what the seal says."""

from typing import Any

from engine.animators.animator import Scene
from engine.contracts import JobSpec
from engine.lipsync.score import SyncReport
from engine.media.caption_drawer import caption_zone
from engine.provenance.facts import BUILT_IN_VOICE, VideoFacts, content_id_of
from engine.provenance.marks import FrameMarks
from engine.provenance.visible import Box, mouth_room
from engine.settings import EngineSettings

_ANIMATOR_MODELS = {
    "lite": ("sonic-studio/lite",),
    "sonic": ("LeonJoe13/Sonic", "stabilityai/stable-video-diffusion-img2vid-xt"),
}


def marks_for(spec: JobSpec, scene: Scene, settings: EngineSettings) -> FrameMarks:
    """What is drawn into the frames; the label covers no mouth, no caption, and no face if it can.

    Raises:
        EngineError: BAD_OPTION when the watermark of the settings cannot be loaded.
    """
    height_px, width_px = scene.canvas.shape[:2]
    keep_free = [mouth_room(scene.face)]
    if spec.options.captions == "burn":
        keep_free.append(Box(*caption_zone(width_px, height_px)))
    keep_free.append(Box(*scene.face.box))
    return FrameMarks.of(
        width_px,
        height_px,
        scene.fps,
        settings,
        language=spec.label_language,
        keep_free=keep_free,
    )


def facts_for(spec: JobSpec, marks: FrameMarks, animator: str, sync: SyncReport) -> VideoFacts:
    """What the seal says about a finished video.

    Args:
        spec: what was asked.
        marks: what was drawn into the frames.
        animator: who drew them.
        sync: of the lip-sync check.
    """
    models = models_of(animator)
    if spec.speech is not None:
        models = (*models, spec.speech.voice or BUILT_IN_VOICE)
    return VideoFacts(
        content_id=content_id_of(spec.job_id),
        models=models,
        consent=spec.consent,
        sync=_sync_facts(sync),
        **marks.facts,
    )


def models_of(animator: str) -> tuple[str, ...]:
    """The models an animator draws with, by the names that stand in a seal."""
    return _ANIMATOR_MODELS.get(animator, (animator,))


def _sync_facts(sync: SyncReport) -> dict[str, Any]:
    names = ("offset_ms", "mouth_audio_correlation", "closure_f1", "measured_s")
    numbers = sync.model_dump(mode="json")
    return {name: numbers[name] for name in names if name in numbers}
