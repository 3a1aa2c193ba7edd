import pytest

from engine.errors import ErrorCode, InputError
from engine.lecture.contents import contents_text
from engine.lecture.options import LectureOptions
from engine.lecture.plan import Recording, Slide, Spoken, expected_duration_s, plan_sections
from engine.lecture.script import TEMPLATE, ScriptSection, parse_script, write_script
from engine.lecture.times import parse_times, spread_times
from engine.settings import EngineSettings

SLIDES = (Slide("a.png", "note one", "One"), Slide("b.png", "note two", "Two"))


def refused(function, *arguments) -> InputError:
    with pytest.raises(InputError) as caught:
        function(*arguments)
    return caught.value


def test_each_heading_of_the_first_level_begins_a_slide():
    found = parse_script("\ufeff# One\n\nHello.\n\n## not a slide\n\n#  Two words #\nBye.\n")

    assert found == (
        ScriptSection("One", "Hello.\n\n## not a slide"),
        ScriptSection("Two words", "Bye."),
    )


def test_marks_inside_code_and_comments_are_no_headings():
    found = parse_script("<!-- # no\n# no -->\n# One\n```\n# no\n```\n#hash stays\n")

    assert [section.heading for section in found] == ["One"]
    assert "#hash stays" in found[0].text


def test_a_slide_without_words_is_shown_for_a_while():
    assert parse_script("# End\n[pause 2.5]\n")[0] == ScriptSection("End", "", 2.5)


def test_the_template_and_what_is_written_can_be_read_back():
    found = parse_script(TEMPLATE)

    assert parse_script(write_script(found)) == found
    assert found[-1].silence_s == 4.0


def test_a_script_says_where_it_is_wrong():
    empty = refused(parse_script, "# One\nHello\n# Two\n\n# Three\nx")
    assert (empty.code, empty.values["number"]) == (ErrorCode.SCRIPT_SECTION_EMPTY, 2)
    before = refused(parse_script, "<!-- x\n -->\nHello\n# One\nx")
    assert (before.code, before.values["line"]) == (ErrorCode.SCRIPT_WITHOUT_HEADING, 3)
    assert refused(parse_script, "").code is ErrorCode.SCRIPT_WITHOUT_HEADING


def test_times_are_read_in_every_usual_way():
    found = parse_times("# mine\n0\n\n1:02.5 Lenses\n75,25\n1:00:00 The end\n")

    assert [time.start_s for time in found] == [0.0, 62.5, 75.25, 3600.0]
    assert [time.heading for time in found] == ["", "Lenses", "", "The end"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0\nsoon\n", ErrorCode.TIMES_UNREADABLE),
        ("0\n1:75\n", ErrorCode.TIMES_UNREADABLE),
        ("0\n5\n5.1\n", ErrorCode.TIMES_NOT_RISING),
    ],
)
def test_times_that_cannot_be_are_refused(text, code):
    assert refused(parse_times, text).code is code


def test_the_time_of_the_first_slide_may_be_left_out():
    spread = spread_times(parse_times("4\n8"), 3, 10.0)

    assert [time.start_s for time in spread] == [0.0, 4.0, 8.0]
    assert refused(spread_times, parse_times("4"), 3, 10.0).code is ErrorCode.TIMES_COUNT
    late = refused(spread_times, parse_times("4\n61"), 3, 60.0)
    assert (late.code, late.values["time"]) == (ErrorCode.TIMES_TOO_LATE, "1:01")


def test_notes_are_the_script_where_there_is_none():
    sections = plan_sections(SLIDES, Spoken(None), EngineSettings())

    assert [(part.heading, part.text) for part in sections] == [
        ("One", "note one"),
        ("Two", "note two"),
    ]


@pytest.mark.parametrize(
    ("language", "name"), [("en", "Slide 2"), ("zh-CN", "幻灯片 2"), ("xx", "Slide 2")]
)
def test_a_slide_without_a_title_is_called_by_its_number_in_the_language(language, name):
    slides = (Slide("a.png", "note one", "One"), Slide("b.png", "note two"))
    recordings = (Recording("0.wav", 2.0), Recording("1.wav", 3.0))

    for spoken in (Spoken(None), Spoken(None, recordings), Spoken("# One\na\n#\nb")):
        sections = plan_sections(slides, spoken, EngineSettings(), language)
        assert [part.heading for part in sections] == ["One", name]


def test_more_or_fewer_parts_than_slides_are_refused():
    many = refused(plan_sections, SLIDES, Spoken("# 1\na\n# 2\nb\n# 3\nc"), EngineSettings())
    assert (many.code, many.values) == (ErrorCode.SCRIPT_TOO_MANY, {"sections": 3, "slides": 2})
    few = refused(plan_sections, SLIDES, Spoken("# 1\na"), EngineSettings())
    assert few.code is ErrorCode.SCRIPT_TOO_FEW
    nothing = refused(plan_sections, (Slide("a.png"),), Spoken(None), EngineSettings())
    assert nothing.code is ErrorCode.SCRIPT_MISSING


def test_a_script_has_a_limit_for_each_slide_and_for_all():
    settings = EngineSettings(max_text_characters=10, max_script_characters=15)

    long = refused(plan_sections, SLIDES, Spoken("# 1\nab\n# 2\n" + "x" * 11), settings)
    assert (long.code, long.values["number"]) == (ErrorCode.SCRIPT_SECTION_LONG, 2)
    both = refused(plan_sections, SLIDES, Spoken("# 1\n" + "x" * 8 + "\n# 2\n" + "x" * 8), settings)
    assert both.code is ErrorCode.SCRIPT_TOO_LONG


def test_one_recording_is_cut_at_its_times():
    spoken = Spoken(None, (Recording("speech.wav", 20.0),), "0 Start\n7.5")

    first, second = plan_sections(SLIDES, spoken, EngineSettings())

    assert (first.heading, first.start_s, first.end_s) == ("Start", 0.0, 7.5)
    assert (second.heading, second.start_s, second.end_s) == ("Two", 7.5, None)
    without = refused(plan_sections, SLIDES, Spoken(None, spoken.recordings), EngineSettings())
    assert without.code is ErrorCode.RECORDINGS_COUNT


def test_a_recording_for_each_slide_keeps_its_words():
    recordings = (Recording("0.wav", 2.0), Recording("1.wav", 3.0))

    sections = plan_sections(SLIDES, Spoken("# A\nx\n# B\ny", recordings), EngineSettings())

    assert [(part.audio_name, part.text) for part in sections] == [("0.wav", "x"), ("1.wav", "y")]


def test_the_length_of_a_section_is_guessed():
    section = plan_sections(SLIDES[:1], Spoken("# A\n" + "x" * 160), EngineSettings())[0]

    assert expected_duration_s(section, LectureOptions(pause_s=1.0), 2.0) == pytest.approx(6.0)


def test_the_table_of_contents_has_hours_only_where_there_are_any():
    assert contents_text("T", [(0, 50, "A"), (50, 2500, "B")], 25) == "T\n\n0:00 A\n0:02 B\n"
    assert "1:00:00 B" in contents_text("", [(0, 90000, "A"), (90000, 90025, "B")], 25)
