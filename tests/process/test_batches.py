"""Several videos of one portrait, asked for together: every row is a job of the fair queue."""

import codecs
import csv
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from polling import wait_until

from engine.api import StudioEngine
from engine.contracts import AnimateRequest, BatchRecord, BatchRequest, BatchRow, JobStatus
from engine.errors import EngineError, ErrorCode
from studio.batch_archive import table_words
from studio.locales import speaking

WORK = {"kind": "sleep", "seconds": 0}
LONG = {"kind": "sleep", "seconds": 60}
FAIL = {"kind": "refuse", "code": "sentence_failed"}

MakeEngine = Callable[..., StudioEngine]
Requests = Callable[..., AnimateRequest]


@pytest.fixture
def row(tmp_path: Path) -> Callable[..., BatchRow]:
    """Make a row whose render does one step per attempt."""

    def make(language: str, *steps: dict[str, Any], content: str | None = None) -> BatchRow:
        audio = tmp_path / f"row-{language}.wav"
        audio.write_text(content or json.dumps(steps or [WORK]), "utf-8")
        return BatchRow(name="Welcome", language=language, audio=str(audio))

    return make


@pytest.fixture
def batch_of(tmp_path: Path) -> Callable[..., BatchRequest]:
    def make(*rows: BatchRow, **fields: Any) -> BatchRequest:
        portrait = tmp_path / "me.png"
        portrait.write_bytes(b"picture")
        return BatchRequest(**{"portrait": str(portrait), "rows": rows, "consent": True, **fields})

    return make


def ended(engine: StudioEngine, batch: BatchRecord) -> BatchRecord:
    return engine.batches.wait(batch.batch_id, lambda _: None)


def states(batch: BatchRecord) -> list[str]:
    return ["refused" if part.job is None else part.job.status.value for part in batch.parts]


def code_of(call: Callable[[], object]) -> ErrorCode:
    with pytest.raises(EngineError) as caught:
        call()
    return caught.value.code


def running_row(engine: StudioEngine, batch: BatchRecord) -> int | None:
    now = states(engine.batches.get(batch.batch_id))
    return now.index("running") if "running" in now else None


def test_every_row_becomes_a_video_and_one_that_cannot_does_not_stop_the_rest(
    engine, row, batch_of
):
    request = batch_of(
        row("en"), row("de", content="no face"), row("fr", FAIL), BatchRow(name="x"), row("es")
    )

    batch = ended(engine, engine.batches.submit(request))

    assert states(batch) == ["succeeded", "refused", "failed", "refused", "succeeded"]
    faults = [part.fault and part.fault.code for part in batch.parts]
    assert faults == [None, "no_face", "sentence_failed", "row_empty", None]
    assert [part.file_stem for part in batch.parts][:3] == [
        "Welcome-en",
        "Welcome-de",
        "Welcome-fr",
    ]
    assert (batch.percent, batch.seconds_left, batch.num_ready) == (100, None, 2)
    folders = {folder.name for folder in engine.settings.jobs_dir.iterdir()}
    assert folders == {part.job.job_id for part in batch.parts if part.job is not None}


def test_a_portrait_that_cannot_be_used_queues_nothing(engine, row, batch_of):
    assert code_of(lambda: engine.batches.submit(batch_of(row("en"), portrait="no.png"))) == (
        ErrorCode.FILE_NOT_FOUND
    )
    assert code_of(lambda: engine.batches.submit(batch_of(row("en"), consent=False))) == (
        ErrorCode.CONSENT_MISSING
    )
    assert code_of(lambda: engine.batches.submit(batch_of())) == ErrorCode.TABLE_EMPTY
    assert engine.list_for(None) == engine.batches.list_for(None) == []
    assert list(engine.settings.jobs_dir.iterdir()) == []


def test_the_failed_rows_are_tried_again_and_the_others_left_alone(engine, row, batch_of):
    request = batch_of(row("en"), row("de", FAIL, WORK))
    first = ended(engine, engine.batches.submit(request))
    made = first.parts[0].job

    second = ended(engine, engine.batches.retry(first.batch_id))

    assert states(second) == ["succeeded", "succeeded"]
    assert second.parts[0].job == made


def test_a_batch_is_canceled_as_a_whole_and_what_is_ready_stays(engine, row, batch_of):
    batch = engine.batches.submit(batch_of(row("en"), row("de", LONG), row("fr"), row("es")))
    wait_until(lambda: running_row(engine, batch) == 1)
    live = engine.batches.get(batch.batch_id)
    assert live.percent < 100
    assert live.seconds_left is not None
    assert live.seconds_left >= max(part.seconds_left or 0 for part in live.parts)

    engine.batches.cancel(batch.batch_id)

    assert states(ended(engine, batch)) == ["succeeded", "canceled", "canceled", "canceled"]


def test_another_person_gets_a_turn_between_the_rows(engine, row, batch_of, request_for):
    batch = engine.batches.submit(batch_of(row("en", LONG), row("de"), row("fr")), "ann")
    wait_until(lambda: running_row(engine, batch) == 0)

    other = engine.submit(request_for(WORK), "bob")

    assert engine.get(other.job_id).queue_position == 1
    positions = [part.job.queue_position for part in engine.batches.get(batch.batch_id).parts]
    assert positions == [None, 2, 3]


def test_a_batch_counts_as_one_for_the_waiting_limit_and_as_many_for_the_day(
    make_engine, row, batch_of
):
    engine = make_engine(max_waiting_per_owner=2, max_jobs_per_day=5, max_submits_per_minute=3)
    three = batch_of(row("en", LONG), row("de", LONG), row("fr", LONG))

    engine.batches.submit(three, "ann")

    assert code_of(lambda: engine.batches.submit(three, "ann")) == ErrorCode.DAILY_LIMIT
    assert engine.batches.submit(batch_of(row("en"), row("de")), "ann").parts
    assert code_of(lambda: engine.batches.submit(batch_of(row("en")), "ann")) == (
        ErrorCode.TOO_MANY_WAITING
    )


def test_a_batch_that_does_not_fit_into_the_queue_is_refused_as_a_whole(make_engine, row, batch_of):
    engine = make_engine(max_queued_jobs=3, max_batch_rows=4)
    rows = [row(tag, LONG) for tag in ("en", "de", "fr", "es", "it")]

    assert code_of(lambda: engine.batches.submit(batch_of(*rows[:4]))) == ErrorCode.QUEUE_FULL
    assert code_of(lambda: engine.batches.submit(batch_of(*rows))) == ErrorCode.TABLE_TOO_LONG
    assert engine.list_for(None) == []
    assert list(engine.settings.jobs_dir.iterdir()) == []


def test_the_same_key_gives_the_same_batch(engine, row, batch_of):
    first = engine.batches.submit(batch_of(row("en")), "ann", "key")
    again = engine.batches.submit(batch_of(row("en"), row("de")), "ann", "key")

    assert again.batch_id == first.batch_id
    assert engine.batches.submit(batch_of(row("en")), "bob", "key").batch_id != first.batch_id


def test_a_batch_is_its_owners_alone(engine, row, batch_of):
    batch = ended(engine, engine.batches.submit(batch_of(row("en")), "ann"))

    for call in (engine.batches.get, engine.batches.cancel, engine.batches.archive):
        assert code_of(lambda call=call: call(batch.batch_id, "bob")) == ErrorCode.JOB_NOT_FOUND
    assert engine.batches.list_for("bob") == []
    assert [listed.batch_id for listed in engine.batches.list_for("ann")] == [batch.batch_id]


def test_a_batch_goes_on_after_a_restart(make_engine, row, batch_of):
    engine = make_engine()
    batch = engine.batches.submit(batch_of(row("en"), row("de", LONG, WORK), row("fr")))
    wait_until(lambda: running_row(engine, batch) == 1)
    engine.close()

    again = make_engine()

    assert states(ended(again, batch)) == ["succeeded", "succeeded", "succeeded"]


def test_the_zip_holds_what_is_ready_and_tells_what_is_not(engine, row, batch_of):
    rows = [row("en"), row("de", FAIL), row("fr")]
    batch = ended(engine, engine.batches.submit(batch_of(*rows)))

    path = engine.batches.archive(batch.batch_id)

    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["Welcome-en.mp4", "Welcome-fr.mp4", "contents.csv"]
        assert archive.read("Welcome-en.mp4") == b"half"
        lines = archive.read("contents.csv").decode("utf-8-sig").splitlines()
    assert lines[1] == "Welcome,en,ready,Welcome-en.mp4"
    assert lines[2].startswith('Welcome,de,"')
    assert engine.batches.archive(batch.batch_id) == path


def test_the_table_in_the_zip_is_in_the_language_of_whoever_fetches_it(engine, row, batch_of):
    batch = ended(engine, engine.batches.submit(batch_of(row("en"), row("de", FAIL))))
    with speaking("es"):
        path = engine.batches.archive(batch.batch_id, words=table_words())
    english = engine.batches.archive(batch.batch_id)

    with zipfile.ZipFile(path) as archive:
        table = archive.read("contents.csv")
    assert table.startswith(codecs.BOM_UTF8), "spreadsheets then read it as UTF-8"
    heads, ready, failed = csv.reader(io.StringIO(table.decode("utf-8-sig")))
    assert heads == ["Nombre", "Idioma", "Estado", "Archivos"]
    assert ready == ["Welcome", "en", "Listo", "Welcome-en.mp4"]
    assert failed[2].startswith("Esta frase no se pudo decir")
    assert english != path


def test_without_a_video_there_is_no_zip(engine, row, batch_of):
    batch = ended(engine, engine.batches.submit(batch_of(row("de", FAIL))))

    assert code_of(lambda: engine.batches.archive(batch.batch_id)) == ErrorCode.JOB_NOT_FOUND


def test_a_deleted_batch_leaves_nothing(engine, row, batch_of):
    batch = engine.batches.submit(batch_of(row("en", LONG), row("de")))
    wait_until(lambda: running_row(engine, batch) == 0)

    engine.batches.delete(batch.batch_id)

    assert engine.batches.list_for(None) == engine.list_for(None) == []
    wait_until(lambda: list(engine.settings.jobs_dir.iterdir()) == [])


def test_a_forgotten_person_has_no_batches(engine, row, batch_of):
    batch = ended(engine, engine.batches.submit(batch_of(row("en"), title="Secret plan"), "ann"))

    engine.forget("ann")

    assert code_of(lambda: engine.batches.get(batch.batch_id)) == ErrorCode.JOB_NOT_FOUND
    with sqlite3.connect(engine.settings.store_path) as store:
        assert store.execute("SELECT COUNT(*) FROM batch").fetchone() == (0,)


def test_a_deleted_video_leaves_its_row(engine, row, batch_of):
    batch = ended(engine, engine.batches.submit(batch_of(row("en"), row("de"))))

    engine.delete(batch.parts[0].job.job_id)

    left = engine.batches.get(batch.batch_id)
    assert left.parts[0].job is None
    assert left.parts[0].fault is None
    assert left.parts[1].job.status is JobStatus.SUCCEEDED
