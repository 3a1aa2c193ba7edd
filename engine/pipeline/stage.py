"""The clock of one job: which stage runs, how far it is, what each one took."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from engine.contracts import Progress, Stage
from engine.errors import EngineError
from engine.pipeline.forecast import Forecast

# Share of a whole job that each stage takes where nothing more is known; only the percent shown
# depends on it.
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
        self._began_s = time.monotonic()
        self.seconds: dict[str, float] = {}
        self.shares = STAGE_SHARES
        self._forecast: Forecast | None = None

    def expect(self, costs: Mapping[Stage, float]) -> None:
        """Take over what each stage should cost here, in seconds; may be told again, better."""
        if self._forecast is None:
            self._forecast = Forecast(costs)
            self._forecast.begin(self._stage, self._began_s)
        self._forecast.costs = costs
        whole_s = max(sum(costs.values()), 1e-6)
        self.shares = {stage: 100.0 * costs.get(stage, 0.0) / whole_s for stage in Stage}

    @contextmanager
    def running(self, stage: Stage, total: int = 0) -> Iterator[None]:
        """Enter a stage of `total` units; its time is kept even when it fails."""
        self._stage, self._total, self._began_s = stage, total, time.monotonic()
        if self._forecast is not None:
            self._forecast.begin(stage, self._began_s)
        self.step(0)
        try:
            yield
        finally:
            now_s = time.monotonic()
            self.seconds[stage.value] = round(now_s - self._began_s, 3)
            if self._forecast is not None:
                self._forecast.end(now_s)

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
        left_s = None
        if self._forecast is not None:
            left_s = self._forecast.left_s(done, self._total, time.monotonic())
        self._report(
            Progress(
                stage=self._stage,
                done=done,
                total=self._total,
                percent=percent,
                seconds_left=left_s,
            )
        )

    def _percent(self, done: int) -> float:
        order = list(Stage)
        before = sum(self.shares[stage] for stage in order[: order.index(self._stage)])
        share = min(done / self._total, 1.0) if self._total else 0.0
        return min(before + self.shares[self._stage] * share, 100.0)
