"""Waiting for the card while other programs hold it."""

from threading import Event, Timer

import pytest

from engine.contracts import Progress, Stage
from engine.errors import Canceled, EngineError, ErrorCode
from engine.gpu.room import CardMemory, wait_for_room
from engine.messages import describe
from engine.pipeline.stage import StageClock

FREE = CardMemory(total_mb=24_000.0, free_mb=20_000.0)
HELD = CardMemory(total_mb=24_000.0, free_mb=2_048.0)


@pytest.mark.parametrize(
    ("need_mb", "card"), [(8_000.0, FREE), (8_000.0, None), (30_000.0, HELD), (0.0, HELD)]
)
def test_nothing_is_waited_for_where_there_is_room_no_card_or_no_hope(
    need_mb: float, card: CardMemory | None
) -> None:
    told: list[EngineError] = []

    wait_for_room(need_mb, lambda: card, told.append, Event(), 0.0)

    assert told == []


def test_it_goes_on_once_the_others_have_left_and_says_meanwhile_why_it_waits() -> None:
    looks = iter([HELD, HELD, FREE])
    told: list[EngineError] = []

    wait_for_room(8_192.0, lambda: next(looks), told.append, Event(), 60.0)

    assert [why.code for why in told] == [ErrorCode.CARD_BUSY] * 2
    assert "needs 8.0 GB and 2.0 GB are free" in describe(told[0].code, told[0].values).sentence


def test_it_gives_up_with_advice_so_that_the_next_video_can_be_made() -> None:
    with pytest.raises(EngineError) as caught:
        wait_for_room(8_192.0, lambda: HELD, lambda _why: None, Event(), 0.0)

    assert caught.value.code is ErrorCode.CARD_BUSY


def test_a_cancel_ends_the_waiting_at_once() -> None:
    canceled = Event()
    Timer(0.05, canceled.set).start()

    with pytest.raises(Canceled):
        wait_for_room(8_192.0, lambda: HELD, lambda _why: None, canceled, 60.0)


def test_the_progress_of_the_job_says_what_it_waits_for() -> None:
    reported: list[Progress] = []
    clock = StageClock(reported.append)

    with clock.running(Stage.ANIMATE, 100):
        clock.wait(EngineError(ErrorCode.CARD_BUSY, need_gb=8.0, free_gb=2.0))
        clock.step(50)

    assert [progress.waits_for for progress in reported] == [None, ErrorCode.CARD_BUSY, None]
    assert reported[1].values == {"need_gb": 8.0, "free_gb": 2.0}
    assert reported[0].percent == reported[1].percent < reported[2].percent
