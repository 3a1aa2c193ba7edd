"""Waiting for the card when other programs hold the memory a video needs."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

from engine.errors import Canceled, EngineError, ErrorCode

LOOK_EVERY_S = 1.0
MB_PER_GB = 1024.0


@dataclass(frozen=True)
class CardMemory:
    """Of one card, in MB.

    Attributes:
        total_mb: all of it.
        free_mb: what a video of ours may take now: unused, or kept by this process.
    """

    total_mb: float
    free_mb: float


def wait_for_room(
    need_mb: float,
    look: Callable[[], CardMemory | None],
    tell: Callable[[EngineError], None],
    canceled: Event,
    limit_s: float,
) -> None:
    """Wait until the card has room for a video, as long as it is others who take it.

    Returns at once where there is no card to tell of, where there is room, and where the video
    would not even fit on an empty card: then the ladder knows what to do.

    Args:
        need_mb: the least the video can be made in.
        look: what the card has now; None = cannot be told.
        tell: called about once a second with why it waits.
        canceled: ends the waiting.
        limit_s: how long to wait.

    Raises:
        Canceled: `canceled` was set.
        EngineError: CARD_BUSY when it took too long.
    """
    deadline = time.monotonic() + limit_s
    while True:
        card = look()
        if card is None or need_mb <= card.free_mb or need_mb > card.total_mb:
            return
        why = EngineError(
            ErrorCode.CARD_BUSY, need_gb=_gigabytes(need_mb), free_gb=_gigabytes(card.free_mb)
        )
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise why
        tell(why)
        if canceled.wait(min(LOOK_EVERY_S, left_s)):
            raise Canceled


def _gigabytes(mb: float) -> float:
    return round(mb / MB_PER_GB, 1)
