"""Supertonic's four networks, in tiny."""

from threading import Event

import numpy as np
import pytest

from engine.contracts import SpeechOptions
from engine.errors import EngineError, ErrorCode, InputError
from engine.speech.catalog import VoiceCatalog
from engine.speech.supertonic import LANGUAGES, SupertonicEngine
from engine.weights.voices import SUPERTONIC, SUPERTONIC_STYLES
from tests.tiny_voices import make_supertonic


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("supertonic")
    make_supertonic(path, SUPERTONIC_STYLES)
    return path


@pytest.fixture
def engine(folder):
    return SupertonicEngine(folder)


def test_ten_voices_speak_every_language(engine):
    voices = engine.voices()

    assert len(voices) == 10
    assert all(voice.installed and set(voice.languages) == set(LANGUAGES) for voice in voices)


def test_length_follows_letters_and_speed(engine):
    normal = engine.speak("Hello there.", "supertonic:F1", "en", 1.0)
    fast = engine.speak("Hello there.", "supertonic:F1", "en", 2.0)

    letters = len("<en>Hello there.</en>")
    assert normal.sample_rate_hz == 44100
    assert normal.duration_s == pytest.approx(letters * 0.08 / 1.05, abs=0.01)
    assert fast.duration_s == pytest.approx(normal.duration_s / 2, abs=0.01)
    assert np.abs(normal.samples).max() == pytest.approx(0.3, abs=0.01)


def test_catalogue_has_it_speak_the_wanted_language(engine):
    clip = VoiceCatalog([engine]).speak(
        SpeechOptions(text="Guten Abend", language="de-AT", voice="supertonic:M2"), Event()
    )

    assert (clip.voice_id, clip.language) == ("supertonic:M2", "de")


def test_letters_it_does_not_know_are_left_out(engine):
    plain = engine.speak("Hello", "supertonic:F1", "en", 1.0)
    mixed = engine.speak("Hel\u4f60lo", "supertonic:F1", "en", 1.0)

    assert len(plain.samples) == len(mixed.samples)
    with pytest.raises(InputError) as caught:
        engine.speak("\u4f60", "supertonic:F1", "en", 1.0)
    assert caught.value.code is ErrorCode.TEXT_EMPTY


def test_without_files_the_voices_wait_for_a_download(tmp_path):
    engine = SupertonicEngine(tmp_path)

    assert all(not voice.installed and voice.needs == "download" for voice in engine.voices())
    with pytest.raises(EngineError) as caught:
        engine.speak("Hello", "supertonic:F1", "en", 1.0)
    assert caught.value.code is ErrorCode.VOICE_UNAVAILABLE


def test_the_download_has_every_file_that_is_read(folder):
    paths = {file.path for file in SUPERTONIC.files}
    made = {str(path.relative_to(folder).as_posix()) for path in folder.rglob("*.*")}

    assert paths == made
