"""One way to open the small ONNX networks of voices: on the processor, few threads, little memory.

onnxruntime is looked up when a text is spoken, so that listing voices needs none of it.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from engine.errors import EngineError, ErrorCode
from engine.machine import usable_cores

_MAX_THREADS = 4


def open_network(model: bytes | Path, voice: str) -> Any:  # noqa: ANN401 - onnxruntime has no types
    """An inference session.

    Args:
        model: the serialized graph, or the file it lies in.
        voice: whom an error names.

    Raises:
        EngineError: VOICE_UNAVAILABLE when it is missing or damaged.
    """
    try:
        onnxruntime: Any = import_module("onnxruntime")
    except ImportError as error:
        raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice=voice) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(_MAX_THREADS, usable_cores())
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    # Threads that wait for each other awake cost more than they save.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = model if isinstance(model, bytes) else str(model)
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own exceptions share no base but this
        raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice=voice) from error


def run_network(session: Any, feeds: dict[str, Any], voice: str) -> list[Any]:  # noqa: ANN401 - see above
    """Run a session and give back the memory of the longest sentence so far.

    Raises:
        EngineError: VOICE_UNAVAILABLE when the network does not do what it should.
    """
    options = import_module("onnxruntime").RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    try:
        outputs: list[Any] = session.run(None, feeds, options)
    except Exception as error:  # see above
        raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice=voice) from error
    return outputs
