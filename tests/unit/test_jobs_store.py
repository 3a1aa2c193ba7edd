"""The job store: order, claims, leases, cancel, delete, feeds, schema."""

import multiprocessing
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.contracts import Artifact, JobError, JobSpec, JobStatus, Progress, Stage
from engine.errors import EngineError, ErrorCode
from engine.jobs import statements
from engine.jobs.database import Database
from engine.jobs.rows import NewJob
from engine.jobs.store import JobStore
from tests.patience import PATIENCE

NUM_CLAIMERS = 6
NUM_JOBS = 400
ADDED_EACH = 20

AddJob = Callable[..., str]


def job_id_of(number: int) -> str:
    return f"{number:032x}"


@pytest.fixture
def store(tmp_path: Path) -> JobStore:
    return JobStore(tmp_path / "store.sqlite3")


@pytest.fixture
def add(store: JobStore) -> AddJob:
    """Add a job with a number for its id and return the id."""

    def add_job(number: int, **fields: object) -> str:
        spec = JobSpec(job_id=job_id_of(number), portrait_name="p.png", audio_name="a.wav")
        new = NewJob(**{"spec": spec, "owner": "ann", **fields})
        return store.add(new).job_id

    return add_job


def claim_all(path: Path, first: int, claimed: "multiprocessing.Queue[list[str]]") -> None:
    """What one claiming process does: add a few jobs, then claim what it can get."""
    store = JobStore(path)
    for number in range(first, first + ADDED_EACH):
        spec = JobSpec(job_id=job_id_of(number), portrait_name="p.png")
        store.add(NewJob(spec=spec, owner="ann", idempotency_key=str(number)))
    mine = []
    while (job := store.claim_next("token")) is not None:
        mine.append(job.job_id)
    claimed.put(mine)


def test_six_processes_claim_four_hundred_jobs_without_a_double(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    store = JobStore(path)
    for number in range(NUM_JOBS):
        spec = JobSpec(job_id=job_id_of(number), portrait_name="p.png")
        store.add(NewJob(spec=spec, owner="ann"))
    spawn = multiprocessing.get_context("spawn")
    claimed: multiprocessing.Queue[list[str]] = spawn.Queue()
    claimers = [
        spawn.Process(target=claim_all, args=(path, 1000 * (number + 1), claimed))
        for number in range(NUM_CLAIMERS)
    ]
    for claimer in claimers:
        claimer.start()

    lists = [claimed.get(timeout=60) for _ in claimers]
    for claimer in claimers:
        claimer.join(10)

    ids = [job_id for mine in lists for job_id in mine]
    assert [claimer.exitcode for claimer in claimers] == [0] * NUM_CLAIMERS
    assert len(ids) == NUM_JOBS + NUM_CLAIMERS * ADDED_EACH
    assert len(set(ids)) == len(ids)
    assert sum(bool(mine) for mine in lists) > 1


def open_store(path: Path, opened: "multiprocessing.Queue[bool]") -> None:
    JobStore(path)
    opened.put(True)


def test_processes_may_create_the_same_store_at_once(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    opened: multiprocessing.Queue[bool] = spawn.Queue()
    path = tmp_path / "store.sqlite3"
    openers = [spawn.Process(target=open_store, args=(path, opened)) for _ in range(4)]
    for opener in openers:
        opener.start()

    assert [opened.get(timeout=60) for _ in openers] == [True] * 4

    for opener in openers:
        opener.join(10)


def test_jobs_are_claimed_by_priority_then_in_order(store: JobStore, add: AddJob) -> None:
    first, second, urgent = add(1), add(2), add(3, priority=1)
    positions = [store.get(job_id) for job_id in (first, second, urgent)]
    assert [job.record.queue_position for job in positions if job] == [2, 3, 1]

    claimed = [store.claim_next("me") for _ in range(4)]

    assert [job and job.job_id for job in claimed] == [urgent, first, second, None]


def test_a_claimed_job_runs_its_next_attempt(store: JobStore, add: AddJob) -> None:
    add(1)

    job = store.claim_next("me")

    assert job is not None
    assert job.record.status is JobStatus.RUNNING
    assert (job.record.attempt, job.record.queue_position) == (1, None)
    assert job.record.started_at is not None


def test_progress_is_kept_and_the_lease_renewed(store: JobStore, add: AddJob) -> None:
    job_id = add(1)
    store.claim_next("me")
    progress = Progress(stage=Stage.ANIMATE, done=3, total=9, percent=40.0, seconds_left=7.5)

    assert store.renew(job_id, "me", progress)
    assert store.renew(job_id, "me")

    job = store.get(job_id)
    assert job is not None
    assert job.record.progress == progress


@pytest.mark.parametrize("call", ["renew", "finish_canceled"])
def test_nobody_writes_about_a_job_claimed_by_another(
    store: JobStore, add: AddJob, call: str
) -> None:
    job_id = add(1)
    store.claim_next("me")

    assert not getattr(store, call)(job_id, "someone else")

    assert not store.finish_succeeded(job_id, "someone else", {}, ())
    job = store.get(job_id)
    assert job is not None
    assert job.record.status is JobStatus.RUNNING


def test_a_result_is_kept_once(store: JobStore, add: AddJob) -> None:
    job_id = add(1)
    store.claim_next("me")
    artifact = Artifact(kind="video", name="video.mp4", size_bytes=9)

    assert store.finish_succeeded(job_id, "me", {"fps": "25/1"}, (artifact,))
    assert not store.finish_failed(job_id, "me", JobError(code=ErrorCode.INTERNAL))

    job = store.get(job_id)
    assert job is not None
    assert job.record.status is JobStatus.SUCCEEDED
    assert job.record.artifacts == (artifact,)
    assert job.record.report == {"fps": "25/1"}
    assert job.record.finished_at is not None


def test_a_job_canceled_in_its_last_moment_does_not_succeed(store: JobStore, add: AddJob) -> None:
    job_id = add(1)
    store.claim_next("me")

    store.request_cancel(job_id)

    assert not store.finish_succeeded(job_id, "me", {}, ())
    assert store.finish_canceled(job_id, "me")


def test_a_failure_keeps_code_values_and_stage(store: JobStore, add: AddJob) -> None:
    job_id = add(1)
    store.claim_next("me")
    error = JobError(code=ErrorCode.DISK_FULL, values={"need_mb": 5}, stage=Stage.ASSEMBLE)

    store.finish_failed(job_id, "me", error)

    job = store.get(job_id)
    assert job is not None
    assert job.record.error == error


def test_a_requeued_job_goes_first_and_keeps_its_attempts(store: JobStore, add: AddJob) -> None:
    lost, waiting = add(1), add(2)
    store.claim_next("me")

    store.requeue(lost)

    again, other = store.claim_next("me"), store.claim_next("me")
    assert again is not None
    assert other is not None
    assert (again.job_id, again.record.attempt) == (lost, 2)
    assert other.job_id == waiting


def test_an_uncounted_requeue_gives_the_attempt_back(store: JobStore, add: AddJob) -> None:
    job_id = add(1)
    store.claim_next("me")

    store.requeue(job_id, counted=False)

    again = store.claim_next("me")
    assert again is not None
    assert again.record.attempt == 1


def test_a_retried_job_goes_last_with_fresh_attempts(store: JobStore, add: AddJob) -> None:
    failed, waiting = add(1), add(2)
    store.claim_next("me")
    store.finish_failed(failed, "me", JobError(code=ErrorCode.WORKER_LOST))

    assert store.retry(failed)
    assert not store.retry(waiting)

    claimed = [store.claim_next("me"), store.claim_next("me")]
    assert [job and job.job_id for job in claimed] == [waiting, failed]
    assert claimed[1] is not None
    assert (claimed[1].record.attempt, claimed[1].record.error) == (1, None)


def test_a_key_is_known_per_owner_until_the_job_is_deleted(store: JobStore, add: AddJob) -> None:
    first = add(1, idempotency_key="k")

    assert add(2, idempotency_key="k") == first
    assert add(3, idempotency_key="k", owner="bob") == job_id_of(3)
    store.hide(first)
    assert add(4, idempotency_key="k") == job_id_of(4)


def test_a_hidden_job_is_invisible_and_not_run(store: JobStore, add: AddJob) -> None:
    hidden, other = add(1), add(2)

    store.hide(hidden)

    assert store.get(hidden) is None
    assert [record.job_id for record in store.list_jobs("ann", 9)] == [other]
    assert store.purge_hidden() == [hidden]
    assert store.all_ids() == {other}
    claimed = store.claim_next("me")
    assert claimed is not None
    assert claimed.job_id == other


def test_a_hidden_running_job_is_asked_to_stop_before_it_goes(store: JobStore, add: AddJob) -> None:
    job_id = add(1)
    store.claim_next("me")

    store.hide(job_id)

    assert store.is_cancel_requested(job_id)
    assert store.purge_hidden() == []
    assert store.finish_canceled(job_id, "me")
    assert store.purge_hidden() == [job_id]
    assert store.is_cancel_requested(job_id)


def test_lists_show_the_newest_first_and_only_the_owners(store: JobStore, add: AddJob) -> None:
    ids = [add(number) for number in range(3)]
    other = add(9, owner="bob")

    assert [job.job_id for job in store.list_jobs("ann", 2)] == [ids[2], ids[1]]
    assert [job.job_id for job in store.list_jobs(None, 9)] == [other, *reversed(ids)]


def test_a_feed_tells_each_change_once_in_order(store: JobStore, add: AddJob) -> None:
    first, second = add(1), add(2)
    cursor = store.events_since("ann", 0)[-1].cursor
    assert store.events_since("ann", cursor) == []

    store.claim_next("me")
    store.renew(first, "me", Progress(stage=Stage.PREPARE))
    store.hide(second)

    events = store.events_since("ann", cursor)
    assert [(event.job_id, event.record is None) for event in events] == [
        (first, False),
        (second, True),
    ]
    assert events[0].cursor < events[1].cursor
    assert store.events_since("ann", events[-1].cursor) == []
    assert store.events_since("bob", 0) == []


def test_rates_follow_what_was_measured_last(store: JobStore) -> None:
    store.add_rate("lite", 512, 1.0, weight=0.2)
    store.add_rate("lite", 512, 2.0, weight=0.3)
    store.add_rate("sonic", 512, 9.0, weight=0.5)

    assert store.rates() == {("lite", 512): pytest.approx(1.3), ("sonic", 512): 9.0}


def test_a_store_of_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 99")
    before = path.read_bytes()

    with pytest.raises(EngineError) as caught:
        JobStore(path)

    assert caught.value.code is ErrorCode.DATA_DIR_TOO_NEW
    assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone() == (99,)
    assert len(path.read_bytes()) == len(before)


def test_an_older_store_is_migrated_and_a_backup_kept(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    first = JobStore(path)
    spec = JobSpec(job_id=job_id_of(1), portrait_name="p.png")
    first.add(NewJob(spec=spec, owner="ann"))
    first.close()
    later = (*statements.MIGRATIONS, ("ALTER TABLE job ADD COLUMN colour TEXT",))

    database = Database(path, later)

    columns = {row["name"] for row in database.connection().execute("PRAGMA table_info(job)")}
    assert "colour" in columns
    backup = sqlite3.connect(tmp_path / f"store.sqlite3.v{len(statements.MIGRATIONS)}.bak")
    assert backup.execute("SELECT job_id FROM job").fetchall() == [(job_id_of(1),)]


@pytest.mark.parametrize("version", range(1, len(statements.MIGRATIONS)))
def test_a_store_of_every_schema_so_far_goes_on_with_its_jobs(tmp_path: Path, version: int) -> None:
    path = tmp_path / "store.sqlite3"
    old = Database(path, statements.MIGRATIONS[:version])
    spec = JobSpec(job_id=job_id_of(1), portrait_name="p.png")
    with old.transaction() as connection:
        connection.execute(
            "INSERT INTO job (job_id, owner, title, status, spec, sequence, created_at, revision) "
            "VALUES (?, 'ann', 'Old', 'queued', ?, 1, '2026-11-01T10:00:00+00:00', 1)",
            (spec.job_id, spec.model_dump_json()),
        )
    old.close()

    store = JobStore(path)
    newer = store.add(NewJob(spec=JobSpec(job_id=job_id_of(2), portrait_name="p.png"), owner="ann"))
    claimed = store.claim_next("me")

    assert claimed is not None
    assert (claimed.job_id, claimed.record.title) == (spec.job_id, "Old")
    assert [job.job_id for job in store.list_queued(9)] == [newer.job_id]
    assert (tmp_path / f"store.sqlite3.v{version}.bak").is_file()


def test_a_broken_migration_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    JobStore(path).close()
    broken = (*statements.MIGRATIONS, ("CREATE TABLE extra (x)", "NO SUCH STATEMENT"))

    with pytest.raises(sqlite3.OperationalError):
        Database(path, broken)

    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(statements.MIGRATIONS),)
    assert connection.execute("SELECT * FROM sqlite_master WHERE name = 'extra'").fetchall() == []


def test_claiming_reads_an_index_not_every_finished_job(store: JobStore, add: AddJob) -> None:
    with store._database.transaction() as connection:
        connection.executemany(
            "INSERT INTO job (job_id, owner, title, status, spec, sequence, created_at, revision)"
            " VALUES (?, 'ann', '', 'succeeded', '{}', ?, '2026-01-01T00:00:00+00:00', 0)",
            [(job_id_of(number), number) for number in range(10, 20010)],
        )
    add(1)
    start = time.perf_counter()

    assert store.claim_next("me") is not None

    assert time.perf_counter() - start < 0.1 * PATIENCE
