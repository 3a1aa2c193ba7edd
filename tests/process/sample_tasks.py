"""Tasks for the process tests: they behave well, badly, or not at all, as their input says.

A job's behaviour is the text of its recording: `intake` copies it, `render` reads it back.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from engine.contracts import Progress, Stage
from engine.errors import Canceled, EngineError, ErrorCode, InputError
from engine.worker.task import TaskContext

PORTRAIT_NAME = "portrait.png"
AUDIO_NAME = "speech.wav"


def sleep(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    """Sleep for `seconds` and stop when asked; reports ten times a second."""
    seconds = float(payload["seconds"])
    start = time.monotonic()
    while (passed := time.monotonic() - start) < seconds:
        percent = min(100.0, 100 * passed / seconds)
        context.report(Progress(stage=Stage.ANIMATE, done=0, total=100, percent=percent))
        if context.canceled.wait(0.05):
            raise Canceled
    return {"pid": os.getpid()}


def hang(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    time.sleep(float(payload.get("seconds", 3600)))
    return {}


def native_loop(_payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """Keep the interpreter locked in native code, so that no Python thread runs."""
    re.match(r"(a+)+$", "a" * 64 + "b")
    return {}


def crash(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    os._exit(int(payload.get("code", 9)))


def crash_with_forked_heir(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """End while a forked process still holds every descriptor open."""
    heir = os.fork()
    if heir == 0:
        time.sleep(3600)
    Path(payload["pid_file"]).write_text(str(heir))
    os._exit(9)


def start_family(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """Start a grandchild in a session of its own, then sleep for ever."""
    code = "import time; time.sleep(3600)"
    grandchild = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    Path(payload["pid_file"]).write_text(f"{os.getpid()} {grandchild.pid}")
    time.sleep(3600)
    return {}


def allocate(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    block = bytearray(int(payload["mb"]) * 2**20)
    block[::4096] = b"x" * len(block[::4096])
    return {"pid": os.getpid()}


def allocate_and_wait(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    block = bytearray(int(payload["mb"]) * 2**20)
    block[::4096] = b"x" * len(block[::4096])
    context.canceled.wait(3600)
    return {}


def garbage(_payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """Print to every standard stream, also natively and from a grandchild."""
    print('{"type": "gone"}')  # noqa: T201 - printing is what this task is for
    print("\x00\xff not json", flush=True)  # noqa: T201
    os.write(1, b'{"type": "result", "id": "x", "values": {}}\n\xfe\xff')
    subprocess.run([sys.executable, "-c", "print('from below', input())"], check=False)
    sys.stderr.write("on stderr\n")
    return {"stdin": sys.stdin.read()}


def refuse(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    kind = InputError if payload.get("is_input") else EngineError
    raise kind(ErrorCode(payload["code"]), face_px=30, need_px=50)


def bug(_payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    raise RuntimeError("a bug with a secret in its text")


def out_of_memory(_payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    raise MemoryError


def disk_full(_payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    raise OSError(28, "No space left on device")


def fill_disk(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    """Write until the disk is full; leaves what it wrote, as a killed encoder would."""
    with Path(payload["job_dir"], "video.mp4.part").open("wb") as file:
        while True:
            file.write(bytes(100_000))
            file.flush()


prepared: list[str] = []


def get_ready(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    prepared.append(payload["preparation"])
    return {}


def where(_payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "cwd": str(Path.cwd()),
        "nice": os.nice(0),
        "prepared": prepared,
        "threads": os.environ["OMP_NUM_THREADS"],
        "data_dir": str(context.settings.data_dir),
        "max_text_characters": context.settings.max_text_characters,
    }


def check(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    return {"ok": payload["audio"] is not None, "portrait": {"verdict": "ok"}}


def decode_picture(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    shutil.copyfile(payload["source"], payload["target"])
    return {"pixels": payload["target"]}


def decode_sound(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    """Copy a recording; one that holds the name of a task does that instead."""
    script = Path(payload["source"]).read_bytes().decode("utf-8", "replace")
    if script in TASKS:
        TASKS[script]({}, context)
    shutil.copyfile(payload["source"], payload["target"])
    return {"wav": payload["target"]}


def intake(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    job_dir = Path(payload["job_dir"])
    if payload["portrait"] is not None:
        shutil.copyfile(payload["portrait"]["pixels"], job_dir / PORTRAIT_NAME)
    if payload["audio"] is None:
        return {"portrait_name": PORTRAIT_NAME, "audio_name": None, "duration_s": None}
    script = Path(payload["audio"]["wav"]).read_text("utf-8")
    if script == "no face":
        raise InputError(ErrorCode.NO_FACE)
    if script == "slow intake":
        time.sleep(3600)
    return {"portrait_name": PORTRAIT_NAME, "audio_name": AUDIO_NAME, "duration_s": 0.1}


def render(payload: dict[str, Any], context: TaskContext) -> dict[str, Any]:
    """Do what the recording of the job says, then write a video."""
    job_dir = Path(payload["job_dir"])
    script = json.loads((job_dir / AUDIO_NAME).read_text("utf-8"))
    attempts = job_dir / "attempts.txt"
    with attempts.open("a", encoding="utf-8") as log:
        log.write(f"{os.getpid()} {time.time()}\n")
    attempt = len(attempts.read_text("utf-8").splitlines())
    context.report(Progress(stage=Stage.PREPARE, percent=1.0))
    context.report(Progress(stage=Stage.ANIMATE, done=1, total=4, percent=10.0))
    (job_dir / "video.mp4.part").write_bytes(b"half")
    step = script[min(attempt, len(script)) - 1]
    TASKS[step["kind"]]({**step, "job_dir": str(job_dir)}, context)
    (job_dir / "video.mp4.part").replace(job_dir / "video.mp4")
    context.report(Progress(stage=Stage.ASSEMBLE, percent=100.0))
    report = {"animator": "lite", "duration_s": 10.0, "elapsed_s": 7.0, "pid": os.getpid()}
    artifact = {"kind": "video", "name": script[0].get("name", "video.mp4"), "size_bytes": 4}
    return {"report": report, "artifacts": [artifact]}


def voices(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    voice = {
        "voice_id": "sample:one",
        "engine": "sample",
        "name": f"One, asked by {os.getpid()}",
        "languages": [payload["language"] or "en"],
        "sample_rate_hz": 16000,
        "licence": "CC0-1.0",
    }
    return {"voices": [voice]}


def speak(payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    Path(payload["target"]).write_text(payload["speech"]["text"], "utf-8")
    return {"duration_s": 1.0, "voice": "sample:one", "timings": []}


def doctor(_payload: dict[str, Any], _context: TaskContext) -> dict[str, Any]:
    return {"ok": True, "checks": []}


TASKS = {
    "sleep": sleep,
    "hang": hang,
    "native_loop": native_loop,
    "crash": crash,
    "crash_with_forked_heir": crash_with_forked_heir,
    "start_family": start_family,
    "allocate": allocate,
    "allocate_and_wait": allocate_and_wait,
    "garbage": garbage,
    "refuse": refuse,
    "bug": bug,
    "out_of_memory": out_of_memory,
    "disk_full": disk_full,
    "fill_disk": fill_disk,
    "get_ready": get_ready,
    "where": where,
    "check": check,
    "decode_picture": decode_picture,
    "decode_sound": decode_sound,
    "intake": intake,
    "render": render,
    "voices": voices,
    "preview": speak,
    "speak": speak,
    "doctor": doctor,
}
