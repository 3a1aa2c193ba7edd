"""How long a running job still takes: what its stages should cost, corrected by its own pace."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.contracts import Stage

LIKE_EACH_OTHER = (Stage.ANIMATE, Stage.FINISH)
"""The stages that keep every core busy: where one is slowed down, the other will be."""

SURE_SHARE = 0.12
"""Share of those stages after which what happened counts as much as what was expected."""

HELD_BACK = 13
"""Frames the encoder takes in before it gives out the first: they look too cheap."""

TRUSTED_SHARE = 0.15
"""Share of a stage after which its own pace counts as much as its cost."""

AFTER_S = 0.1
"""From the last stage until the video is on the page."""


@dataclass
class Forecast:
    """What is left of one job; told when stages begin and end.

    Attributes:
        costs: seconds each stage should take, in order; may be replaced by better ones.
    """

    costs: Mapping[Stage, float]
    _took: dict[Stage, float] = field(default_factory=dict)
    _stage: Stage = Stage.PREPARE
    _began_s: float = 0.0
    _first: tuple[int, float] | None = None

    def begin(self, stage: Stage, now_s: float) -> None:
        """A stage begins."""
        self._stage, self._began_s, self._first = stage, now_s, None

    def end(self, now_s: float) -> None:
        """The running stage ends."""
        self._took[self._stage] = now_s - self._began_s

    def left_s(self, done: int, total: int, now_s: float) -> float:
        """Seconds left when `done` of `total` units of the running stage are finished."""
        order = list(Stage)
        later = [each for each in order[order.index(self._stage) + 1 :] if each in self.costs]
        slower = self._slower(done / total if total else 0.0, now_s)
        after = sum(self.costs[each] * self._factor(each, slower) for each in later)
        return self._rest_s(done, total, now_s, slower) + after + AFTER_S

    def _rest_s(self, done: int, total: int, now_s: float, slower: float) -> float:
        """Of the running stage."""
        cost = self.costs.get(self._stage, 0.0) * self._factor(self._stage, slower)
        if total == 0:
            return max(cost - (now_s - self._began_s), 0.0)
        expected = cost * max(1 - done / total, 0.0)
        if done == 0 or (self._stage is Stage.ANIMATE and done < HELD_BACK):
            return expected
        if self._first is None:
            self._first = (done, now_s)
        first, first_s = self._first
        if done <= first:
            return expected
        paced = (total - done) * (now_s - first_s) / (done - first)
        trust = (done - first) / (done - first + TRUSTED_SHARE * total)
        return trust * paced + (1 - trust) * expected

    def _slower(self, share: float, now_s: float) -> float:
        """How many times longer than expected the stages that keep every core busy take."""
        took = expected = SURE_SHARE * sum(self.costs.get(stage, 0.0) for stage in LIKE_EACH_OTHER)
        for stage in LIKE_EACH_OTHER:
            if stage in self._took:
                took += self._took[stage]
                expected += self.costs.get(stage, 0.0)
            elif stage is self._stage and share > 0:
                took += now_s - self._began_s
                expected += self.costs.get(stage, 0.0) * share
        return took / max(expected, 1e-6)

    @staticmethod
    def _factor(stage: Stage, slower: float) -> float:
        return slower if stage in LIKE_EACH_OTHER else 1.0
