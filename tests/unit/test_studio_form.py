import dataclasses

import pytest

from engine.contracts import RenderOptions, SpeechOptions
from engine.errors import ErrorCode, InputError
from studio.form import TITLE_CHARACTERS, FormValues, parse_caller_options, title_of
from studio.parts.preflight import question_of

EMPTY = FormValues(
    portrait=None,
    face=-1,
    points="",
    framing="full",
    aspect="source",
    source="upload",
    recording=None,
    microphone=None,
    text=None,
    language="en",
    voice="",
    speed=1.0,
    script=None,
    hear_words=False,
    burn=False,
    highlight_words=False,
    level_sound=True,
    reduce_noise=False,
    trim_silence=False,
    preset="quick",
    animator="auto",
    steps=0,
    expand=-1.0,
    calibrate="auto",
    allow_smaller=False,
    size=0,
    dynamic_scale=1.0,
    motion_scale=1.0,
    smoothing=1.0,
    seed=None,
    fps=25,
    background="white",
    force=False,
    consent=False,
)


def filled(**changes: object) -> FormValues:
    return dataclasses.replace(EMPTY, **changes)


def test_an_untouched_form_means_the_defaults_of_the_engine():
    assert EMPTY.options() == RenderOptions()


def test_only_the_chosen_source_of_the_voice_counts():
    form = filled(recording="/u/a.wav", microphone="/u/b.wav", text="Hello")

    assert form.audio == "/u/a.wav"
    assert dataclasses.replace(form, source="record").audio == "/u/b.wav"
    typed = dataclasses.replace(form, source="text")
    assert typed.audio is None
    assert typed.speech() == SpeechOptions(text="Hello", language="en")


def test_a_text_of_spaces_is_no_voice():
    assert not filled(source="text", text="  \n ").has_voice
    assert filled(source="text", text="  \n ").speech() is None


def test_a_recording_that_was_given_but_not_chosen_is_no_voice():
    assert not filled(source="record", recording="/u/a.wav").has_voice


def test_choices_reach_the_request():
    form = filled(
        portrait="/u/me.jpg",
        recording="/u/speech.wav",
        face=1,
        size=640,
        seed=" 7 ",
        fps=50,
        consent=True,
    )

    request = form.request()

    assert request.options.face_index == 1
    assert request.options.output_size_px == 640
    assert request.options.seed == 7
    assert request.options.fps == 50
    assert request.consent
    assert request.title == "speech"


def test_captions_are_asked_for_only_where_there_are_words():
    recording = filled(recording="/u/a.wav", burn=True)

    assert recording.options().captions == "off"
    assert dataclasses.replace(recording, script="Hello").options().captions == "burn"
    assert dataclasses.replace(recording, hear_words=True).options().captions == "burn"
    heard = filled(recording="/u/a.wav", hear_words=True, highlight_words=True).options()
    assert (heard.captions, heard.highlight_words) == ("srt", True)
    assert filled(source="text", text="Hi", hear_words=True).options().captions == "off"


def test_only_a_recording_is_cleaned_and_trimmed():
    care = {"level_sound": False, "reduce_noise": True, "trim_silence": True}

    recorded = filled(recording="/u/a.wav", **care).options()
    typed = filled(source="text", text="Hi", **care).options()

    assert (recorded.level_sound, recorded.reduce_noise, recorded.trim_silence) == (False, 1, 1)
    assert (typed.level_sound, typed.reduce_noise, typed.trim_silence) == (False, 0, 0)


@pytest.mark.parametrize("seed", ["seven", "-1", "99999999999"])
def test_a_seed_that_is_none_is_named(seed):
    with pytest.raises(InputError) as caught:
        filled(seed=seed).options()

    assert caught.value.code is ErrorCode.BAD_OPTION
    assert caught.value.values["option"] == "seed"


def test_the_title_is_what_the_person_would_call_it():
    spoken = SpeechOptions(text="Good   morning\neverybody")

    assert title_of(None, spoken, "/u/me.jpg") == "Good morning everybody"
    assert title_of("/u/my_talk.m4a", None, "/u/me.jpg") == "my talk"
    assert title_of(None, None, "/u/me.jpg") == "me"


def test_a_long_title_ends_at_a_word():
    title = title_of(None, SpeechOptions(text="word " * 50), None)

    assert len(title) <= TITLE_CHARACTERS
    assert title.endswith("word…")


def test_the_options_of_a_program_are_sorted():
    wanted = parse_caller_options(
        {"preset": "hd", "voice": "hibari:heart", "idempotency_key": "k", "title": "t"}, "Hi"
    )

    assert wanted.render.preset == "hd"
    assert wanted.speech == SpeechOptions(text="Hi", voice="hibari:heart")
    assert wanted.idempotency_key == "k"
    assert wanted.title == "t"


@pytest.mark.parametrize(
    ("options", "name"),
    [({"presset": "hd"}, "presset"), ({"fps": 26}, "fps"), ({"speed": 9}, "speed")],
)
def test_an_option_nobody_knows_or_can_use_is_named(options, name):
    with pytest.raises(InputError) as caught:
        parse_caller_options(options, "Hi")

    assert caught.value.values["option"] == name


def test_what_changes_no_answer_is_not_asked_again():
    form = dataclasses.replace(EMPTY, portrait="p.png")
    asked = question_of(form)

    assert question_of(dataclasses.replace(form, source="text", text=" ")) == asked
    assert question_of(dataclasses.replace(form, consent=not form.consent)) == asked
    assert question_of(dataclasses.replace(form, source="text", text="Hi")) != asked
    assert question_of(dataclasses.replace(form, face=1)) != asked
    assert question_of(dataclasses.replace(form, portrait="q.png")) != asked
    assert question_of(dataclasses.replace(form, force=True)) != asked
