"""What the owner of an engine looks after: memory, disk, the queue's health, weights, settings."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from engine.contracts import DiskReading, MemoryEntry, MemoryReading, WeightsState
from engine.errors import ErrorCode, InputError
from engine.facade.parts import LEDGER_ENTRIES, EngineParts
from engine.gpu.residue import RISE_MB
from engine.jobs.backend import BackendHealth
from engine.jobs.limits import MIN_MEASURED_S, rate_for
from engine.jobs.retention import sweep_all
from engine.owner_settings import OWNER_FIELDS, write_choices
from engine.settings import EngineSettings


class Upkeep(EngineParts):
    """How the engine is, and what may be changed about it.

    Attributes:
        measured_from_s: how long a video has to be to tell how fast this machine is.
    """

    measured_from_s = MIN_MEASURED_S

    def gauge(self) -> MemoryReading:
        """The memory of the card, or of the computer; never waits for the driver."""
        reading = self._gauge.read()
        rise_mb = self._store.ledger.rise_mb(reading.kind)
        if rise_mb <= RISE_MB:
            return reading
        update = {"warning": ErrorCode.MEMORY_RISING, "rise_mb": round(rise_mb)}
        return reading.model_copy(update=update)

    def disk(self) -> DiskReading:
        """The space on the disk, and how much of it is ours."""
        return self._disk.read()

    def clean_up(self) -> int | None:
        """Remove now what was kept long enough, and end workers that have nothing to do.

        Returns:
            How many files and videos were removed; None when another engine has the folder, which
            does it itself every hour.
        """
        for executor in self._render:
            executor.unload()
        if not self._backend.health().is_dispatching:
            return None
        return sweep_all(self._store, self._folders, self.settings).total

    def memory_ledger(self, limit: int = LEDGER_ENTRIES) -> list[MemoryEntry]:
        """What the last jobs took of the memory, newest first."""
        return self._store.ledger.newest(limit)

    def health(self) -> BackendHealth:
        """How the queue is doing here."""
        return self._backend.health()

    def measured_rate(self, animator: str, size_px: int) -> float | None:
        """Measured seconds of work per second of 25 fps video; None while nothing was measured."""
        return rate_for(self._store.rates(), animator, size_px)

    def resume(self) -> None:
        """Go on with the queue although `health` says it is paused."""
        self._backend.resume()

    def weights(self, *, everything: bool = False) -> list[WeightsState]:
        """The sets of weights: what is here, and how far a download is.

        Args:
            everything: those too of which nothing is here and that no animator needs.
        """
        return self._weights.states(everything=everything)

    def fetch_weights(self, name: str) -> None:
        """Download what is missing of a set in the background; `weights` tells how far it is.

        Raises:
            InputError: WEIGHTS_UNKNOWN.
        """
        self._weights.start(name)

    def stop_fetching(self) -> None:
        """End a running download of weights; what came is kept."""
        self._weights.stop()

    def owner_choices(self) -> dict[str, Any]:
        """What the owner may change on the page, as it holds now."""
        return {name: getattr(self.settings, name) for name in OWNER_FIELDS}

    def choose(self, values: Mapping[str, Any]) -> None:
        """Keep what the owner chose; it holds from the next start on.

        Raises:
            InputError: BAD_OPTION, naming the first value that cannot be used, or
                OUTPUT_NOT_WRITABLE.
            EngineError: SPEECH_ADDRESS_OUTSIDE and its like when its address cannot be used.
        """
        try:
            EngineSettings(data_dir=self.settings.data_dir, **values)
        except ValidationError as error:
            fault = error.errors()[0]
            name = str(fault["loc"][0]).replace("_", " ") if fault["loc"] else "settings"
            raise InputError(ErrorCode.BAD_OPTION, option=name, reason=fault["msg"]) from None
        if values.get("speech_server_url"):
            self._lane.require_private(str(values["speech_server_url"]))
        try:
            write_choices(self.settings.data_dir, values)
        except OSError as error:
            raise InputError(ErrorCode.OUTPUT_NOT_WRITABLE) from error
