"""Every task a child process can run, by kind."""

import contextlib
import json
from pathlib import Path
from typing import Any

from engine.errors import EngineError
from engine.lecture.intake import lecture_tasks
from engine.lecture.runner import run_lecture
from engine.media.atomic import replace_when_done
from engine.pipeline.check import check_inputs
from engine.pipeline.decode import received_sound
from engine.pipeline.doctor import examine
from engine.pipeline.hear import Script, hear
from engine.pipeline.intake import take_in
from engine.pipeline.preview import preview_portrait
from engine.pipeline.runner import run_video
from engine.pipeline.speech_server import try_speech_server
from engine.pipeline.speech_tasks import speech_tasks
from engine.pipeline.tools import Tools
from engine.pipeline.translate import draft_all
from engine.speech.hibari import USUAL_VOICE
from engine.speech.lexicon import Lexicon
from engine.worker.plan import Preparation
from engine.worker.task import Task, TaskContext, TaskTable


def task_table(tools: Tools) -> TaskTable:
    """The tasks of one child process, sharing `tools`."""

    def check(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        return check_inputs(payload, context.settings, tools).model_dump(mode="json")

    def intake(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        return take_in(payload, context.settings, tools)

    def show(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
        preview_portrait(payload, tools)
        return {}

    def render(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        if payload["spec"].get("kind") == "lecture":
            return run_lecture(payload, context, tools)
        return run_video(payload, context, tools)

    def lipsync(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        return _write_curves(payload, context, tools)

    def doctor(_payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        return examine(context.settings, tools)

    tasks: TaskTable = {
        "get_ready": _get_ready(tools),
        "check": check,
        "intake": intake,
        "preview_portrait": show,
        "render": render,
        "lipsync": lipsync,
        "translate": draft_all,
        "try_speech_server": try_speech_server,
        "doctor": doctor,
        **speech_tasks(tools),
        **lecture_tasks(tools),
    }
    return {kind: _told_settings(task, tools) for kind, task in tasks.items()}


def _get_ready(tools: Tools) -> Task:
    """The task of a child that has nothing to do yet: load what most questions need."""

    def get_ready(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
        tools.finder.get_ready()
        tools.listener.get_ready()
        if payload["preparation"] == Preparation.ALL:
            with contextlib.suppress(EngineError):  # where it is not installed others speak
                tools.voices.get_ready(None, USUAL_VOICE)
        return {}

    return get_ready


def _told_settings(task: Task, tools: Tools) -> Task:
    """A task before which the tools hear where things are."""

    def told(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
        tools.use(context.settings)
        return task(payload, context)

    return told


def _write_curves(payload: dict[str, Any], context: TaskContext, tools: Tools) -> dict[str, Any]:
    """Write the mouth curves of a decoded recording as the public contract's JSON."""
    target = Path(payload["target"])
    script = Script.of(payload.get("script"), payload.get("language"))
    lexicon = Lexicon.load(context.settings.pronunciations_path)
    wav = received_sound(payload["audio"]).wav
    heard = hear(wav, script, tools, context.canceled, lexicon)
    curves = heard.curves
    with replace_when_done(target) as part:
        part.write_text(json.dumps(curves.as_json()), "utf-8")
    return {
        "num_samples": len(curves),
        "rate_hz": curves.rate_hz,
        "notes": list(heard.notes),
        "num_words": len(heard.words),
    }


TASKS: TaskTable = task_table(Tools())
