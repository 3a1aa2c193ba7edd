"""Who may submit how much, whose turn it is, and when the queue rests."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.contracts import JobSpec, JobStatus, Progress, RenderOptions, Stage, utc_now
from engine.dub.record import record_of
from engine.errors import EngineError, ErrorCode
from engine.jobs.batches import RowFacts, StoredBatch
from engine.jobs.fairness import LOCAL_OWNER, Usage, Wait, priority_of, refusal
from engine.jobs.pause import DeathWatch
from engine.jobs.rows import NewJob
from engine.jobs.store import JobStore
from engine.jobs.waiting import free_place, start_of_place_s, start_s
from engine.settings import EngineSettings

PRIVATE = EngineSettings()
PUBLIC = EngineSettings(public="accounts")
NOW = 1_000_000.0
RATES = {("lite", 512): 1.0}

AddJob = Callable[..., str]


def spec_with(number: int = 0, **options: object) -> JobSpec:
    chosen = RenderOptions(animator="lite", **options)
    return JobSpec(job_id=f"{number:032x}", portrait_name="p.png", options=chosen)


@pytest.fixture
def store(tmp_path: Path) -> JobStore:
    return JobStore(tmp_path / "store.sqlite3")


@pytest.fixture
def add(store: JobStore) -> AddJob:
    """Add one job of an owner and return its id."""
    numbers = iter(range(10_000))

    def add_job(owner: str, priority: int = 0, address: str | None = None) -> str:
        new = NewJob(
            spec=spec_with(next(numbers)),
            owner=owner,
            title="a title",
            duration_s=10.0,
            priority=priority,
            address=address,
        )
        return store.add(new).job_id

    return add_job


def claim(store: JobStore) -> tuple[str, str]:
    """Claim the next job and end it; its owner and id."""
    job = store.claim_next("me")
    assert job is not None
    store.finish_canceled(job.job_id, "me")
    return job.record.owner, job.job_id


# -- limits ----------------------------------------------------------------------------------


def refused(settings: EngineSettings, owner: str = "ann", **usage: object) -> EngineError | None:
    known = {"waiting_in_all": 0, "waiting": 0}
    wait = Wait(any_s=61.0, own_s=150.0)
    return refusal(owner, Usage(**{**known, **usage}), lambda: wait, settings, NOW)


@pytest.mark.parametrize(
    ("settings", "usage", "code", "values"),
    [
        (PRIVATE, {"waiting_in_all": 100}, "queue_full", {"count": 100, "minutes": 2}),
        (PUBLIC, {"waiting_in_all": 50}, "queue_full", {"count": 50, "minutes": 2}),
        (PRIVATE, {"waiting": 10}, "too_many_waiting", {"count": 10, "minutes": 3}),
        (PUBLIC, {"waiting": 2}, "too_many_waiting", {"count": 2, "minutes": 3}),
        (
            PRIVATE,
            {"submitted_at": tuple(NOW - 50 + i for i in range(10))},
            "submitted_too_fast",
            {"limit": 10, "seconds": 10},
        ),
        (
            PUBLIC,
            {"submitted_at": (NOW - 59.5, NOW - 30, NOW - 1)},
            "submitted_too_fast",
            {"limit": 3, "seconds": 1},
        ),
        (
            PUBLIC,
            {"submitted_at": tuple(NOW - 20 * 3600 + i for i in range(20))},
            "daily_limit",
            {"limit": 20, "hours": 4},
        ),
        (
            PUBLIC,
            {"submitted_nearby_at": tuple(NOW - 40 + i for i in range(15))},
            "submitted_too_fast",
            {"limit": 15, "seconds": 20},
        ),
    ],
)
def test_one_more_than_the_limit_is_refused_with_the_time_to_come_back(
    settings: EngineSettings, usage: dict[str, object], code: str, values: dict[str, int]
) -> None:
    why_not = refused(settings, **usage)

    assert why_not is not None
    assert (why_not.code, why_not.values) == (code, values)


def test_up_to_the_limit_everything_is_welcome() -> None:
    day = tuple(NOW - 80_000 + i * 1000 for i in range(19))

    assert refused(PRIVATE, waiting_in_all=99, waiting=9, submitted_at=day[:9]) is None
    assert refused(PUBLIC, waiting_in_all=49, waiting=1, submitted_at=day) is None
    assert refused(PUBLIC, submitted_nearby_at=tuple(NOW - 40 + i for i in range(14))) is None


def test_the_command_line_of_a_private_installation_is_only_held_by_the_queue() -> None:
    assert refused(PRIVATE, LOCAL_OWNER, waiting=99, submitted_at=(NOW,) * 99) is None
    assert refused(PUBLIC, LOCAL_OWNER, waiting=99) is not None


def test_strangers_get_other_defaults_but_not_other_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STUDIO_PUBLIC", "anonymous")
    monkeypatch.setenv("STUDIO_MAX_JOBS_PER_DAY", "7")

    settings = EngineSettings()

    assert settings.is_public
    assert (settings.max_audio_s, settings.max_audio_bytes) == (60.0, 50_000_000)
    assert (settings.max_waiting_per_owner, settings.max_jobs_per_day) == (2, 7)
    assert EngineSettings(public="no").max_audio_s == 7200.0


def test_a_stored_submission_counts_for_a_day_and_for_its_address(
    store: JobStore, add: AddJob
) -> None:
    add("ann", address="192.0.2.1")
    add("bob", address="192.0.2.1")
    add("eve")

    ann = store.usage("ann", "192.0.2.1")
    newcomer = store.usage("new", "192.0.2.1")

    assert (ann.waiting_in_all, ann.waiting, len(ann.submitted_at)) == (3, 1, 1)
    assert len(ann.submitted_nearby_at) == 2
    assert (newcomer.waiting, newcomer.submitted_at) == (0, ())
    assert len(newcomer.submitted_nearby_at) == 2


def test_a_refusal_queues_nothing_and_counts_as_no_submission(store: JobStore) -> None:
    new = NewJob(spec=spec_with(1), owner="ann")

    with pytest.raises(EngineError):
        store.add(new, lambda _usage: EngineError(ErrorCode.QUEUE_FULL))

    assert store.usage("ann", None) == Usage(waiting_in_all=0, waiting=0)


# -- turns -----------------------------------------------------------------------------------


def test_two_people_get_their_share_under_the_flood_of_one(store: JobStore, add: AddJob) -> None:
    for _ in range(100):
        add("flood")
    for _ in range(12):
        add("bob")

    owners = Counter(claim(store)[0] for _ in range(20))

    assert owners["bob"] >= 8
    assert owners["flood"] >= 8


def test_owners_take_turns_even_if_they_come_one_after_the_other(
    store: JobStore, add: AddJob
) -> None:
    for owner in ("ann", "ann", "ann", "bob"):
        add(owner)
    first = claim(store)[0]
    add("eve")

    rest = [claim(store)[0] for _ in range(4)]

    assert first == "ann"
    assert rest == ["eve", "bob", "ann", "ann"] or rest == ["bob", "eve", "ann", "ann"]


def test_positions_tell_the_order_in_which_jobs_are_claimed(store: JobStore, add: AddJob) -> None:
    ids = [add(owner) for owner in ("ann", "ann", "bob", "ann", "bob", "eve")]
    positions = {}
    for job_id in ids:
        job = store.get(job_id)
        assert job is not None
        positions[job.record.queue_position] = job_id

    claimed = [claim(store)[1] for _ in ids]

    assert claimed == [positions[number] for number in range(1, 7)]
    assert store.list_queued(9) == []


def test_small_jobs_go_first_in_their_round_only(store: JobStore, add: AddJob) -> None:
    long_one = add("ann")
    previews = [add("bob", priority=1) for _ in range(5)]

    claimed = [claim(store)[1] for _ in range(3)]

    assert claimed == [previews[0], long_one, previews[1]]


def test_the_own_preview_goes_before_the_own_long_video(store: JobStore, add: AddJob) -> None:
    add("ann")
    preview = add("ann", priority=1)

    assert claim(store)[1] == preview


def test_a_job_that_was_begun_goes_before_all_others(store: JobStore, add: AddJob) -> None:
    begun = add("ann")
    store.claim_next("me")
    add("bob", priority=1)
    add("ann")
    store.requeue(begun)

    assert claim(store)[1] == begun
    assert claim(store)[0] == "bob"


def test_what_is_small_counts_as_a_preview() -> None:
    assert priority_of(spec_with(preset="quick"), 5.0) == 1
    assert priority_of(spec_with(preset="quick"), 7.0) == 0
    assert priority_of(spec_with(preset="hd"), 5.0) == 0
    assert priority_of(spec_with(preset="quick"), None) == 0


# -- waiting ---------------------------------------------------------------------------------


def test_a_job_starts_when_what_is_ahead_is_done(store: JobStore, add: AddJob) -> None:
    for owner in ("ann", "bob", "ann"):
        add(owner)
    running = store.claim_next("me")
    assert running is not None
    store.renew(running.job_id, "me", Progress(stage=Stage.ANIMATE, percent=50.0, seconds_left=4.0))
    running = store.get(running.job_id)
    queue = store.list_queued(9)

    assert start_s(queue, running, RATES) == [4.0, 16.0]
    assert start_s(queue, None, RATES) == [0.0, 12.0]
    assert free_place(queue, running, RATES, "ann") == Wait(any_s=4.0, own_s=16.0)
    assert start_s(queue, running, {})[1] > 16.0
    assert [start_of_place_s(place, queue, running, RATES) for place in (1, 2)] == [4.0, 16.0]
    assert start_of_place_s(5, queue, running, RATES) == 4.0 + 4 * 12.0, "as long as those known"


def test_a_batch_far_back_in_the_queue_is_told_its_time(store: JobStore, add: AddJob) -> None:
    ids = [add("ann"), add("ann"), add("ann")]
    store.claim_next("me")
    jobs = {row: job for row, job_id in enumerate(ids) if (job := store.get(job_id)) is not None}
    rows = (RowFacts("a row", "en", None),) * 3
    batch = StoredBatch("id", "ann", "Batch", utc_now(), rows, jobs)
    running = store.get(ids[0])

    record = record_of(batch, store.list_queued(1), running, RATES)

    assert [part.seconds_left for part in record.parts] == [12.0, 24.0, 36.0]


# -- pause -----------------------------------------------------------------------------------


def test_the_queue_rests_after_five_deaths_in_ten_minutes_and_goes_on_by_itself() -> None:
    now = [0.0]
    deaths = DeathWatch(lambda: now[0])

    paused = []
    for at in (0.0, 100.0, 200.0, 300.0, 400.0):
        now[0] = at
        deaths.note_death()
        paused.append(deaths.paused_s())
    now[0] = 599.0
    almost = deaths.paused_s()
    now[0] = 600.0

    assert paused == [0.0, 0.0, 0.0, 0.0, 200.0]
    assert almost == pytest.approx(1.0)
    assert deaths.paused_s() == 0.0


def test_five_deaths_in_a_longer_time_are_no_reason_to_rest() -> None:
    now = [0.0]
    deaths = DeathWatch(lambda: now[0])
    for at in range(0, 2000, 200):
        now[0] = float(at)
        deaths.note_death()

    assert deaths.paused_s() == 0.0


def test_somebody_may_try_again_at_once() -> None:
    deaths = DeathWatch(lambda: 0.0)
    for _ in range(5):
        deaths.note_death()

    deaths.clear()

    assert deaths.paused_s() == 0.0


# -- forgetting ------------------------------------------------------------------------------


def test_nothing_of_a_forgotten_owner_is_left_in_the_file(
    store: JobStore, add: AddJob, tmp_path: Path
) -> None:
    add("ann-who-leaves", address="192.0.2.9")
    deleted = add("ann-who-leaves")
    running = store.claim_next("me")
    store.hide(deleted)
    kept = add("bob")
    assert running is not None

    store.forget("ann-who-leaves")
    store.finish_canceled(running.job_id, "me")
    gone = store.purge_hidden()

    assert len(gone) == 2
    assert store.list_jobs("ann-who-leaves", 9) == []
    assert store.events_since("ann-who-leaves", 0) == []
    assert store.usage("ann-who-leaves", None).submitted_at == ()
    job = store.get(kept)
    assert job is not None
    assert job.record.status is JobStatus.QUEUED
    store.forget("nobody")  # empties the log of what the purge left there
    store.close()
    for file in tmp_path.glob("store.sqlite3*"):
        assert b"ann-who-leaves" not in file.read_bytes(), file.name
