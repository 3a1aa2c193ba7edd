"""A text that is heard piece by piece while the rest of it is spoken."""

from dataclasses import replace
from threading import Event

import numpy as np
import pytest

from engine.contracts import SpeechOptions
from engine.errors import EngineError, ErrorCode
from engine.speech.catalog import VoiceCatalog
from engine.speech.hibari import HibariEngine
from engine.speech.mapped_text import MappedText
from engine.speech.sentences import Piece, soon_heard

TEXT = "Welcome to the studio of talking portraits. It is nice to see you."


class SlowVoice(HibariEngine):
    """As Kokoro: whole sentences take long."""

    first_characters = 20
    next_characters = 40

    def get_ready(self, voice_id):
        """Nothing to load."""

    def interrupt(self):
        """Its texts end by themselves."""


class SilentVoice(HibariEngine):
    def speak(self, text, voice_id, language, speed):
        clip = super().speak(text, voice_id, language, speed)
        return replace(clip, samples=np.zeros_like(clip.samples))


def pieces_of(engine):
    pieces, heard_before = [], []
    whole = VoiceCatalog([engine]).speak(
        SpeechOptions(text=TEXT),
        Event(),
        lambda done, _total: heard_before.append((done, len(pieces))),
        on_piece=pieces.append,
    )
    assert all(done == count for done, count in heard_before), "a piece is there when it is told"
    return pieces, whole


def test_pieces_are_the_whole():
    pieces, whole = pieces_of(HibariEngine())
    joined = np.concatenate([piece.samples for piece in pieces])

    assert len(pieces) == 2
    assert len(joined) == len(whole.samples)
    # The level of the whole is known at its end only; it differs by little.
    assert np.abs(joined - whole.samples).max() < 0.1
    assert np.corrcoef(joined, whole.samples)[0, 1] > 0.99


def test_slow_voice_begins_with_a_short_piece():
    pieces, whole = pieces_of(SlowVoice())

    assert len(pieces) == 3
    assert pieces[0].duration_s < 0.6 * pieces[1].duration_s + 1
    assert [word.text for word in pieces[0].words] == ["Welcome", "to", "the"]
    assert sum(len(piece.samples) for piece in pieces) == len(whole.samples)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("Short enough to stay whole", ["Short enough to stay whole"]),
        ("Come back, this is a longer one.", ["Come back,", "this is a longer one."]),
        (
            "Come back, this is a longer one and it goes on and on, until it ends.",
            ["Come back,", "this is a longer one and it", "goes on and on, until it ends."],
        ),
        ("今天天气很好我们去公园散步吧朋友们大家都来", 2),
    ],
)
def test_long_pieces_are_cut_at_a_clause_or_word(text, starts):
    pieces = soon_heard([Piece(MappedText.of(text), 0.4)], 20 if text.isascii() else 10, 40)

    if isinstance(starts, int):
        assert len(pieces) == starts
    else:
        assert [piece.text.text for piece in pieces] == starts
    assert "".join(piece.text.text for piece in pieces).replace(" ", "") == text.replace(" ", "")
    assert pieces[-1].pause_s == 0.4


def test_silence_is_the_fault_of_the_voice():
    with pytest.raises(EngineError) as caught:
        VoiceCatalog([SilentVoice()]).speak(SpeechOptions(text="Hello."), Event())

    assert caught.value.code is ErrorCode.VOICE_SILENT
    assert caught.value.values == {"voice": "Heart"}
