"""Voices let be heard: piece by piece, one for each asker, and again without being spoken."""

import contextlib
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

from engine.contracts import Progress, SpeechOptions
from engine.errors import Canceled, EngineError
from engine.settings import EngineSettings
from engine.worker.attend import TaskLimits
from engine.worker.pool import ChildPool

KNOWN_BYTES = 16_000_000
"""Of sound kept to be heard again: some fifteen previews of ten seconds."""


SUBJECT = "voice"
"""Previews go to the child that spoke the last one where they can: it has the network loaded."""


class VoicePreview(Iterator[bytes]):
    """The pieces of a preview as WAVs, each given as soon as it is spoken.

    Iterating raises what went wrong where the next piece would come; `Canceled` after `close`, or
    when the same asker has asked for another one.
    """

    def __init__(self, known: Sequence[bytes] = ()) -> None:
        """Begin.

        Args:
            known: all pieces, when they were spoken before.
        """
        self._news: queue.SimpleQueue[bytes | BaseException] = queue.SimpleQueue()
        self._next: bytes | BaseException | None = None
        self._canceled = threading.Event()
        if known:
            for piece in known:
                self.put(piece)
            self.put(StopIteration())

    def __iter__(self) -> Self:
        """Itself."""
        return self

    def __next__(self) -> bytes:
        """The next piece; waits for it."""
        self.is_ready(None)
        told, self._next = self._next, None
        if isinstance(told, bytes) and not self._canceled.is_set():
            return told
        if isinstance(told, BaseException):
            self._next = told  # there is nothing behind it
            raise told
        raise Canceled

    def is_ready(self, timeout_s: float | None) -> bool:
        """Wait until the next piece, or the end, is there; False when the time was over first."""
        if self._next is None:
            with contextlib.suppress(queue.Empty):
                self._next = self._news.get(timeout=timeout_s)
        return self._next is not None

    @property
    def is_canceled(self) -> bool:
        """Whether nobody wants to hear it any more."""
        return self._canceled.is_set()

    def put(self, told: bytes | BaseException) -> None:
        """Hand a piece on, or why none follows."""
        self._news.put(told)

    def close(self) -> None:
        """Stop speaking; a preview that has ended stays as it is."""
        self._canceled.set()


class KnownPreviews:
    """What was spoken before, by what was asked; the oldest go when there is too much.

    Thread-safe.
    """

    def __init__(self, max_bytes: int = KNOWN_BYTES) -> None:
        self._max_bytes = max_bytes
        self._pieces: OrderedDict[str, list[bytes]] = OrderedDict()
        self._lock = threading.Lock()
        self._times_cleared = 0

    def find(self, asked: str) -> tuple[list[bytes], int]:
        """The pieces of a preview, none when they are not known; and what `keep` wants to hear."""
        with self._lock:
            if asked in self._pieces:
                self._pieces.move_to_end(asked)
            return list(self._pieces.get(asked, ())), self._times_cleared

    def keep(self, asked: str, pieces: list[bytes], since: int) -> None:
        """Remember a whole preview, but not when everything was cleared `since` it was asked."""
        with self._lock:
            if since != self._times_cleared:
                return
            self._pieces[asked] = pieces
            while sum(len(wav) for kept in self._pieces.values() for wav in kept) > self._max_bytes:
                self._pieces.popitem(last=False)

    def clear(self) -> None:
        """Forget all of it: it is what people typed."""
        with self._lock:
            self._pieces.clear()
            self._times_cleared += 1


class Previews:
    """Has previews spoken by the quick children.

    Args:
        pool: of the quick lane.
        settings: of the engine.
        new_path: a fresh path for a sound that lives for a while.
    """

    def __init__(
        self, pool: ChildPool, settings: EngineSettings, new_path: Callable[[], Path]
    ) -> None:
        self._pool = pool
        self._settings = settings
        self._new_path = new_path
        self._limits = TaskLimits(total_s=settings.quick_timeout_s)
        self._known = KnownPreviews()
        self._warming = threading.Lock()
        self._running: dict[str, VoicePreview] = {}
        self._lock = threading.Lock()

    def begin(self, speech: SpeechOptions, asker: str | None) -> VoicePreview:
        """Begin to speak, or to repeat, a preview.

        Args:
            speech: text and voice.
            asker: whose preview before this one is stopped; None = nobody's is.
        """
        asked = f"{speech.model_dump_json()} {self._lexicon_version()}"
        known, since = self._known.find(asked)
        preview = VoicePreview(known)
        if asker is not None:
            self._replace(asker, preview)
        if known:
            self._leave(asker, preview)
        else:
            threading.Thread(
                target=self._speak,
                args=(speech, preview, asker, lambda all_: self._known.keep(asked, all_, since)),
                name="preview",
                daemon=True,
            ).start()
        return preview

    def warm_up(self, language: str | None, voice: str | None) -> None:
        """Begin to load what a slow voice needs, where its preview will be spoken."""
        payload = {"language": language, "voice": voice}

        def warm() -> None:
            with self._warming, contextlib.suppress(EngineError):  # a preview says what is wrong
                self._pool.run("warm_voice", payload, self._limits, subject=SUBJECT)

        threading.Thread(target=warm, name="warm-voice", daemon=True).start()

    def forget(self) -> None:
        """Forget what was spoken."""
        self._known.clear()

    def _speak(
        self,
        speech: SpeechOptions,
        preview: VoicePreview,
        asker: str | None,
        keep: Callable[[list[bytes]], None],
    ) -> None:
        spoken: list[bytes] = []
        try:
            target = self._new_path()

            def take(_progress: Progress | None = None) -> None:
                while (piece := _piece_path(target, len(spoken))).exists():
                    spoken.append(piece.read_bytes())
                    piece.unlink()
                    preview.put(spoken[-1])

            payload = {"speech": speech.model_dump(mode="json"), "target": str(target)}
            try:
                self._pool.run(
                    "preview",
                    {**payload, "in_pieces": True},
                    self._limits,
                    take,
                    subject=SUBJECT,
                    is_canceled=lambda: preview.is_canceled,
                )
            finally:
                take()
                target.unlink(missing_ok=True)
            keep(spoken)
            preview.put(StopIteration())
        except BaseException as error:  # noqa: BLE001 - raised where the pieces are read
            preview.put(error)
        finally:
            self._leave(asker, preview)

    def _replace(self, asker: str, preview: VoicePreview) -> None:
        with self._lock:
            before = self._running.get(asker)
            self._running[asker] = preview
        if before is not None:
            before.close()

    def _leave(self, asker: str | None, preview: VoicePreview) -> None:
        with self._lock:
            if asker is not None and self._running.get(asker) is preview:
                del self._running[asker]

    def _lexicon_version(self) -> str:
        """Changes with a person's own pronunciations."""
        try:
            facts = self._settings.pronunciations_path.stat()
        except OSError:
            return ""
        return f"{facts.st_mtime_ns} {facts.st_size}"


def _piece_path(target: Path, number: int) -> Path:
    """Where the child puts a piece; see `engine.pipeline.speak.write_pieces`."""
    return target.with_name(f"{target.stem}-{number}{target.suffix}")
