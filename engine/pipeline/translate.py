"""Drafts of one text in several languages, for a person to read before anything is spoken."""

from typing import Any

from engine.errors import ErrorCode, InputError
from engine.speech.translate import Translator
from engine.weights.translator import translator_folder
from engine.worker.task import TaskContext


def draft_all(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    """Translate; the network is loaded once and given back.

    Args:
        payload: `text`, `source` and `targets`, the last two BCP 47 tags.
        context: cancel and settings.

    Returns:
        `drafts`: one for each target that the translator knows.

    Raises:
        InputError: TRANSLATOR_MISSING, or TRANSLATION_UNSUPPORTED for the source.
    """
    folder = translator_folder(context.settings)
    if folder is None:
        raise InputError(ErrorCode.TRANSLATOR_MISSING)
    translator = Translator(folder)
    source = payload["source"]
    if not translator.knows(source):
        raise InputError(ErrorCode.TRANSLATION_UNSUPPORTED, language=source)
    drafts = {
        target: translator.translate(payload["text"], source, target, context.canceled)
        for target in payload["targets"]
        if translator.knows(target)
    }
    return {"drafts": drafts}
