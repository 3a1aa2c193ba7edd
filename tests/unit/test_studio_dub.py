import json

import pytest

from engine.contracts import (
    Artifact,
    BatchPart,
    BatchRecord,
    BatchRow,
    JobError,
    JobRecord,
    JobSpec,
    JobStatus,
    Progress,
    Stage,
    utc_now,
)
from engine.errors import ErrorCode, InputError
from studio.dub_form import (
    DubForm,
    drafts_wanted,
    read_rows,
    table_json,
    voices_json,
)
from studio.locales import speaking
from studio.parts.batch_card import batches_html
from tests.studio_fakes import VOICES

HOSTILE = "<img src=x onerror=alert(1)>"


def job(status: JobStatus, **fields) -> JobRecord:
    job_id = "b" * 32
    files = (Artifact(kind="video", name="video.mp4", size_bytes=1),)
    is_ready = status is JobStatus.SUCCEEDED
    return JobRecord(
        job_id=job_id,
        owner="o",
        status=status,
        spec=JobSpec(job_id=job_id, portrait_name="portrait.png"),
        artifacts=files if is_ready else (),
        created_at=utc_now(),
        **fields,
    )


def part(number: int, **fields) -> BatchPart:
    return BatchPart(number=number, file_stem=f"v{number}", **{"name": "", **fields})


def batch(*parts: BatchPart, **fields) -> BatchRecord:
    return BatchRecord(
        batch_id="c" * 32, owner="o", title=HOSTILE, created_at=utc_now(), parts=parts, **fields
    )


def test_the_table_of_the_browser_becomes_rows(tmp_path):
    recording = tmp_path / "hash" / "a.wav"
    recording.parent.mkdir()
    recording.write_bytes(b"sound")
    rows = [
        {"name": " a ", "language": "es", "voice": "", "text": "Hola", "audio": None, "speed": ""},
        {"text": "", "audio": {"path": str(recording), "name": "mine.wav"}, "speed": "1.2"},
    ]

    first, second = read_rows(json.dumps(rows), tmp_path)

    assert first == BatchRow(name="a", language="es", text="Hola")
    assert second == BatchRow(audio=str(recording), speed=1.2)


@pytest.mark.parametrize("path", ["/etc/passwd", "../../etc/passwd", "gone.wav"])
def test_a_row_reaches_no_file_but_an_upload(tmp_path, path):
    table = json.dumps([{"audio": {"path": path, "name": "/x/mine.wav"}}])

    (row,) = read_rows(table, tmp_path)

    assert row.audio == str(tmp_path / "gone" / "mine.wav")


@pytest.mark.parametrize(
    "table", ["{", "[1]", '[{"audio": {"path": "x"}}]', '[{"speed": "x"}]', "7"]
)
def test_a_forged_table_is_refused(tmp_path, table):
    with pytest.raises(InputError) as caught:
        read_rows(table, tmp_path)

    assert caught.value.code == ErrorCode.TABLE_UNREADABLE


def test_the_form_asks_for_what_was_chosen(tmp_path):
    form = DubForm("me.jpg", 1.0, '[{"text": "Hi"}]', "hd", "burn", consent=True)

    wanted = form.request(tmp_path)

    assert (wanted.options.preset, wanted.options.captions) == ("hd", "burn")
    assert (wanted.options.face_index, wanted.consent, wanted.title) == (1, True, "me")
    with pytest.raises(InputError):
        DubForm("me.jpg", 1.0, "[]", "hd", "sung", consent=True).request(tmp_path)


def test_rows_of_a_file_come_into_the_browser_without_its_paths():
    (row,) = json.loads(table_json([BatchRow(name="a", text="Hi", audio="/x.wav", speed=1.5)]))

    assert row == {"name": "a", "language": "", "voice": "", "text": "Hi", "speed": "1.5"}


def test_the_browser_knows_the_installed_voices_natural_ones_first():
    known = json.loads(voices_json(VOICES))

    assert known[0]["id"] == "hibari:heart"
    assert {voice["natural"] for voice in known[1:]} == {False}


def test_a_dub_in_the_making_tells_how_far_each_row_is():
    progress = Progress(stage=Stage.ANIMATE, percent=40.0, seconds_left=9)
    html = batches_html(
        [
            batch(
                part(1, language="es", job=job(JobStatus.SUCCEEDED)),
                part(2, name="b", seconds_left=12, job=job(JobStatus.RUNNING, progress=progress)),
                part(3, seconds_left=70, job=job(JobStatus.QUEUED, queue_position=1)),
                part(4, error=JobError(code=ErrorCode.ROW_EMPTY)),
                percent=35.2,
                seconds_left=70,
            )
        ]
    )

    assert "1 of 4 videos are ready so far." in html
    assert 'aria-valuenow="35"' in html
    assert "about 12 s left" in html
    assert "about 1 min 10 s left" in html
    assert "This row has neither a text nor a recording." in html
    assert 'data-action="dub-cancel"' in html
    assert 'data-action="dub-retry"' not in html
    assert '<span data-tag="es">Spanish</span>' in html
    assert f'href="/batches/{"c" * 32}/zip"' in html
    assert "<img" not in html


def test_an_ended_dub_offers_what_is_left_to_do():
    failed = job(JobStatus.FAILED, error=JobError(code=ErrorCode.TIMED_OUT))
    done = batch(part(1, job=job(JobStatus.SUCCEEDED)), part(2, job=failed), percent=100.0)
    html = batches_html([done, batch(part(1))])

    assert "1 of 2 videos are ready." in html
    assert 'data-action="dub-retry"' in html
    assert 'data-action="dub-delete"' in html
    assert "progressbar" not in html
    assert html.count('<details class="batch-earlier">') == 1
    assert "Deleted" in html


def test_a_dub_speaks_the_language_of_the_page():
    with speaking("fr"):
        html = batches_html([batch(part(1, job=job(JobStatus.SUCCEEDED)), percent=100.0)])

    assert "Tout télécharger (ZIP)" in html
    assert batches_html([]) == ""


def test_drafts_are_wanted_for_rows_that_say_nothing():
    rows = [
        {"language": "en", "text": "Good morning."},
        {"language": "es", "text": ""},
        {"language": "fr", "text": "Salut."},
        {"language": "de", "text": "", "audio": {"path": "x", "name": "x"}},
        {"language": "", "text": ""},
        {"language": "xx", "text": " "},
    ]
    table = json.dumps(rows)

    wanted = drafts_wanted(table)

    assert (wanted.text, wanted.source, wanted.targets) == ("Good morning.", "en", ("es", "xx"))
    assert drafts_wanted(json.dumps(rows[:1])) is None
    assert drafts_wanted("[]") is None
