"""Several cards of one machine: one child each, every job once."""

import os
from collections.abc import Callable

import psutil
import pytest
from polling import wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, JobStatus
from engine.worker.ending import is_alive
from tests.patience import PATIENCE

LONG = {"kind": "sleep", "seconds": 30}
WORK = {"kind": "sleep", "seconds": 0.2}


def pids_of(engine: StudioEngine, job_id: str) -> list[int]:
    log = engine.settings.jobs_dir / job_id / "attempts.txt"
    return [int(line.split()[0]) for line in log.read_text("utf-8").splitlines()]


def test_each_card_has_a_child_that_sees_it_alone_and_no_job_is_made_twice(
    make_engine: Callable[..., StudioEngine], request_for: Callable[..., AnimateRequest]
) -> None:
    engine = make_engine(exclusive=True, gpus=("0", "1"))
    first, second = (engine.submit(request_for(LONG)) for _ in range(2))
    wait_until(lambda: len(engine.health().job_ids) == 2, 20)
    both = [first.job_id, second.job_id]
    wait_until(
        lambda: all((engine.settings.jobs_dir / job / "attempts.txt").exists() for job in both), 20
    )
    pids = [pids_of(engine, job_id)[0] for job_id in both]

    cards = {psutil.Process(pid).environ()["CUDA_VISIBLE_DEVICES"] for pid in pids}
    for job_id in both:
        engine.cancel(job_id)
    jobs = [engine.submit(request_for(WORK)) for _ in range(6)]
    done = [engine.wait(job.job_id, 30 * PATIENCE) for job in jobs]

    assert cards == {"0", "1"}
    assert len(set(pids)) == 2
    assert [job.status for job in done] == [JobStatus.SUCCEEDED] * 6
    assert [len(pids_of(engine, job.job_id)) for job in jobs] == [1] * 6
    assert engine.health().num_workers == 2


def test_a_child_lost_on_one_card_does_not_disturb_the_other(
    make_engine: Callable[..., StudioEngine],
    request_for: Callable[..., AnimateRequest],
    wait_for_progress: Callable[[StudioEngine, str], None],
) -> None:
    engine = make_engine(exclusive=True, gpus=("0", "1"))
    victim = engine.submit(request_for(LONG, WORK))
    other = engine.submit(request_for({"kind": "sleep", "seconds": 3}))
    for job in (victim, other):
        wait_for_progress(engine, job.job_id)

    os.kill(pids_of(engine, victim.job_id)[0], 9)
    ended = [engine.wait(job.job_id, 30 * PATIENCE) for job in (victim, other)]

    assert [(job.status, job.attempt) for job in ended] == [
        (JobStatus.SUCCEEDED, 2),
        (JobStatus.SUCCEEDED, 1),
    ]


@pytest.mark.parametrize("count", [1, 3])
def test_closing_puts_every_running_job_back_and_ends_every_child(
    make_engine: Callable[..., StudioEngine],
    request_for: Callable[..., AnimateRequest],
    count: int,
) -> None:
    engine = make_engine(exclusive=True, gpus=tuple(map(str, range(count))))
    jobs = [engine.submit(request_for(LONG)) for _ in range(count)]
    wait_until(lambda: len(engine.health().job_ids) == count, 20)
    folders = [engine.settings.jobs_dir / job.job_id / "attempts.txt" for job in jobs]
    wait_until(lambda: all(path.exists() for path in folders), 20)
    pids = [pids_of(engine, job.job_id)[0] for job in jobs]

    engine.close()

    again = make_engine()
    assert [again.get(job.job_id).status for job in jobs] == [JobStatus.QUEUED] * count
    assert [again.get(job.job_id).attempt for job in jobs] == [0] * count
    assert [pid for pid in pids if is_alive(pid)] == []
