"""How much longer a running job takes, from what was measured before and its own pace."""

from engine.contracts import Progress

MIN_PERCENT = 3.0
MIN_ELAPSED_S = 1.5
"""A job's own pace says nothing before this much of it is done."""

SMOOTHING = 0.25
"""Share of each new estimate; the figure moves calmly yet follows within some ten reports."""

TRUST_PERCENT = 40.0
"""From here on only the job's own pace counts."""


class TimeLeft:
    """Adds the seconds left to the progress of one job; percent never goes back.

    Args:
        expected_s: measured estimate of the whole job, None when there is none.
    """

    def __init__(self, expected_s: float | None) -> None:
        self._expected_s = expected_s
        self._total_s = expected_s
        self._percent = 0.0

    def update(self, progress: Progress, elapsed_s: float) -> Progress:
        """The progress with its `percent` and `seconds_left` completed.

        Args:
            progress: as the worker told it; a worker that knows what is left is believed.
            elapsed_s: since the job was started.
        """
        self._percent = max(self._percent, progress.percent)
        if progress.seconds_left is not None:
            told_s = round(progress.seconds_left, 1)
            return progress.model_copy(update={"percent": self._percent, "seconds_left": told_s})
        self._learn(elapsed_s)
        left_s = None
        if self._total_s is not None:
            left_s = round(max(0.0, self._total_s - elapsed_s), 1)
        return progress.model_copy(update={"percent": self._percent, "seconds_left": left_s})

    def _learn(self, elapsed_s: float) -> None:
        if self._percent < MIN_PERCENT or elapsed_s < MIN_ELAPSED_S:
            return
        total_s = elapsed_s / self._percent * 100.0
        if self._expected_s is not None:
            trust = min(1.0, self._percent / TRUST_PERCENT)
            total_s = trust * total_s + (1.0 - trust) * max(self._expected_s, elapsed_s)
        if self._total_s is None:
            self._total_s = total_s
        self._total_s += SMOOTHING * (total_s - self._total_s)
