"""The clock of one job: which stage runs, how far it is, what each one took."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.contracts import Progress, Stage
from engine.errors import EngineError

# Share of a whole job that each stage takes, measured with the lite animator at 512 px on two
# cores (docs/performance.md); only the percent shown depends on it.
STAGE_SHARES: dict[Stage, float] = {
    Stage.PREPARE: 3.0,
    Stage.SPEAK: 4.0,
    Stage.LISTEN: 3.0,
    Stage.ANIMATE: 62.0,
    Stage.FINISH: 26.0,
    Stage.ASSEMBLE: 2.0,
}


# The same for sonic at 512 px and 20 steps: two minutes on a fast card for ten seconds of speech.
SONIC_STAGE_SHARES: dict[Stage, float] = {
    Stage.PREPARE: 0.5,
    Stage.SPEAK: 0.5,
    Stage.LISTEN: 0.5,
    Stage.ANIMATE: 95.0,
    Stage.FINISH: 3.0,
    Stage.ASSEMBLE: 0.5,
}


class StageClock:
    """Runs the stages of one job in order, reports progress and keeps the seconds of each.

    Attributes:
        seconds: stage name -> seconds it took, in the order the stages ran.
        shares: share of the whole job that each stage takes, in percent.
    """

    def __init__(self, report: Callable[[Progress], None]) -> None:
        self._report = report
        self._stage = Stage.PREPARE
        self._total = 0
        self.seconds: dict[str, float] = {}
        self.shares = STAGE_SHARES

    @contextmanager
    def running(self, stage: Stage, total: int = 0) -> Iterator[None]:
        """Enter a stage of `total` units; its time is kept even when it fails."""
        self._stage, self._total = stage, total
        started = time.monotonic()
        self.step(0)
        try:
            yield
        finally:
            self.seconds[stage.value] = round(time.monotonic() - started, 3)

    @property
    def stage(self) -> Stage:
        """The stage that runs or ran last."""
        return self._stage

    def step_share(self, share: float) -> None:
        """Tell which share of the running stage is finished, 0-1."""
        self.step(int(share * self._total))

    def wait(self, why: EngineError) -> None:
        """Tell what the job waits for before it goes on."""
        percent = self._percent(0)
        self._report(
            Progress(stage=self._stage, percent=percent, waits_for=why.code, values=why.values)
        )

    def step(self, done: int) -> None:
        """Tell how many units of the running stage are finished."""
        percent = self._percent(done)
        self._report(Progress(stage=self._stage, done=done, total=self._total, percent=percent))

    def _percent(self, done: int) -> float:
        order = list(Stage)
        before = sum(self.shares[stage] for stage in order[: order.index(self._stage)])
        share = min(done / self._total, 1.0) if self._total else 0.0
        return min(before + self.shares[self._stage] * share, 100.0)
