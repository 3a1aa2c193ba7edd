"""What the quick lane does with texts: list voices, let one be heard, speak into a file."""

import hashlib
from pathlib import Path
from typing import Any

from engine.contracts import Progress, SpeechOptions, Stage
from engine.pipeline.intake import check_text
from engine.pipeline.speak import Spoken, timings_of, write_pieces, write_speech
from engine.pipeline.tools import Tools
from engine.provenance.facts import VideoFacts, content_id_of
from engine.provenance.sound_seal import seal_sound
from engine.settings import EngineSettings
from engine.speech.lexicon import Lexicon
from engine.speech.voice import SpokenClip
from engine.worker.task import TaskContext, TaskTable


def speech_tasks(tools: Tools) -> TaskTable:
    """The tasks `voices`, `preview`, `speak` and `warm_voice`."""

    def voices(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
        with_missing = bool(payload.get("with_missing"))
        found = tools.voices.voices(payload.get("language"), with_missing=with_missing)
        return {"voices": [voice.model_dump(mode="json") for voice in found]}

    def preview(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        in_pieces = write_pieces(Path(payload["target"])) if payload.get("in_pieces") else None
        return _told(_say(payload, context, tools, in_pieces))

    def speak(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        clip = _say(payload, context, tools)
        _label(Path(payload["target"]), clip, context.settings)
        return _told(clip)

    def warm_voice(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
        tools.voices.get_ready(payload["language"], payload["voice"])
        return {}

    return {"voices": voices, "preview": preview, "speak": speak, "warm_voice": warm_voice}


def _say(
    payload: dict[str, Any], context: TaskContext, tools: Tools, on_piece: Spoken | None = None
) -> SpokenClip:
    speech = SpeechOptions.model_validate(payload["speech"])
    check_text(speech, context.settings, tools)
    try:
        clip = tools.voices.speak(
            speech,
            context.canceled,
            lambda done, total: context.report(_progress(done, total)),
            Lexicon.load(context.settings.pronunciations_path),
            on_piece,
        )
    finally:
        tools.voices.free_card()  # a video may be about to begin in another process
    write_speech(Path(payload["target"]), clip)
    return clip


def _told(clip: SpokenClip) -> dict[str, Any]:
    return {
        "duration_s": round(clip.duration_s, 3),
        "voice": clip.voice_id,
        "language": clip.language,
        "notes": list(clip.notes),
        "timings": timings_of(clip),
    }


def _label(wav: Path, clip: SpokenClip, settings: EngineSettings) -> None:
    """Say in a sound file that people take with them how it came about."""
    digest = hashlib.sha256(clip.samples.tobytes()).hexdigest()
    facts = VideoFacts(
        content_id=content_id_of(digest), kind="speech", models=(clip.voice_id,), consent=True
    )
    seal_sound(wav, facts, settings)


def _progress(done: int, total: int) -> Progress:
    return Progress(stage=Stage.SPEAK, done=done, total=total, percent=100 * done / total)
