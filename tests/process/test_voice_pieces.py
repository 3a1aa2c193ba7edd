"""A preview that comes piece by piece, and the label of a spoken file, through the engine."""

import pytest
import soundfile

from engine.api import StudioEngine
from engine.contracts import SpeechOptions
from engine.errors import ErrorCode, InputError
from engine.provenance.sound_seal import read_sound_seal
from engine.settings import EngineSettings


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with StudioEngine(EngineSettings(data_dir=tmp_path_factory.mktemp("data"))) as engine:
        yield engine


def test_preview_comes_piece_by_piece_and_leaves_nothing(engine):
    speech = SpeechOptions(text="Hello there. How are you today?", voice="hibari:heart")
    pieces = []
    for piece in engine.preview_voice_pieces(speech):
        pieces.append(soundfile.info(str(piece)).duration)
        piece.unlink()

    assert len(pieces) == 2
    assert min(pieces) > 0.5
    with pytest.raises(InputError) as caught:
        next(engine.preview_voice_pieces(SpeechOptions(text="?!")))
    assert caught.value.code is ErrorCode.TEXT_EMPTY


def test_spoken_file_says_that_it_was_made_by_ai(engine, tmp_path):
    target = tmp_path / "hello.wav"

    engine.speak(SpeechOptions(text="Hello.", voice="hibari:heart"), target)

    found = read_sound_seal(target)
    assert (found.state, found.says_ai) == ("valid", True)
    assert found.facts["models"] == ["hibari:heart"]
