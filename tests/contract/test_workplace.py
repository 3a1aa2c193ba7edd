"""What a worker makes of a message, by what lies in the storage; no broker is needed for that."""

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.contracts import JobSpec, JobStatus, Progress, Stage
from engine.errors import Canceled, ErrorCode, WorkerLost
from engine.jobs.orders import Lease, Order, OrderDesk, Outcome
from engine.jobs.workplace import Delivery, End, Workplace
from engine.shared_storage import SharedStorage
from engine.storage import JobFolders
from engine.worker.attend import TaskLimits, TaskMemory, TaskResult
from engine.worker.supervisor import ChildState

JOB = "a" * 32
TICKET = "0123456789abcdef"
MEMORY = TaskMemory(pid=1, rss_before_mb=1, rss_peak_mb=2, rss_after_mb=1)


class Renderer:
    """An executor that does what a test says, one act for each task."""

    state, pid, is_stuck = ChildState.READY, None, False

    def __init__(self, *acts: Callable[[Path, Callable[[], bool]], None]) -> None:
        self.acts = list(acts)
        self.tasks = 0

    def run(
        self,
        kind: str,
        payload: dict[str, Any],
        limits: TaskLimits,
        on_progress: Callable[[Progress], None],
        is_canceled: Callable[[], bool],
        on_memory: Callable[[TaskMemory], None],
    ) -> TaskResult:
        folder = Path(payload["job_dir"])
        self.tasks += 1
        on_progress(Progress(stage=Stage.ANIMATE, percent=1.0))
        self.acts.pop(0)(folder, is_canceled)
        on_memory(MEMORY)
        artifact = {"kind": "video", "name": "video.mp4", "size_bytes": 5}
        return TaskResult({"report": {"n": self.tasks}, "artifacts": [artifact]}, MEMORY)

    def remember(self, job_id: str) -> None: ...

    def unload(self) -> None: ...

    def close(self) -> None: ...


def make(folder: Path, _is_canceled: Callable[[], bool]) -> None:
    (folder / "video.mp4").write_bytes(b"video")


def lose(_folder: Path, _is_canceled: Callable[[], bool]) -> None:
    raise WorkerLost


def wait_for_cancel(_folder: Path, is_canceled: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not is_canceled():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    raise Canceled


@pytest.fixture
def desk(tmp_path: Path) -> OrderDesk:
    return OrderDesk(SharedStorage(str(tmp_path / "shared")))


@pytest.fixture
def host(tmp_path: Path) -> JobFolders:
    folders = JobFolders(tmp_path / "host")
    (folders.create(JOB) / "portrait.png").write_bytes(b"picture")
    return folders


def place(desk: OrderDesk, host: JobFolders, **changes: Any) -> Order:
    spec = JobSpec(job_id=JOB, portrait_name="portrait.png")
    order = Order(ticket=TICKET, spec=spec, **changes)
    desk.place(order, host)
    return order


class Site:
    """A workplace with what it told."""

    def __init__(self, tmp_path: Path, desk: OrderDesk, *acts: Any, labels: bool = True) -> None:
        self.renderer = Renderer(*acts)
        self.stop = threading.Event()
        self.told: list[Mapping[str, Any]] = []
        self.folders = JobFolders(tmp_path / "worker")
        self.place = Workplace("w", desk, self.folders, self.renderer, self.stop, labels=labels)

    def do(self, ticket: str = TICKET) -> End:
        return self.place.do(Delivery(JOB, ticket), self.told.append)

    def words(self) -> list[str]:
        return [facts["what"] for facts in self.told]


def outcome(desk: OrderDesk) -> Outcome:
    found = desk.outcome(JOB, TICKET)
    assert found is not None
    return found


def test_a_success_leaves_the_files_first_and_nothing_with_the_worker(
    tmp_path: Path, desk: OrderDesk, host: JobFolders
) -> None:
    place(desk, host)
    site = Site(tmp_path, desk, make)

    assert site.do() is End.DONE

    found = outcome(desk)
    desk.collect(JOB, TICKET, found, host.path(JOB))
    assert (found.status, found.attempt) == (JobStatus.SUCCEEDED, 1)
    assert found.memory is not None
    assert (host.path(JOB) / "video.mp4").read_bytes() == b"video"
    assert site.words() == ["started", "progress", "ended"]
    assert not site.folders.path(JOB).exists()


@pytest.mark.parametrize("ticket", ["fedcba9876543210", TICKET])
def test_a_message_for_another_ticket_or_a_job_that_is_gone_is_void(
    tmp_path: Path, desk: OrderDesk, host: JobFolders, ticket: str
) -> None:
    place(desk, host)
    if ticket == TICKET:
        desk.remove(JOB)
    site = Site(tmp_path, desk)

    assert site.do(ticket) is End.DONE
    assert site.told == []
    assert site.renderer.tasks == 0


def test_a_message_after_the_end_only_tells_the_end_again(
    tmp_path: Path, desk: OrderDesk, host: JobFolders
) -> None:
    place(desk, host)
    Site(tmp_path, desk, make).do()
    before = outcome(desk)
    site = Site(tmp_path, desk)

    assert site.do() is End.DONE
    assert site.words() == ["ended"]
    assert outcome(desk) == before


def test_a_living_lease_keeps_others_away_and_a_dead_one_does_not(
    tmp_path: Path, desk: OrderDesk, host: JobFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.jobs.workplace.WATCH_S", 1.2)
    order = place(desk, host)
    attempt_id = desk.begin(order)
    alive = threading.Event()

    def beat() -> None:
        number = 0
        while not alive.wait(0.2):
            number += 1
            desk.hold(order, Lease(holder=attempt_id, beat=number))

    thread = threading.Thread(target=beat)
    thread.start()
    rival = Site(tmp_path, desk, make)
    while_alive = rival.do()
    alive.set()
    thread.join()
    after_death = Site(tmp_path, desk, make)

    assert while_alive is End.DONE
    assert rival.renderer.tasks == 0
    assert after_death.do() is End.DONE
    assert outcome(desk).attempt == 2


def test_a_second_loss_ends_the_job_wherever_the_first_was(
    tmp_path: Path, desk: OrderDesk, host: JobFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.jobs.workplace.WATCH_S", 0.1)
    order = place(desk, host)
    desk.begin(order)  # by a worker that was killed
    site = Site(tmp_path, desk, lose)

    site.do()

    found = outcome(desk)
    assert found.error is not None
    assert (found.error.code, found.error.stage) == (ErrorCode.WORKER_LOST, Stage.ANIMATE)
    assert found.attempt == 2


def test_a_lost_child_is_tried_again_here(
    tmp_path: Path, desk: OrderDesk, host: JobFolders
) -> None:
    place(desk, host)
    site = Site(tmp_path, desk, lose, make)

    site.do()

    assert (outcome(desk).status, outcome(desk).attempt) == (JobStatus.SUCCEEDED, 2)
    assert site.place.counts.read().lost == 1


def test_a_job_called_off_stops_or_is_not_begun(
    tmp_path: Path, desk: OrderDesk, host: JobFolders
) -> None:
    place(desk, host)
    site = Site(tmp_path, desk, wait_for_cancel)
    threading.Timer(0.3, desk.call_off, [JOB, TICKET]).start()

    site.do()
    first = outcome(desk)
    place(desk, host)
    idle = Site(tmp_path, desk)
    idle.do()

    assert first.status is JobStatus.CANCELED
    assert idle.renderer.tasks == 0


def test_a_worker_that_lost_its_lease_stops_and_writes_nothing(
    tmp_path: Path, desk: OrderDesk, host: JobFolders
) -> None:
    order = place(desk, host)
    site = Site(tmp_path, desk, wait_for_cancel)
    rival = Lease(holder="somebody", beat=7)
    threading.Timer(0.3, desk.hold, [order, rival]).start()

    assert site.do() is End.DONE
    assert desk.outcome(JOB, TICKET) is None
    assert desk.lease(order) == rival


def test_a_worker_that_ends_puts_the_job_back_uncounted(
    tmp_path: Path, desk: OrderDesk, host: JobFolders
) -> None:
    order = place(desk, host)
    site = Site(tmp_path, desk, wait_for_cancel)
    threading.Timer(0.3, site.stop.set).start()

    assert site.do() is End.PUT_BACK
    assert desk.num_attempts(JOB, TICKET) == 0
    assert desk.lease(order) is None
    assert site.words()[-1] == "put_back"


def test_a_worker_without_labels_refuses_the_jobs_of_a_public_host(
    tmp_path: Path, desk: OrderDesk, host: JobFolders
) -> None:
    place(desk, host, is_public=True)
    site = Site(tmp_path, desk, labels=False)

    site.do()

    assert outcome(desk).status is JobStatus.FAILED
    assert site.renderer.tasks == 0


def test_a_worker_whose_children_keep_dying_says_so(
    tmp_path: Path, desk: OrderDesk, host: JobFolders
) -> None:
    site = Site(tmp_path, desk, *[lose] * 6)
    for _ in range(3):
        desk.remove(JOB)
        place(desk, host)
        assert not site.place.is_broken
        site.do()

    assert site.place.is_broken
