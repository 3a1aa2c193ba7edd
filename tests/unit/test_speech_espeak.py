# ruff: noqa: RUF001 - sentences and sounds of many languages
"""The espeak-ng voices: real library, real process."""

import itertools
import subprocess
import sys
import threading

import numpy as np
import psutil
import pytest

from engine.errors import EngineError, ErrorCode, InputError
from engine.speech.espeak import EspeakEngine, EspeakStyle
from engine.speech.ipa import LENGTH, LETTERS, NASAL


@pytest.fixture(scope="module")
def engine():
    engine = EspeakEngine()
    yield engine
    engine.unload()


SENTENCES = {
    "en-us": "Peter Piper picked a peck of pickled peppers.",
    "de": "Schöne Grüße aus dem Schwarzwald.",
    "fr-fr": "Un bon vin blanc, s'il vous plaît.",
    "es": "Los niños juegan felices en el jardín.",
    "it": "Gli gnocchi sono buonissimi.",
    "pt-br": "As crianças não estão aqui.",
    "ru": "Привет, как дела сегодня?",
    "cmn": "你好，今天天气很好。",
    "ja": "こんにちは、せかい。",
    "hi": "नमस्ते, आप कैसे हैं?",
    "ar": "مرحبا بالعالم، كيف حالك؟",
    "tr": "Günaydın, bugün nasılsınız?",
}


def test_every_listed_voice_speaks_and_is_listed_once(engine):
    voices = engine.voices()

    assert len(voices) > 130
    assert len({voice.voice_id for voice in voices}) == len(voices)
    for voice in voices:
        clip = engine.speak("a 1 b 2", voice.voice_id, voice.languages[0], 2.0)
        assert clip.duration_s > 0.1, voice.voice_id
        assert not voice.natural


@pytest.mark.parametrize("tag", SENTENCES)
def test_sounds_and_words_are_ordered_and_inside_the_clip(engine, tag):
    clip = engine.speak(SENTENCES[tag], f"espeak:{tag}", tag, 1.0)

    assert clip.samples.dtype == np.float32
    assert 0.02 < np.abs(clip.samples).max() <= 1.0
    assert len(clip.phonemes) > 8
    for items in (clip.phonemes, clip.words):
        assert items[0].start_s >= 0
        assert items[-1].end_s <= clip.duration_s
        assert all(item.end_s > item.start_s for item in items)
        assert all(a.end_s <= b.start_s + 1e-9 for a, b in itertools.pairwise(items))
    assert set("".join(p.ipa for p in clip.phonemes)) <= LETTERS | {LENGTH, NASAL}
    typed = "".join(SENTENCES[tag].split())
    assert "".join("".join(w.text.split()) for w in clip.words) == typed


def test_english_sounds_are_the_expected_ones_without_stress(engine):
    clip = engine.speak("Hello school", "espeak:en-us", "en-us", 1.0)

    assert [p.ipa for p in clip.phonemes] == ["h", "ə", "l", "oʊ", "s", "k", "uː", "l"]
    assert [w.text for w in clip.words] == ["Hello", "school"]


def test_number_is_one_word_as_typed(engine):
    clip = engine.speak("It costs 1,250.75 dollars — or so.", "espeak:en-us", "en-us", 1.0)

    assert [w.text for w in clip.words] == ["It", "costs", "1,250.75", "dollars —", "or", "so."]


def test_vowels_are_louder_than_the_pause_between_sentences(engine):
    clip = engine.speak("Das war Papa. Es kam Mama.", "espeak:de", "de", 1.0)
    inside = [s for p in clip.phonemes if p.ipa[0] == "a" for s in _cut(clip, p.start_s, p.end_s)]
    pause = _cut(clip, clip.words[2].end_s + 0.05, clip.words[3].start_s - 0.02)

    assert np.std(inside) > 20 * np.std(pause)


def test_speed_changes_the_length(engine):
    slow, fast = (
        engine.speak(SENTENCES["de"], "espeak:de", "de", speed).duration_s for speed in (0.5, 2.0)
    )

    assert slow > 2 * fast


def test_style_changes_the_voice(engine):
    plain = engine.speak_in_style("Eins zwei drei", EspeakStyle("de"))
    other = engine.speak_in_style("Eins zwei drei", EspeakStyle("de", "f3", 175, 80, 90))

    assert [p.ipa for p in plain.phonemes] == [p.ipa for p in other.phonemes]
    assert other.voice_id == "espeak:de+f3"
    assert _centroid_hz(other) > _centroid_hz(plain)


def test_unknown_voice_is_refused(engine):
    with pytest.raises(InputError) as caught:
        engine.speak("Hello", "espeak:xx", "xx", 1.0)

    assert caught.value.code is ErrorCode.VOICE_UNKNOWN


def test_killed_process_is_replaced_unnoticed():
    engine = EspeakEngine()
    engine.speak("One", "espeak:en-us", "en-us", 1.0)
    first = psutil.Process(engine.pid)
    first.kill()
    first.wait(timeout=5)

    clip = engine.speak("Two", "espeak:en-us", "en-us", 1.0)

    assert clip.words[0].text == "Two"
    assert engine.pid != first.pid
    engine.unload()


def test_process_ends_when_closed():
    engine = EspeakEngine()
    engine.speak("One", "espeak:en-us", "en-us", 1.0)
    process = psutil.Process(engine.pid)

    engine.unload()

    assert not process.is_running()
    assert engine.pid is None


def test_killed_parent_leaves_no_process_behind():
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from engine.speech.espeak import EspeakEngine; import time\n"
            "engine = EspeakEngine(); engine.voices(); print(engine.pid, flush=True)\n"
            "time.sleep(60)",
        ],
        stdout=subprocess.PIPE,
    )
    child = psutil.Process(int(parent.stdout.readline()))

    parent.kill()
    parent.communicate()

    psutil.wait_procs([child], timeout=10)
    assert not child.is_running()


def test_hung_process_is_killed_and_named_unavailable():
    engine = EspeakEngine(timeout_s=2.0)  # a new process must begin within it
    engine.voices()
    hung = psutil.Process(engine.pid)
    copies = hung.children()
    for process in (hung, *copies):
        process.suspend()

    with pytest.raises(EngineError) as caught:
        engine.speak("Hello", "espeak:en-us", "en-us", 1.0)

    assert caught.value.code is ErrorCode.VOICE_UNAVAILABLE
    assert not hung.is_running()
    assert psutil.wait_procs(copies, timeout=5)[1] == []
    assert engine.speak("Hello", "espeak:en-us", "en-us", 1.0).duration_s > 0.2
    engine.unload()


def test_fresh_start_sounds_as_a_new_process_does(engine):
    said = ("The same words as before.", "espeak:en-us", "en-us", 1.0)
    engine.unload()
    first = engine.speak(*said)
    later = engine.speak(*said)
    engine.reset()
    again = engine.speak(*said)

    assert np.array_equal(first.samples, again.samples)
    assert not np.array_equal(first.samples, later.samples)


def test_threads_get_their_own_answers(engine):
    lengths: dict[int, int] = {}

    def speak(count: int) -> None:
        lengths[count] = len(engine.speak("word " * count, "espeak:en-us", "en-us", 1.0).words)

    threads = [threading.Thread(target=speak, args=(count,)) for count in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert lengths == {count: count for count in range(1, 9)}


@pytest.mark.parametrize("text", ["\0", "...", "a\0b", "x" * 400, "🙂", "<b>", "\u200b"])
def test_odd_text_neither_hangs_nor_breaks(engine, text):
    clip = engine.speak(text, "espeak:en-us", "en-us", 1.0)

    assert clip.duration_s < 60


def _cut(clip, start_s, end_s):
    return clip.samples[int(start_s * clip.sample_rate_hz) : int(end_s * clip.sample_rate_hz)]


def _centroid_hz(clip):
    spectrum = np.abs(np.fft.rfft(clip.samples))
    frequencies = np.fft.rfftfreq(len(clip.samples), 1 / clip.sample_rate_hz)
    return float((spectrum * frequencies).sum() / spectrum.sum())
