"""Voices in Piper's format: a tiny network made on the spot, espeak-ng's real sounds."""

import itertools
import shutil
from threading import Event

import numpy as np
import pytest

from engine.contracts import SpeechOptions
from engine.errors import EngineError, ErrorCode, InputError
from engine.speech.catalog import VoiceCatalog
from engine.speech.espeak import EspeakEngine
from engine.speech.levels import heard_span_s
from engine.speech.piper import PiperEngine
from engine.weights.catalog import find_set
from engine.weights.voices import PIPER_VOICES, set_of_voice
from tests.tiny_voices import HOP, STEPS_A_LETTER, make_piper

LETTER_S = STEPS_A_LETTER * HOP / 22050


@pytest.fixture(scope="module")
def espeak():
    engine = EspeakEngine()
    yield engine
    engine.unload()


@pytest.fixture
def own(tmp_path):
    make_piper(tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture
def engine(espeak, own, tmp_path):
    return PiperEngine(espeak, tmp_path / "weights", own)


def test_voice_speaks_with_times_on_its_sound(engine):
    clip = engine.speak("A big boat.", "piper:xx_XX-tiny-low", "en-us", 1.0)

    assert clip.sample_rate_hz == 22050
    assert [word.text for word in clip.words] == ["A", "big", "boat."]
    assert [sound.ipa for sound in clip.phonemes][-4:] == ["b", "o", "ʊ", "t"]
    first_s, last_s = heard_span_s(clip.samples, clip.sample_rate_hz)
    assert abs(clip.phonemes[0].start_s - first_s) < 0.03
    assert abs(clip.phonemes[-1].end_s - last_s) < 0.05
    for a, b in itertools.pairwise(clip.phonemes):
        assert a.end_s <= b.start_s + 1e-9
    assert clip.phonemes[-2].end_s - clip.phonemes[-2].start_s == pytest.approx(LETTER_S, abs=0.02)


def test_speed_shortens_the_sounds(engine):
    slow, fast = (
        engine.speak("A big boat.", "piper:xx_XX-tiny-low", "en-us", speed) for speed in (0.5, 2.0)
    )

    assert slow.duration_s == pytest.approx(4 * fast.duration_s, rel=0.15)


def test_text_letters_are_spoken_without_times(espeak, tmp_path):
    make_piper(tmp_path, "uk_XX-tiny-low", voice="uk", kind="text")
    engine = PiperEngine(espeak, tmp_path / "weights", tmp_path)

    clip = engine.speak("Добрий вечір.", "piper:uk_XX-tiny-low", "uk", 1.0)

    assert clip.duration_s > 1.0
    assert clip.phonemes == ()
    with pytest.raises(InputError) as caught:
        engine.speak("?!", "piper:uk_XX-tiny-low", "uk", 1.0)
    assert caught.value.code is ErrorCode.TEXT_EMPTY


def test_catalogue_lists_what_a_download_would_bring_last(espeak, engine):
    catalog = VoiceCatalog([espeak, engine])

    assert catalog.voices("de")[0].voice_id == "espeak:de"
    listed = catalog.voices("de", with_missing=True)
    thorsten = next(voice for voice in listed if not voice.installed)
    assert thorsten.voice_id == "piper:de_DE-thorsten-medium"
    assert (thorsten.needs, thorsten.size_mb) == ("download", 63.2)
    with pytest.raises(InputError) as caught:
        catalog.speak(SpeechOptions(text="Hallo", voice=thorsten.voice_id), Event())
    assert caught.value.code is ErrorCode.VOICE_NOT_INSTALLED
    assert caught.value.values["voice_id"] == thorsten.voice_id


def test_downloaded_voice_is_the_first_of_its_language(espeak, engine, own, tmp_path):
    folder = tmp_path / "weights" / "piper-de_DE-thorsten-medium"
    folder.mkdir(parents=True)
    make_piper(folder, "de_DE-thorsten-medium", voice="de")
    catalog = VoiceCatalog([espeak, engine])

    clip = catalog.speak(SpeechOptions(text="Guten Abend.", language="de"), Event())

    assert clip.voice_id == "piper:de_DE-thorsten-medium"
    assert [word.text for word in clip.words] == ["Guten", "Abend."]


def test_same_text_gives_the_same_samples_after_unload(engine):
    first = engine.speak("A boat.", "piper:xx_XX-tiny-low", "en-us", 1.0)
    engine.unload()
    second = engine.speak("A boat.", "piper:xx_XX-tiny-low", "en-us", 1.0)

    assert np.array_equal(first.samples, second.samples)


@pytest.mark.parametrize("damage", ["network", "config", "kind"])
def test_damaged_files_are_no_voice(espeak, own, tmp_path, damage):
    path = own / "xx_XX-tiny-low.onnx"
    config = path.with_name(path.name + ".json")
    if damage == "network":
        path.write_bytes(b"\x08nothing")
    elif damage == "config":
        config.write_text("{")
    else:
        config.write_text(
            config.read_text("utf-8").replace('"espeak", "ph', '"pinyin", "ph'), "utf-8"
        )
    engine = PiperEngine(espeak, tmp_path / "weights", own)

    if damage != "network":
        assert all(not voice.installed for voice in engine.voices())
    with pytest.raises(EngineError) as caught:
        engine.speak("A boat.", "piper:xx_XX-tiny-low", "en-us", 1.0)
    assert caught.value.code is ErrorCode.VOICE_UNAVAILABLE


def test_unknown_voice_is_refused(engine, own):
    shutil.rmtree(own)
    with pytest.raises(InputError) as caught:
        engine.speak("A boat.", "piper:xx_XX-tiny-low", "en-us", 1.0)

    assert caught.value.code is ErrorCode.VOICE_UNKNOWN


def test_every_voice_has_its_files_in_pipers_layout():
    for voice in PIPER_VOICES:
        weights = set_of_voice(f"piper:{voice.key}")
        assert weights == find_set(voice.set_name)
        config, network = weights.files
        assert config.repo_path == network.repo_path + ".json"
        assert network.repo_path.split("/")[1] == voice.key.split("-")[0]
        assert network.repo_path.endswith(f"/{voice.key}.onnx")
        assert voice.licence in weights.notice
