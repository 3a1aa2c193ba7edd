"""Files that mean harm: each is refused with a code, quickly, in little memory, opening nothing.

Every file is handed to the decode lane as an upload is. Beside it lies a file it may name.
"""

import gc
import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from engine.errors import ErrorCode
from engine.worker.environment import PROJECT_ROOT
from tests.hostile.decoding import (
    MB,
    MemoryWatch,
    decode_lane,
    refusal_of,
    wait_ready,
    watched_opens,
)
from tests.hostile.hostile_pictures import NEIGHBOUR, PICTURES
from tests.hostile.hostile_sounds import SOUNDS
from tests.media_files import PORTRAIT, SPEECH

WITNESS = "tests.hostile.hostile_tasks:TASKS"
PRODUCT = "engine.pipeline.decode:TASKS"

MAX_S = 10.0
QUICK_S = 2.0
QUICK_SHARE = 0.95
MAX_CHILD_MB = 1000.0
MAX_PARENT_GROWTH_MB = 50.0

SAMPLES = (
    ("picture", [PICTURES[name]() for name in ("webp_cut", "svg_reads_a_file", "heif_cut")]),
    ("sound", [SOUNDS[name]() for name in ("concat_list", "playlist_of_files", "dash_manifest")]),
    ("sound", [SOUNDS[name]() for name in ("playlist_behind_a_tag", "wav_not_a_number", "midi")]),
)
"""A few of each, for what runs every time."""

CODE = (sys.prefix, sys.base_prefix, str(PROJECT_ROOT / "engine"))
"""Where the child's own program lies."""

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")


@dataclass(frozen=True)
class Outcome:
    """What became of one file."""

    name: str
    code: str | None
    seconds: float


def special_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """What is no plain file at all."""
    passwords = folder / "link_to_passwords"
    passwords.symlink_to("/etc/passwd")
    zeros = folder / "link_to_endless_zeros"
    zeros.symlink_to("/dev/zero")
    nowhere = folder / "link_to_nowhere"
    nowhere.symlink_to(folder / "nothing")
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    directory = folder / "directory"
    directory.mkdir()
    for path in (passwords, zeros, nowhere, pipe, directory):
        yield path.name, path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, Path]]:
    """Every file: medium it pretends to be, name, path."""
    folder = tmp_path_factory.mktemp("corpus")
    files: list[tuple[str, str, Path]] = []
    for medium, made in (("picture", PICTURES), ("sound", SOUNDS)):
        for name, build in made.items():
            path = folder / medium / name / "voice.wav"
            path.parent.mkdir(parents=True)
            path.write_bytes(build())
            (path.parent / NEIGHBOUR).symlink_to(folder / NEIGHBOUR)
            files.append((medium, name, path))
    shutil.copyfile(SPEECH, folder / NEIGHBOUR)
    for name, path in special_files(folder):
        files += [("picture", name, path), ("sound", name, path)]
    return files


@linux_only
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_hostile_file_is_refused_quickly_in_little_memory_and_opens_nothing(
    corpus: list[tuple[str, str, Path]], tmp_path: Path
) -> None:
    neighbour = corpus[0][2].parent / NEIGHBOUR
    lane, supervisor = decode_lane(tmp_path, WITNESS, decode_timeout_s=60)
    (tmp_path / "out").mkdir()
    memory = MemoryWatch(lane)
    gc.collect()
    before_mb = psutil.Process().memory_info().rss / MB
    outcomes: list[Outcome] = []
    with watched_opens(neighbour) as opens:
        assert neighbour.read_bytes()
        assert opens.count() == 1, "the kernel does not tell who opens a file"
        for medium, name, path in corpus:
            wait_ready(supervisor)
            started = time.monotonic()
            code = refusal_of(lane, medium, path, tmp_path / "out" / "decoded")
            outcomes.append(Outcome(f"{medium} {name}", code, time.monotonic() - started))
        assert opens.count() == 0
    after_mb = psutil.Process().memory_info().rss / MB
    memory.stop()
    lane.pool.close()

    assert len(outcomes) >= 60
    assert [one.name for one in outcomes if one.code is None] == []
    assert [one for one in outcomes if one.code in (ErrorCode.INTERNAL, "worker_lost")] == []
    assert [one for one in outcomes if one.seconds > MAX_S] == []
    quick = sum(one.seconds < QUICK_S for one in outcomes) / len(outcomes)
    assert quick >= QUICK_SHARE
    assert after_mb - before_mb < MAX_PARENT_GROWTH_MB
    assert memory.peak_mb <= MAX_CHILD_MB
    assert list((tmp_path / "out").glob("*.part")) == []


def seen_opens(log: Path) -> list[tuple[str, str]]:
    """What the witness in the child saw: event and what it named."""
    lines = log.read_text("utf-8").splitlines()
    return [tuple(line.split(" ", 2)[1:]) for line in lines if line.startswith("SEEN ")]  # type: ignore[misc]


@linux_only
def test_decoding_opens_the_file_its_target_and_code_alone(tmp_path: Path) -> None:
    files = [
        ("picture", PORTRAIT.read_bytes()),
        ("sound", SPEECH.read_bytes()[:64_000]),
        *((medium, data) for medium, made in SAMPLES for data in made),
    ]
    lane, supervisor = decode_lane(tmp_path, WITNESS, decode_timeout_s=60)
    source, target = tmp_path / "in" / "upload", tmp_path / "out" / "decoded"
    source.parent.mkdir()
    target.parent.mkdir()
    (tmp_path / "in" / NEIGHBOUR).write_bytes(SPEECH.read_bytes())
    codes = []
    with watched_opens(tmp_path / "in" / NEIGHBOUR) as opens:
        for medium, data in files:
            wait_ready(supervisor)
            source.write_bytes(data)
            codes.append(refusal_of(lane, medium, source, target))
        assert opens.count() == 0
    lane.pool.close()

    seen = seen_opens(tmp_path / "data" / "logs" / "decode.log")
    assert codes[:2] == [None, None]
    assert None not in codes[2:]
    assert {event for event, _ in seen} >= {"open"}
    assert [event for event, _ in seen if event.startswith(("socket", "subprocess"))] == []
    opened = {path.strip("b'") for event, path in seen if event == "open"}
    outside = [path for path in opened if not path.startswith((str(source), *CODE))]
    assert [path for path in outside if not path.startswith(str(target))] == []


@linux_only
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_the_kernel_saw_no_other_file_no_socket_and_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "strace.log"
    wrapper = tmp_path / "python"
    python = sys.executable
    calls = "trace=openat,open,openat2,creat,connect,bind,sendto,execve,unlink,rename"
    wrapper.write_text(f'#!/bin/sh\nexec strace -f -qq -A -e {calls} -o {log} {python} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setattr("engine.worker.plan.sys.executable", str(wrapper))
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / NEIGHBOUR).write_bytes(SPEECH.read_bytes())
    lane, supervisor = decode_lane(tmp_path, PRODUCT, heartbeat_timeout_s=300)
    supervisor.warm_up = lambda: None  # type: ignore[method-assign]
    (tmp_path / "out").mkdir()

    for medium, made in SAMPLES[1:]:
        for data in made:
            (folder / "upload").write_bytes(data)
            assert refusal_of(lane, medium, folder / "upload", tmp_path / "out" / "decoded")
    lane.pool.close()

    # The last file is a suspicious one, so its child has ended by itself and strace has written.
    lines = calls_while_decoding(log, folder / "upload", python)
    harmless = (f"{folder}/upload", str(tmp_path / "out"), *CODE, "/proc/")
    named = [line for line in lines if '"/' in line and "ENOENT" not in line]
    assert len(named) > len(SAMPLES)
    assert [line for line in named if not line.split('"')[1].startswith(harmless)] == []
    assert [line for line in lines if "connect(" in line or "execve(" in line] == []


def calls_while_decoding(log: Path, upload: Path, python: str) -> list[str]:
    """What children asked of the kernel from their first look at a file on, not at their start."""
    lines, is_decoding = [], False
    for line in log.read_text("utf-8", "replace").splitlines():
        if f'execve("{python}"' in line:
            is_decoding = False
        is_decoding = is_decoding or f'"{upload}"' in line
        if is_decoding:
            lines.append(line)
    return lines
