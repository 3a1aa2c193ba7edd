# ruff: noqa: RUF001 - letters of many scripts look like others
"""A whole text from the catalogue of voices, with the real back ends."""

import itertools
from threading import Event

import numpy as np
import pytest

from engine.contracts import SpeechOptions, VoiceInfo
from engine.errors import Canceled, EngineError, ErrorCode, InputError
from engine.speech.catalog import VoiceCatalog
from engine.speech.espeak import EspeakEngine
from engine.speech.hibari import HibariEngine
from engine.speech.levels import heard_span_s, speech_rms
from engine.speech.voice import SpokenClip


@pytest.fixture(scope="module")
def catalog():
    """The fast back ends; Kokoro has tests of its own."""
    return VoiceCatalog([HibariEngine(), EspeakEngine()])


def speak(catalog, text, **options):
    return catalog.speak(SpeechOptions(text=text, **options), Event())


def test_everything_built_in_is_listed_fast_and_natural_first():
    catalog = VoiceCatalog()

    first = {
        tag: catalog.voices(tag)[0].voice_id
        for tag in ("en", "en-gb", "fr", "pt", "zh", "ja", "de")
    }
    assert first == {
        "en": "hibari:heart",
        "en-gb": "kokoro:bf_emma",
        "fr": "kokoro:ff_siwis",
        "pt": "kokoro:pf_dora",
        "zh": "kokoro:zf_xiaoxiao",
        "ja": "kokoro:jf_alpha",
        "de": "espeak:de",
    }
    listed = [voice.natural for voice in catalog.voices()]
    assert listed == sorted(listed, reverse=True)
    catalog.unload()


def test_natural_voices_come_first_then_the_nearest_region(catalog):
    english = [voice.voice_id for voice in catalog.voices("en")]

    assert english[:2] == ["hibari:heart", "espeak:en-us"]
    assert "espeak:en-gb" in english
    assert catalog.voices("fr")[0].voice_id == "espeak:fr-fr"
    assert catalog.voices("zh-CN")[0].voice_id == "espeak:cmn"
    assert catalog.voices("xx") == []
    assert catalog.voices()[0].natural
    assert len(catalog.voices()) > 130


@pytest.mark.parametrize(
    ("text", "options", "voice_id"),
    [
        ("Hello", {}, "hibari:heart"),
        ("Bonjour", {"language": "fr"}, "espeak:fr-fr"),
        ("Привет", {}, "espeak:ru"),
        ("你好", {}, "espeak:cmn"),
        ("Hallo", {"language": "de", "voice": "espeak:de+f3"}, "espeak:de+f3"),
        ("Hello", {"voice": "ESPEAK:EN-US"}, "espeak:en-us"),
    ],
)
def test_voice_is_chosen_by_what_is_known(catalog, text, options, voice_id):
    clip = speak(catalog, text, **options)

    assert clip.voice_id == voice_id
    assert clip.notes == ()
    assert clip.words[0].text == text


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"voice": "nobody:here"}, ErrorCode.VOICE_UNKNOWN),
        ({"language": "xx"}, ErrorCode.LANGUAGE_UNSUPPORTED),
        ({"voice": "hibari:heart", "language": "de"}, ErrorCode.VOICE_SPEAKS_OTHER),
    ],
)
def test_impossible_choice_is_refused(catalog, options, code):
    with pytest.raises(InputError) as caught:
        speak(catalog, "Hello", **options)

    assert caught.value.code is code


def test_text_of_several_sentences_lies_on_one_clock(catalog):
    text = "Welcome to the studio. Pick a portrait!\n\nThen write to www.example.com, and wait."
    clip = speak(catalog, text)

    assert " ".join(word.text for word in clip.words) == " ".join(text.split())
    for items in (clip.words, clip.phonemes):
        assert all(a.end_s <= b.start_s + 1e-9 for a, b in itertools.pairwise(items))
        assert items[-1].end_s < clip.duration_s
    first_s, last_s = heard_span_s(clip.samples, clip.sample_rate_hz)
    assert first_s <= 0.15
    assert clip.phonemes[0].start_s <= 0.15
    assert clip.duration_s - last_s < 0.5
    gap_s = clip.words[7].start_s - clip.words[6].end_s
    assert 0.7 < gap_s < 0.95  # the paragraph


@pytest.mark.parametrize("options", [{}, {"voice": "espeak:en-us"}, {"voice": "espeak:en-us+f2"}])
def test_loudness_is_alike_and_never_clips(catalog, options):
    clip = speak(catalog, "The studio is loud enough for everyone. Is it not?", **options)

    assert -20 <= 20 * np.log10(speech_rms(clip.samples, clip.sample_rate_hz)) <= -16
    assert np.abs(clip.samples).max() < 0.96


def test_foreign_script_goes_to_a_voice_that_reads_it_and_is_noted(catalog):
    clip = speak(catalog, "Hello 你好 and привет to all.")

    assert clip.notes == (ErrorCode.OTHER_VOICE_USED,)
    assert "".join(word.text for word in clip.words) == "Hello你好andприветtoall."
    assert clip.voice_id == "hibari:heart"
    assert clip.sample_rate_hz == 24000


def test_script_without_any_voice_is_noted_and_left_out(catalog):
    only_english = VoiceCatalog(
        [engine for engine in catalog._engines.values() if engine.name == "hibari"]
    )

    clip = speak(only_english, "Hello 你好 world.")

    assert clip.notes == (ErrorCode.PARTLY_UNSPOKEN,)
    assert [word.text for word in clip.words] == ["Hello", "world."]
    with pytest.raises(InputError) as caught:
        speak(only_english, "你好", language="en")
    assert caught.value.code is ErrorCode.TEXT_UNREADABLE


def test_emoji_markup_and_style_are_noted(catalog):
    clip = speak(catalog, "<b>Hi</b> there 🙂", style="happy")

    assert clip.notes == ("markup_removed", "emoji_dropped", "style_ignored")
    assert [word.text for word in clip.words] == ["Hi", "there"]


def test_japanese_with_kanji_is_spoken_whole(catalog):
    clip = speak(catalog, "日本語を話す。HTと2025年")

    assert clip.voice_id == "espeak:ja"
    assert "".join(word.text for word in clip.words) == "日本語を話す。HTと2025年"
    assert clip.notes == ()


@pytest.mark.parametrize("voice", ["hibari:heart", "espeak:de"])
def test_same_text_gives_the_same_samples(catalog, voice):
    first, second = (speak(catalog, "One two three. Four.", voice=voice) for _ in range(2))

    assert np.array_equal(first.samples, second.samples)


def test_speed_changes_pauses_too(catalog):
    slow, fast = (speak(catalog, "One. Two.", speed=speed) for speed in (0.5, 2.0))

    assert slow.words[1].start_s > 2.5 * fast.words[1].start_s


def test_cancel_stops_between_sentences(catalog):
    canceled = Event()
    seen = []

    def on_progress(done, total):
        seen.append((done, total))
        if done == 2:
            canceled.set()

    with pytest.raises(Canceled):
        catalog.speak(
            SpeechOptions(text="One. Two. Three. Four.", voice="espeak:en-us"),
            canceled,
            on_progress,
        )

    assert seen == [(1, 4), (2, 4)]


def test_five_thousand_characters_without_a_mark_are_spoken_whole(catalog):
    text = ("never a mark in this long text " * 161)[:5000].rsplit(" ", 1)[0]
    clip = speak(catalog, text, voice="espeak:en-us", speed=2.0)

    assert " ".join(word.text for word in clip.words) == text


class FailingEngine:
    """A back end that breaks at one word."""

    name = "failing"
    reads_also = frozenset()

    def voices(self):
        return (
            VoiceInfo(
                voice_id="failing:one",
                engine="failing",
                name="One",
                languages=("en",),
                sample_rate_hz=16000,
                licence="CC0-1.0",
            ),
        )

    def speak(self, text, voice_id, language, speed):
        if "boom" in text:
            raise EngineError(ErrorCode.VOICE_UNAVAILABLE, voice="One")
        tone = np.sin(np.arange(8000) / 5).astype(np.float32) * 0.1
        return SpokenClip(tone, 16000, (), (), voice_id, language)

    def reset(self):
        return None

    def unload(self):
        return None


def test_failing_sentence_is_named():
    catalog = VoiceCatalog([FailingEngine()])

    with pytest.raises(EngineError) as caught:
        speak(catalog, "All is well. Here comes the boom. Bye.")

    assert caught.value.code is ErrorCode.SENTENCE_FAILED
    assert caught.value.values["sentence"] == "Here comes the boom."


def test_voice_that_fails_at_once_is_unavailable():
    with pytest.raises(EngineError) as caught:
        speak(VoiceCatalog([FailingEngine()]), "boom")

    assert caught.value.code is ErrorCode.VOICE_UNAVAILABLE


def test_studio_works_without_espeak(catalog, monkeypatch):
    broken = EspeakEngine()
    monkeypatch.setattr(broken._child, "_module", "engine.speech.no_such_module")
    hibari = next(engine for engine in catalog._engines.values() if engine.name == "hibari")
    without = VoiceCatalog([hibari, broken])

    assert [voice.voice_id for voice in without.voices()] == ["hibari:heart"]
    assert speak(without, "Hello.").voice_id == "hibari:heart"
    with pytest.raises(InputError) as caught:
        speak(without, "Hallo", language="de")
    assert caught.value.code is ErrorCode.LANGUAGE_UNSUPPORTED
