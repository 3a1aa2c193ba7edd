"""A preview that comes piece by piece, and the label of a spoken file, through the engine."""

import io

import pytest
import soundfile

from engine.api import StudioEngine
from engine.contracts import SpeechOptions
from engine.errors import Canceled, ErrorCode, InputError
from engine.settings import EngineSettings

LONG = "While the sun was rising over the hills of the old town, everybody was asleep. " * 2


def tasks_left(engine):
    """Counts down with every question that a quick child answers."""
    return sum(each.tasks_left for each in engine._quick.supervisors)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with StudioEngine(EngineSettings(data_dir=tmp_path_factory.mktemp("data"))) as engine:
        yield engine


def test_preview_comes_piece_by_piece_and_leaves_nothing(engine):
    speech = SpeechOptions(text="Hello there. How are you today?", voice="hibari:heart")

    pieces = list(engine.preview_voice_pieces(speech))

    assert len(pieces) == 2
    assert min(soundfile.info(io.BytesIO(piece)).duration for piece in pieces) > 0.5
    assert list(engine.settings.temp_dir.rglob("preview-*")) == []
    with pytest.raises(InputError) as caught:
        next(engine.preview_voice_pieces(SpeechOptions(text="?!")))
    assert caught.value.code is ErrorCode.TEXT_EMPTY


def test_what_was_heard_before_is_heard_again_without_being_spoken(engine):
    speech = SpeechOptions(text="Once more, please.", voice="hibari:heart")
    before = list(engine.preview_voice_pieces(speech))
    tasks = tasks_left(engine)

    again = list(engine.preview_voice_pieces(speech))
    is_spoken_again = tasks_left(engine) != tasks
    engine.forget("somebody")
    list(engine.preview_voice_pieces(speech))

    assert again == before
    assert not is_spoken_again
    assert tasks_left(engine) == tasks - 1


def test_own_pronunciation_is_heard_although_the_text_was_spoken_before(engine):
    speech = SpeechOptions(text="A gif.", voice="hibari:heart")
    before = list(engine.preview_voice_pieces(speech))
    engine.settings.pronunciations_path.write_text("gif = jellyfish\n", "utf-8")

    assert list(engine.preview_voice_pieces(speech)) != before


def test_another_preview_of_the_same_page_stops_the_one_before(engine):
    slow = SpeechOptions(text=LONG, voice="kokoro:af_heart")
    first = engine.preview_voice_pieces(slow, "tab")
    elsewhere = engine.preview_voice_pieces(SpeechOptions(text="Hi."), "another tab")

    assert list(engine.preview_voice_pieces(SpeechOptions(text="Hello."), "tab"))
    with pytest.raises(Canceled):
        list(first)
    assert list(elsewhere)


def test_closed_preview_leaves_the_child_to_the_next_one(engine):
    engine.warm_voice("en", "kokoro:af_heart")
    slow = engine.preview_voice_pieces(SpeechOptions(text=LONG, voice="kokoro:af_heart"))
    assert not slow.is_ready(0.5)

    slow.close()

    with pytest.raises(Canceled):
        next(slow)
    pids = engine._quick.pids
    assert list(engine.preview_voice_pieces(SpeechOptions(text="Good day.")))
    assert engine._quick.pids == pids


def test_spoken_file_says_that_it_was_made_by_ai(engine, tmp_path):
    target = tmp_path / "hello.wav"

    engine.speak(SpeechOptions(text="Hello.", voice="hibari:heart"), target)

    found = engine.verify(target)
    assert (found.ok, found.manifest, found.says_ai) == (True, "valid", True)
    assert found.facts["models"] == ["hibari:heart"]
