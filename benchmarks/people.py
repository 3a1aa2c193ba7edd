"""People who use the studio over the network, each with a cookie of their own; see `load`.

They speak plain HTTP as a page does, over one connection that is kept: Gradio's Python client takes
0.2 s of processor time a call to read certificates, which on two cores is most of what is measured.
"""

import json
import os
import random
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import soundfile
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"
SPEECH = ROOT / "tests" / "data" / "speech"
READY = "http://"
START_S, STOP_S = 120.0, 60.0

OPTIONS = {"animator": "lite", "size_px": 256}
SUBMIT_EVERY_S = 8.0
"""Under the limit of ten a minute for one person."""

THINK_S = (0.3, 1.2)
"""Between two acts; a page asks about its job once a second."""


@dataclass(frozen=True)
class Sample:
    """One call.

    Attributes:
        handler: what was called.
        seconds: until the answer was there, with the upload.
        is_rendering: whether a video of anybody was being made.
        error: what went wrong, else None.
    """

    handler: str
    seconds: float
    is_rendering: bool
    error: str | None = None


class StudioProcess:
    """A studio of its own, started as a person starts it.

    Attributes:
        address: of the page, once entered.
    """

    def __init__(self) -> None:
        self.address = ""
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        command = [sys.executable, str(ROOT / "app.py"), "--data-dir", self._folder.name]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if READY not in line:
            raise RuntimeError("the studio did not start")
        self.address = READY + line.split(READY)[1].split()[0]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(STOP_S * 2)
        self._folder.cleanup()


class Person:
    """Looks, checks, submits, watches, cancels and fetches until the time is over.

    Args:
        address: of the page.
        speech: a recording, of which everybody sends pieces of their own.
        seed: of what they do next.
        until: `time.monotonic()` of the end.
        making: ids of the videos of all people that are being made.
    """

    def __init__(
        self, address: str, speech: Path, seed: int, until: float, making: set[str]
    ) -> None:
        self._speech, self._until = speech, until
        self._making = making
        self._random = random.Random(seed)
        self._web = httpx.Client(base_url=address, timeout=60, follow_redirects=True)
        self._web.get("/").raise_for_status()
        self._orders = _orders_of(self._web)
        self._session = secrets.token_hex(8)
        self._uploads: dict[Path, str] = {}
        self._live: dict[str, str] = {}
        self._submitted_at = 0.0
        self._number = 0
        self._folder = tempfile.TemporaryDirectory()
        self._photo, self._recording = self._new_photo(), self._new_recording()
        self.samples: list[Sample] = []

    def _new_photo(self) -> Path:
        """A photo that nobody has shown yet: people look at one a few times, then send it."""
        self._number += 1
        photo = Path(self._folder.name, f"{self._number}.jpg")
        with Image.open(PORTRAIT) as picture:
            right, lower = self._random.randrange(60), self._random.randrange(60)
            picture.crop((0, 0, picture.width - right, picture.height - lower)).save(photo)
        return photo

    def _new_recording(self) -> Path:
        """A recording that nobody has sent yet."""
        recording = Path(self._folder.name, f"{self._number}.wav")
        samples, rate_hz = soundfile.read(self._speech, dtype="int16")
        soundfile.write(recording, samples[self._random.randrange(rate_hz) :], rate_hz)
        return recording

    def act(self) -> None:
        """Do one thing after the other."""
        while time.monotonic() < self._until:
            self._next()()
            for job_id in list(self._live):
                self._watch(job_id)
            time.sleep(self._random.uniform(*THINK_S))

    def _next(self) -> Callable[[], None]:
        if time.monotonic() - self._submitted_at > SUBMIT_EVERY_S:
            return self._submit
        (act,) = self._random.choices(
            (self._check, self._list_voices, self._open_page), weights=(5, 3, 1)
        )
        return act

    def _submit(self) -> None:
        self._submitted_at = time.monotonic()
        answer = self._call(
            "submit",
            portrait=self._uploaded(self._photo),
            audio=self._uploaded(self._recording),
            text="",
            options=OPTIONS,
            consent=True,
        )
        if "job_id" in answer:
            self._live[answer["job_id"]] = "queued"
            if self._number % 4 == 0:
                self._call("cancel", job_id=answer["job_id"])
        self._photo, self._recording = self._new_photo(), self._new_recording()

    def _check(self) -> None:
        self._call(
            "check",
            portrait=self._uploaded(self._photo),
            audio=self._uploaded(self._recording),
            text="",
            options=OPTIONS,
        )

    def _list_voices(self) -> None:
        self._call("voices", language="en")

    def _open_page(self) -> None:
        self._timed("page", partial(self._fetch, "/"))

    def _watch(self, job_id: str) -> None:
        answer = self._call("job", job_id=job_id)
        self._live[job_id] = answer.get("status", "gone")
        if self._live[job_id] == "running":
            self._making.add(job_id)
        else:
            self._making.discard(job_id)
        if self._live[job_id] in ("queued", "running"):
            return
        del self._live[job_id]
        if answer.get("status") == "failed":
            self.samples.append(Sample("job", 0.0, False, str(answer["error"])))
        for item in answer.get("artifacts", []):
            if item["kind"] == "video":
                self._timed("video", partial(self._fetch, item["url"]))

    def _fetch(self, url: str) -> None:
        self._web.get(url).raise_for_status()

    def _call(self, name: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        def call() -> dict[str, Any]:
            answer = self._ask(name, arguments)
            if "code" in (answer.get("error") or {}) and "status" not in answer:
                raise RuntimeError(f"{name}: {answer['error']['code']}")
            return answer

        return self._timed(name, call) or {}

    def _ask(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Ask an endpoint and wait for its answer."""
        data = [arguments[parameter] for parameter in self._orders[name]]
        question = {"data": data, "session_hash": self._session}
        asked = self._web.post(f"/gradio_api/call/{name}", json=question).raise_for_status()
        event = f"/gradio_api/call/{name}/{asked.json()['event_id']}"
        answers = self._web.get(event).raise_for_status().text
        if not answers.startswith("event: complete\ndata: "):
            raise RuntimeError(answers[:200])
        answer: dict[str, Any] = json.loads(answers.splitlines()[1].removeprefix("data: "))[0]
        return answer

    def _uploaded(self, file: Path) -> dict[str, Any]:
        """A file as an endpoint takes it; sent when it was not sent before."""
        if file not in self._uploads:
            self._uploads[file] = self._timed("upload", partial(self._upload, file))
        return {"path": self._uploads[file], "meta": {"_type": "gradio.FileData"}}

    def _upload(self, file: Path) -> str:
        with file.open("rb") as content:
            sent = self._web.post("/gradio_api/upload", files={"files": content})
        path: str = sent.raise_for_status().json()[0]
        return path

    def _timed(self, handler: str, call: Callable[[], Any]) -> Any:  # noqa: ANN401 - what it gives
        is_rendering = bool(self._making)
        started, error, answer = time.perf_counter(), None, None
        try:
            answer = call()
        except Exception as fault:  # noqa: BLE001 - every fault is counted
            error = f"{handler}: {type(fault).__name__}: {fault}"
        seconds = time.perf_counter() - started
        self.samples.append(Sample(handler, seconds, is_rendering, error))
        return answer


def _orders_of(web: httpx.Client) -> dict[str, list[str]]:
    """The parameters of each endpoint, in order."""
    endpoints = web.get("/gradio_api/info").raise_for_status().json()["named_endpoints"]
    return {
        name.removeprefix("/"): [item["parameter_name"] for item in endpoint["parameters"]]
        for name, endpoint in endpoints.items()
    }


def crowd(address: str, people: int, seconds: float) -> list[Sample]:
    """Let people use a studio at once.

    Args:
        address: of the page.
        people: how many.
        seconds: for how long.
    """
    speech = next(iter(sorted(SPEECH.glob("*.wav"))))
    until = time.monotonic() + seconds
    making: set[str] = set()
    crowd_of = [Person(address, speech, seed, until, making) for seed in range(people)]
    threads = [threading.Thread(target=person.act) for person in crowd_of]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [sample for person in crowd_of for sample in person.samples]
