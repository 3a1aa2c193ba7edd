"""One `serve-worker` for several cards: a process for each, restarted when it fails."""

import os

import pytest
from installation import BROKERS, Installation
from polling import wait_until

from engine.contracts import JobStatus
from engine.worker.ending import is_alive
from tests.patience import PATIENCE


@pytest.mark.timeout(200)
@pytest.mark.parametrize("kind", BROKERS[:1], indirect=True)
def test_one_command_serves_every_card_and_replaces_what_fails(site: Installation) -> None:
    engine = site.open_engine()
    (crew,) = site.add_workers(1, "--gpus", "0,1")
    wait_until(lambda: crew.log.read_text().count("Connected to") == 2, 40)

    def make_two() -> tuple[set[str], set[int]]:
        jobs = [engine.submit(site.request({"kind": "sleep", "seconds": 2})) for _ in range(2)]
        done = [engine.wait(job.job_id, 60 * PATIENCE) for job in jobs]
        assert [job.status for job in done] == [JobStatus.SUCCEEDED] * 2
        cards = {job.report["card"] for job in done}
        return cards, {site.attempts(job)[0][1] for job in jobs}

    cards, carriers = make_two()
    os.kill(min(carriers), 9)
    wait_until(lambda: crew.log.read_text().count("Connected to") == 3, 60)
    cards_again, carriers_again = make_two()
    crew.end()

    assert cards == cards_again == {"0", "1"}
    assert len(carriers) == len(carriers_again) == 2
    assert len(carriers & carriers_again) == 1
    assert crew.process.returncode == 0
    wait_until(lambda: not any(map(is_alive, carriers_again)), 10)
