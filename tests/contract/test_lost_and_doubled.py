"""What must hold when a host, a worker or a message is lost, comes twice or goes politely."""

import time

import pytest
from installation import BROKERS, LONG, WORK, Installation
from polling import wait_until

from engine.contracts import JobStatus
from engine.errors import ErrorCode
from tests.patience import PATIENCE

pytestmark = pytest.mark.timeout(240)


def test_jobs_that_wait_survive_the_end_of_the_host(site: Installation) -> None:
    first = site.open_engine()
    jobs = [first.submit(site.request({"kind": "sleep", "seconds": 1}, WORK)) for _ in range(4)]
    site.add_workers(1)
    site.wait_for_attempt(jobs[0])
    first.close()

    second = site.open_engine()
    done = [second.wait(job.job_id, 40 * PATIENCE) for job in jobs]

    assert [job.status for job in done] == [JobStatus.SUCCEEDED] * 4
    assert [job.attempt for job in done] == [1] * 4


@pytest.mark.parametrize("kind", BROKERS, indirect=True)
def test_a_job_that_ended_while_the_host_was_away_is_taken(site: Installation) -> None:
    first = site.open_engine()
    site.add_workers(1)
    job = first.submit(site.request({"kind": "sleep", "seconds": 1}))
    site.wait_for_attempt(job)
    first.close()
    wait_until(lambda: any(name.endswith("outcome.json") for name in site.left_in_storage()), 20)

    done = site.open_engine().wait(job.job_id, 20 * PATIENCE)

    assert done.status is JobStatus.SUCCEEDED
    assert len(site.attempts(job)) == 1


@pytest.mark.parametrize("kind", BROKERS, indirect=True)
def test_a_killed_worker_s_job_is_done_once_by_another(site: Installation) -> None:
    engine = site.open_engine()
    first, second = site.add_workers(2)
    job = engine.submit(site.request(LONG, {"kind": "sleep", "seconds": 2}))
    site.wait_for_attempt(job)
    _, carrier = site.attempts(job)[0]
    victim, other = (first, second) if first.process.pid == carrier else (second, first)

    victim.kill()
    killed_at = time.monotonic()
    site.wait_for_attempt(job, 2)
    redelivered_s = time.monotonic() - killed_at
    done = engine.wait(job.job_id, 40 * PATIENCE)

    limit_s = 8 if site.kind == "rabbitmq" else 20
    assert redelivered_s < limit_s
    assert (done.status, done.attempt) == (JobStatus.SUCCEEDED, 2)
    assert [parent for _, parent in site.attempts(job)] == [carrier, other.process.pid]
    assert len(engine.list_for(None)) == 1


@pytest.mark.parametrize("kind", BROKERS, indirect=True)
def test_a_job_that_kills_its_worker_stops_after_two(site: Installation) -> None:
    engine = site.open_engine()
    site.add_workers(3)
    poison = engine.submit(site.request({"kind": "kill_carrier"}))
    failed = engine.wait(poison.job_id, 110 * PATIENCE)
    after = engine.submit(site.request())

    done = engine.wait(after.job_id, 40 * PATIENCE)

    assert failed.error is not None
    assert failed.error.code is ErrorCode.WORKER_LOST
    assert len(site.attempts(poison)) == 2
    assert done.status is JobStatus.SUCCEEDED
    assert [worker.process.poll() for worker in site.workers].count(None) == 1


@pytest.mark.parametrize("kind", BROKERS, indirect=True)
def test_a_message_that_comes_three_times_gives_one_result(site: Installation) -> None:
    engine = site.open_engine()
    site.add_workers(2)
    job = engine.submit(site.request({"kind": "sleep", "seconds": 6}))
    site.wait_for_attempt(job)
    backend = engine._backend
    sent = backend._sent._sent[job.job_id]
    from engine.jobs.celery_app import TASK_NAME, create_app  # noqa: PLC0415 - optional packages

    facts = {"job_id": job.job_id, "ticket": sent.ticket, "host_id": backend._host_id}
    app = create_app(engine.settings)
    for _ in range(2):
        app.send_task(TASK_NAME, kwargs=facts, queue=app.conf.task_default_queue)

    done = engine.wait(job.job_id, 40 * PATIENCE)
    app.send_task(TASK_NAME, kwargs=facts, queue=app.conf.task_default_queue)
    after = engine.wait(engine.submit(site.request()).job_id, 40)

    assert done.status is JobStatus.SUCCEEDED
    assert after.status is JobStatus.SUCCEEDED
    assert len(site.attempts(job)) == 1
    assert engine.get(job.job_id) == done
    assert len(engine.list_for(None)) == 2


@pytest.mark.parametrize("kind", BROKERS, indirect=True)
def test_a_worker_that_is_asked_to_end_gives_its_job_to_another_uncounted(
    site: Installation,
) -> None:
    site.settings["shutdown_grace_s"] = 0.5
    engine = site.open_engine()
    first, second = site.add_workers(2)
    job = engine.submit(site.request(LONG, WORK))
    site.wait_for_attempt(job)
    _, carrier = site.attempts(job)[0]
    leaving = first if first.process.pid == carrier else second

    leaving.end()
    done = engine.wait(job.job_id, 30 * PATIENCE)

    assert leaving.process.returncode == 0
    assert (done.status, done.attempt) == (JobStatus.SUCCEEDED, 1)
    assert len(site.attempts(job)) == 2


@pytest.mark.parametrize("kind", BROKERS, indirect=True)
def test_a_worker_ends_after_its_number_of_jobs(site: Installation) -> None:
    engine = site.open_engine()
    (short_lived,) = site.add_workers(1, "--max-jobs", "1")
    first = engine.submit(site.request())
    second = engine.submit(site.request())

    assert engine.wait(first.job_id, 30 * PATIENCE).status is JobStatus.SUCCEEDED
    assert short_lived.process.wait(20) == 0
    assert engine.get(second.job_id).status is JobStatus.QUEUED
    site.add_workers(1)
    assert engine.wait(second.job_id, 30 * PATIENCE).status is JobStatus.SUCCEEDED
