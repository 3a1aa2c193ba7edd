"""The best way to lay a chain of sounds over frames of scores: dynamic programming, pure.

Every sound takes some frames, at a cost for unlikely lengths; silence may lie before sounds that
begin a word. Only a window of the chain that moves along with the best hypothesis is looked at,
so that a long recording takes memory in proportion to its length alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONGEST_FRAMES = 63  # a length and two marks share one byte: 1.26 s at 50 Hz

# States looked at at a time: about 20 s of speech, so a text may lead or lag by 10 s.
WINDOW_STATES = 384
_BEHIND = WINDOW_STATES // 2

_FROM_SILENCE, _SILENCE_BEGAN = 0x80, 0x40
_LOWEST = np.float32(-1e30)


@dataclass(frozen=True)
class Chain:
    """What is to be laid over the frames.

    Attributes:
        column: N, column of the scores each sound is scored by.
        length_score: N x `LONGEST_FRAMES`, score of lasting 1, 2, ... frames.
        pause_score: N, score of beginning a silence before each sound, -inf where none may lie;
            the one before the first sound always may.
    """

    column: NDArray[np.int64]
    length_score: NDArray[np.float32]
    pause_score: NDArray[np.float64]


def search(
    chain: Chain, scores: NDArray[np.float32], silence: NDArray[np.float32]
) -> NDArray[np.int64] | None:
    """Find the best begin and end of every sound.

    Args:
        chain: sounds in order, at least one.
        scores: T x K, log scores of the columns.
        silence: T, log scores of silence.

    Returns:
        N x 2, first frame and the one behind the last; None when the sounds do not fit.
    """
    return _Search(chain, scores, silence).run()


class _Search:
    """The tables of one search.

    State i is sound i, or the silence before it; state N is the silence behind all sounds.
    """

    def __init__(
        self, chain: Chain, scores: NDArray[np.float32], silence: NDArray[np.float32]
    ) -> None:
        self._count, self._frames = len(chain.column), len(scores)
        count = self._count
        self._width = min(WINDOW_STATES, count + 1)
        self._column = np.append(chain.column, 0)
        self._lengths = np.full((LONGEST_FRAMES, count + 1), _LOWEST, np.float32)
        self._lengths[:, :count] = chain.length_score.T[::-1]
        self._pause_score = np.append(np.maximum(chain.pause_score, _LOWEST), 0.0)
        self._silence = silence
        self._sums = np.zeros((self._frames + 1, scores.shape[1]))
        np.cumsum(scores, axis=0, out=self._sums[1:], dtype=np.float64)
        self._ended = np.full(count + 2, _LOWEST, np.float64)  # [i + 1] = sound i has just ended
        self._quiet = np.full(count + 1, _LOWEST, np.float64)
        # Score of entering a state at each of the last frames, twice, so that a slice is in order.
        self._entered = np.full((2 * LONGEST_FRAMES, count + 1), _LOWEST, np.float32)
        self._marks = np.zeros((self._frames + 1, self._width), np.uint8)
        self._low = np.zeros(self._frames + 1, np.int64)

    def run(self) -> NDArray[np.int64] | None:
        """Forward over all frames, then back along the best way."""
        self._ended[0], self._quiet[0] = 0.0, 0.0
        self._enter(0, 0)
        low = 0
        for frame in range(1, self._frames + 1):
            low = self._step(frame, low)
        if low + self._width <= self._count:
            return None
        best = max(self._ended[self._count], self._quiet[self._count])
        return self._trace() if best > _LOWEST / 2 else None

    def _step(self, frame: int, low: int) -> int:
        """Score all states of the window at the border behind `frame`; returns the next window."""
        high = low + self._width
        window = slice(low, high)
        self._low[frame] = low
        row = frame % LONGEST_FRAMES
        options = self._entered[row : row + LONGEST_FRAMES, window] + self._lengths[:, window]
        best = options.argmax(axis=0)
        ended = options[best, np.arange(self._width)] + self._sums[frame, self._column[window]]
        begun = self._ended[window] + self._pause_score[window]
        has_begun = begun > self._quiet[window]
        quiet = np.maximum(begun, self._quiet[window]) + self._silence[frame - 1]
        self._quiet[window] = np.maximum(quiet, _LOWEST)
        self._ended[0] = _LOWEST
        self._ended[low + 1 : high + 1] = np.maximum(ended, _LOWEST)
        self._marks[frame] = (LONGEST_FRAMES - best) % 64 + _SILENCE_BEGAN * has_begun
        low = self._moved(low)
        self._enter(frame, low)
        return low

    def _enter(self, frame: int, low: int) -> None:
        """Note what entering each state costs now, and whether it is from silence."""
        window = slice(low, low + self._width)
        ended, quiet = self._ended[window], self._quiet[window]
        entered = np.maximum(ended, quiet) - self._sums[frame, self._column[window]]
        row = frame % LONGEST_FRAMES
        for place in (row, row + LONGEST_FRAMES):
            self._entered[place] = _LOWEST
            self._entered[place, window] = entered
        first = self._low[frame]
        old = slice(first, first + self._width)
        self._marks[frame] |= _FROM_SILENCE * (self._quiet[old] > self._ended[old]).astype(np.uint8)

    def _moved(self, low: int) -> int:
        """Where the window goes on: the best state stays near its middle; it never goes back."""
        high = low + self._width
        here = np.maximum(self._ended[low:high], self._quiet[low:high])
        wanted = low + int(here.argmax()) - _BEHIND
        new = min(max(low, wanted), self._count + 1 - self._width)
        self._ended[low:new] = _LOWEST
        self._quiet[low:new] = _LOWEST
        return new

    def _mark(self, frame: int, state: int) -> int:
        return int(self._marks[frame, state - self._low[frame]])

    def _trace(self) -> NDArray[np.int64]:
        spans = np.zeros((self._count, 2), np.int64)
        frame, state = self._frames, self._count
        is_quiet = self._quiet[state] > self._ended[state]
        while True:
            while is_quiet and frame:
                is_quiet = not self._mark(frame, state) & _SILENCE_BEGAN
                frame -= 1
            state -= 1
            if state < 0:
                return spans
            length = self._mark(frame, state) & 0x3F
            spans[state] = frame - length, frame
            frame -= length
            is_quiet = bool(self._mark(frame, state) & _FROM_SILENCE) if frame else False
