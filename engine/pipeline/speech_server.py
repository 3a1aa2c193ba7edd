"""A look at a speech server before its address is kept in the settings."""

from typing import Any

from engine.errors import EngineError
from engine.speech.private_address import private_server
from engine.speech.server import ENGINE_NAME, SpeechServerEngine
from engine.worker.task import TaskContext

# Told as a way out.
ALWAYS_HERE = "hibari:heart"


def try_speech_server(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    """Say which voices a speech server has.

    Args:
        payload: `address`, and `only_address` when nobody should be asked.
        context: the settings, whose own address does not count.

    Returns:
        `voices`: their names; none when nobody was asked.

    Raises:
        EngineError: why the server cannot be used.
    """
    address = payload["address"]
    try:
        private_server(address)
    except EngineError as error:
        error.values["other"] = ALWAYS_HERE
        raise
    if payload.get("only_address"):
        return {"voices": []}
    server = SpeechServerEngine(context.settings.model_copy(update={"speech_server_url": address}))
    found = server.voices()
    fault = server.fault()
    if not found and fault is not None:
        fault.values["other"] = ALWAYS_HERE
        raise fault
    return {"voices": [voice.voice_id.removeprefix(f"{ENGINE_NAME}:") for voice in found]}
