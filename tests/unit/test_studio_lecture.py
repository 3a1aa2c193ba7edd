import json

import pytest

from engine.contracts import Artifact, JobRecord, JobSpec, JobStatus, utc_now
from engine.errors import ErrorCode, InputError
from engine.lecture.options import LectureOptions, LectureSection, LectureSpec
from engine.lecture.script import parse_script
from studio.lecture_form import LectureForm, read_rows, script_json
from studio.locales import LOCALES, say, speaking
from studio.parts.lecture_card import contents_html, lecture_panel_html
from studio.parts.library_list import library_html
from studio.presenter import present
from studio.used_settings import settings_rows

HOSTILE = "<img src=x onerror=alert(1)>"


def form(**changes) -> LectureForm:
    rows = json.dumps([{"heading": "One", "text": "Hello."}, {"heading": "", "text": "[pause 3]"}])
    values = {
        "portrait": "me.jpg", "face": -1, "slides": ("my_slides.pdf",), "rows": rows,
        "recordings": (), "times": "", "language": "en", "voice": "", "speed": 1.0,
        "layout": "corner", "corner": "br", "shape": "round", "background": "plain",
        "backdrop": None, "colour": "#000000", "aspect": "16:9", "size": 720,
        "transition": "cut", "captions": "srt", "pause": 0.6, "title": "", "subtitle": "",
        "music": None, "volume": 0.3, "clips": False, "consent": True,
    }  # fmt: skip
    return LectureForm(**{**values, **changes})


def record(**changes) -> JobRecord:
    section = LectureSection(heading=HOSTILE, text="Hello.", slide_name="slide-0001.png")
    lecture = LectureSpec(sections=(section,), options=LectureOptions(layout="off"), scope="s")
    job_id = "a" * 32
    values = {
        "job_id": job_id, "owner": "o", "title": "Light", "status": JobStatus.SUCCEEDED,
        "spec": JobSpec(job_id=job_id, kind="lecture", portrait_name="", lecture=lecture),
        "created_at": utc_now(),
        "artifacts": (
            Artifact(kind="video", name="video.mp4", size_bytes=1),
            Artifact(kind="contents", name="contents.txt", size_bytes=1),
            Artifact(kind="clips", name="clips.zip", size_bytes=1),
        ),
        "report": {"animator": "none", "sections": [{"start_s": 65.0, "heading": HOSTILE}]},
    }  # fmt: skip
    return JobRecord(**{**values, **changes})


def test_the_cards_become_a_script_with_one_part_for_each_slide():
    request = form().request("fr")

    sections = parse_script(request.script or "")
    assert [(part.heading, part.text, part.silence_s) for part in sections] == [
        ("One", "Hello.", None),
        ("Diapositive 2", "", 3.0),
    ]
    assert request.title == "my slides"
    assert request.label_language == "fr"


def test_a_line_that_looks_like_a_heading_begins_no_slide():
    rows = json.dumps([{"heading": "One", "text": "# First\nSecond\n## Third"}])

    sections = parse_script(form(rows=rows).request().script or "")

    assert [part.text for part in sections] == ["First\nSecond\nThird"]


def test_recordings_take_the_words_only_when_all_are_known():
    some = json.dumps([{"heading": "One", "text": "Hello."}, {"heading": "Two", "text": ""}])

    assert form(recordings=("a.wav", "b.wav"), rows=some).request().script is None
    assert form(recordings=("a.wav", "b.wav")).request().script is not None
    assert form(recordings=("a.wav",), times="0\n4").request().times == "0\n4"
    assert form(times="0\n4").request().times is None


def test_what_does_not_belong_to_the_choice_is_left_out():
    request = form(layout="off", backdrop="sky.jpg").request()

    assert request.portrait is None
    assert request.backdrop is None
    assert form(background="picture", backdrop="sky.jpg").request().backdrop == "sky.jpg"


def test_a_choice_nobody_offers_is_refused_by_name():
    with pytest.raises(InputError) as caught:
        form(size=4000).request()

    assert caught.value.code is ErrorCode.BAD_OPTION
    assert caught.value.values["option"] == "size px"


@pytest.mark.parametrize("text", ["", "{", "3", '{"a": 1}', "[3, null]"])
def test_nonsense_from_a_browser_is_no_script(text):
    assert read_rows(text) == []


def test_a_script_file_fills_the_cards():
    rows = json.loads(script_json(parse_script("# A\nHello\n# B\n[pause 2.5]")))

    assert rows == [{"heading": "A", "text": "Hello"}, {"heading": "B", "text": "[pause 2.5]"}]


def test_a_finished_lecture_shows_its_contents_and_offers_its_files():
    html = lecture_panel_html(record(), "", None)

    assert "1:05" in html
    assert HOSTILE not in html
    for kind in ("video", "contents", "clips"):
        assert f"/artifacts/{'a' * 32}/{kind}?download=1" in html
    assert html.index("lecture-contents") < html.index("</section>"), "outside the card"
    assert contents_html(record(report={})) == ""


@pytest.mark.parametrize("tag", list(LOCALES))
def test_the_library_shows_a_lecture_in_every_language(tag):
    with speaking(tag):
        job = record()
        html = library_html([(present(job), settings_rows(job))], has_more=False)

        assert 'data-action="again"' not in html
        assert say("job.clips") in html
        assert HOSTILE not in html
