"""Labels of a spoken file: players read the tags, and a change of the sound is noticed."""

import json

import av
import numpy as np
import pytest
import soundfile as sf

from engine.errors import ErrorCode
from engine.media.audio import write_wav
from engine.provenance.certificate import known_anchor
from engine.provenance.facts import VideoFacts
from engine.provenance.sound_seal import read_sound_seal, seal_sound
from engine.provenance.verify import check_labels
from engine.settings import EngineSettings

FACTS = VideoFacts(content_id="c" * 32, kind="speech", models=("hibari:heart",), consent=True)


@pytest.fixture
def sealed(tmp_path):
    settings = EngineSettings(data_dir=tmp_path / "data")
    wav = tmp_path / "speech.wav"
    tone = np.sin(np.arange(48_000) / 20).astype(np.float32) / 2
    write_wav(wav, tone, 48_000)
    before, _ = sf.read(wav)
    seal_sound(wav, FACTS, settings)
    return wav, before, settings


def test_sound_is_kept_and_says_that_a_model_made_it(sealed):
    wav, before, settings = sealed
    found = read_sound_seal(wav, known_anchor(settings))

    assert (found.state, found.is_own, found.says_ai) == ("valid", True, True)
    assert found.facts["models"] == ["hibari:heart"]
    assert np.array_equal(sf.read(wav)[0], before)
    assert [path.name for path in wav.parent.iterdir() if path.is_file()] == ["speech.wav"]


def test_players_show_the_tags(sealed):
    with av.open(str(sealed[0])) as file:
        tags = dict(file.metadata)
        seconds = file.duration / av.time_base

    words, _, fields = tags["comment"].partition(" {")
    assert words == "AI-generated speech"
    assert json.loads("{" + fields)["ProduceID"] == "c" * 32
    assert seconds == pytest.approx(1.0)


def test_changed_sound_does_not_fit_its_seal(sealed):
    wav = sealed[0]
    content = bytearray(wav.read_bytes())
    content[2000] ^= 1
    wav.write_bytes(content)

    assert read_sound_seal(wav).state == "broken"
    found = check_labels(wav)
    assert (found.ok, found.problems) == (False, (ErrorCode.MANIFEST_BROKEN,))


def test_verify_reads_the_labels_of_a_spoken_file(sealed):
    wav, _, settings = sealed

    found = check_labels(wav, known_anchor(settings))

    assert (found.ok, found.problems, found.manifest) == (True, (), "valid")
    assert (found.signed_here, found.says_ai, found.duration_s) == (True, True, 1.0)
    assert found.aigc["ContentProducer"] == "Sonic Studio"
    assert found.facts["consent"] is True


@pytest.mark.parametrize("kept_bytes", [12, 13, 40, 20_000, None])
def test_sound_without_labels_is_told_wherever_it_breaks_off(tmp_path, kept_bytes):
    wav = tmp_path / "bare.wav"
    write_wav(wav, np.zeros(24_000, np.float32), 48_000)
    wav.write_bytes(wav.read_bytes()[:kept_bytes])

    found = check_labels(wav)

    assert not found.ok
    assert ErrorCode.AIGC_MISSING in found.problems
    assert found.manifest != "valid"
