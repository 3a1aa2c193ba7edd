from pathlib import Path

import pytest

from engine.contracts import (
    AnimateRequest,
    DiskReading,
    JobRecord,
    JobSpec,
    JobStatus,
    MemoryReading,
    RenderOptions,
    SpeechOptions,
    utc_now,
)
from studio.again import form_of, kept, lend
from studio.history import SPAN_S, GaugeHistory, Sample
from studio.locales import say, speaking
from studio.parts.library_list import library_html
from studio.parts.memory_history import history_html
from studio.parts.system_facts import Facts, check_html, facts_html
from studio.presenter import present
from studio.used_settings import settings_rows

HOSTILE = "<img src=x onerror=alert(1)>\"'"


def record(status: JobStatus = JobStatus.SUCCEEDED, **spec: object) -> JobRecord:
    job_id = "a" * 32
    return JobRecord(
        job_id=job_id,
        owner="o",
        title=HOSTILE,
        status=status,
        spec=JobSpec(**{"job_id": job_id, "portrait_name": "portrait.png", "seed": 7, **spec}),
        created_at=utc_now(),
    )


def shown(job: JobRecord) -> str:
    return library_html([(present(job), settings_rows(job))], has_more=False)


def reading(**values: object) -> MemoryReading:
    return MemoryReading(
        **{"kind": "ram", "device": "d", "total_mb": 8192, "used_mb": 4096, "ours_mb": 1024}
        | values
    )


def test_an_empty_library_leads_to_the_first_video():
    html = library_html([], has_more=False)

    assert say("library.empty") in html
    assert 'data-action="create"' in html


def test_titles_and_spoken_text_cannot_bring_their_own_html():
    html = shown(record(speech=SpeechOptions(text=HOSTILE)))

    assert "<img src=x" not in html
    assert html.count("&lt;img") >= 2


def test_only_an_ended_video_can_be_made_again():
    assert 'data-action="again"' in shown(record(JobStatus.FAILED))
    assert 'data-action="again"' not in shown(record(JobStatus.RUNNING))


def test_the_settings_are_told_in_the_words_of_the_form():
    options = RenderOptions(preset="hd", framing="bust", aspect="9:16", dynamic_scale=1.3)

    rows = dict(settings_rows(record(options=options)))

    assert rows[say("quality.label")] == "HD"
    assert rows[say("more.size")] == "1024 px"
    assert rows[say("photo.framing")] == say("photo.framing_bust")
    assert rows[say("photo.aspect")] == say("photo.aspect_tall")
    assert rows[say("more.mouth")] == "1.3"
    assert rows[say("more.seed")] == "7"


def test_a_filled_form_asks_for_the_same_video_but_not_without_consent():
    options = RenderOptions(preset="hd", framing="face", face_index=1, smoothing=0.5, fps=50)
    speech = SpeechOptions(text="Hello there", language="en", voice="hibari:heart", speed=1.2)
    form = form_of(record(options=options, speech=speech), Path("p.png"), None)

    request = form.request()

    assert not request.consent
    assert request.speech == speech
    assert request.options == options.model_copy(update={"seed": 7})


def test_a_filled_form_of_a_recording_brings_the_recording():
    form = form_of(record(audio_name="audio.wav"), Path("p.png"), Path("a.wav"))

    assert form.request() == AnimateRequest(
        portrait="p.png", audio="a.wav", options=RenderOptions(seed=7), title="a"
    )


def test_a_value_the_page_does_not_offer_becomes_the_default():
    assert kept(512, (0, 512), 0) == 512
    assert kept(300, (0, 512), 0) == 0


def test_a_lent_file_is_a_copy_with_a_harmless_name(tmp_path):
    original = tmp_path / "audio.wav"
    original.write_bytes(b"sound")

    copy = lend(original, tmp_path / "uploads", "../../My talk: <1>")

    assert copy.read_bytes() == b"sound"
    assert copy.parent.parent == tmp_path / "uploads"
    assert copy.name == "My_talk___1.wav"


def test_the_history_keeps_an_hour():
    now = [0.0]
    history = GaugeHistory(lambda: reading(used_mb=now[0]), clock=lambda: now[0])
    for now[0] in range(0, 2 * int(SPAN_S), 10):
        history.take()

    samples = history.samples()

    assert samples[0] == Sample(SPAN_S, now[0] - SPAN_S, 1024)
    assert samples[-1] == Sample(0, now[0], 1024)
    assert len(samples) == 361


def test_the_history_is_measured_while_it_is_entered_and_survives_a_fault(caplog):
    answers = iter([OSError("no driver"), *[reading()] * 10_000])

    def read() -> MemoryReading:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    history = GaugeHistory(read, interval_s=0.01)
    with history:
        while len(history.samples()) < 2:
            history._stopped.wait(0.01)

    assert not history._thread.is_alive()
    assert "the memory could not be read" in caplog.text


def test_the_curve_says_the_same_in_words():
    samples = [Sample(3600, 6144, 512), Sample(0, 4096, 1024)]

    html = history_html(reading(), samples)

    assert "Memory: 4.0 GB in use, at most 6.0 GB in the last hour, of 8.0 GB." in html
    assert "The studio holds 1.0 GB, at most 1.0 GB." in html
    assert 'points="0.0,120 0.0,30.0 600.0,60.0 600.0,120"' in html


def test_a_memory_that_is_unknown_is_not_drawn():
    html = history_html(reading(total_mb=None), [])

    assert "unknown" in html
    assert "<svg" not in html


def facts(**changes: object) -> Facts:
    disk = DiskReading(total_gb=500, free_gb=90, ours_gb=1.5, limit_gb=50, is_low=False)
    given: dict[str, object] = {
        **{"running": 0, "waiting": 0, "worker": "busy", "is_dispatching": True},
        **{"rates": [], "measured_from_s": 5.0, "disk": disk},
    }
    return Facts(**{**given, **changes})


@pytest.mark.parametrize("worker", ["starting", "ready", "busy", "dead"])
def test_every_state_of_the_worker_has_words(worker):
    html = facts_html(facts(worker=worker))

    assert say(f"system.worker_{worker}") in html
    assert say("system.queue_empty") in html
    assert say("system.speed_none", seconds=5) in html


def test_queue_and_speed_are_told():
    html = facts_html(
        facts(running=1, waiting=3, is_dispatching=False, rates=[("lite", 512, 0.84)])
    )

    assert "Being made: 1. Waiting: 3." in html
    assert say("system.elsewhere") in html
    assert "lite, 512 pixels: 0.8 s of work for one second of video." in html


def test_a_disk_that_gets_full_is_told_with_what_to_do():
    low = DiskReading(total_gb=500, free_gb=9, ours_gb=1.5, limit_gb=50, is_low=True)

    assert say("system.disk_low") in facts_html(facts(disk=low))
    assert say("system.disk_low") not in facts_html(facts())
    assert "The studio uses 1.5 GB; it may use 50.0 GB." in facts_html(facts())


def test_the_check_names_its_rows_in_the_language_and_leaves_details_in_english():
    rows = [
        {"name": "Disk", "ok": False, "needed": True, "detail": "full <now>"},
        {"name": "Graphics card", "ok": False, "needed": False, "detail": "none"},
        {"name": "Something new", "ok": True, "needed": True, "detail": "fine"},
    ]
    with speaking("es"):
        html = check_html({"ok": False, "checks": rows})

    assert '<li class="bad"><b>Disco</b><span class="pill">Necesita atención</span>' in html
    assert '<span lang="en" dir="ltr">full &lt;now&gt;</span>' in html
    assert '<li class="optional"><b>Tarjeta gráfica</b>' in html
    assert "Something new" in html
