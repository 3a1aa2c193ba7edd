"""Captions of recordings nobody wrote down; a tiny Whisper shows the way through the library."""

import itertools
import json
import re
import shutil
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile as sf

from engine.contracts import RenderOptions
from engine.errors import Canceled, ErrorCode
from engine.media.captions import LINE_COLUMNS, MAX_LINES, build_cues, width_of
from engine.pipeline.hear import hear
from engine.pipeline.runner import undrawn_note
from engine.pipeline.tools import Tools
from engine.settings import EngineSettings
from engine.speech.recognise import Recognised, Recogniser, _words_of
from engine.speech.voice import TimedWord
from engine.weights.file_check import find_fault
from engine.weights.recogniser import recogniser_folder

pytest.importorskip("faster_whisper")
pocketsphinx = pytest.importorskip("pocketsphinx")

DATA = Path(__file__).resolve().parents[1] / "data"
MODEL = DATA / "recogniser"
SPEECH = DATA / "speech" / "en_jfk_1961_16k.flac"  # 11 s
SHORT = DATA / "speech" / "en_librivox_austen_0880.wav"  # 3 s, the one the tiny model knows
TEXT = json.loads((DATA / "speech" / "en_jfk_1961_16k.alignment.json").read_text())["text"]
CAPTION_TOLERANCE_S = 0.2


def plain(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


class GoodEar(Recogniser):
    """Understands every word, and has times as rough as Whisper's."""

    def listen(self, _wav, _canceled):
        words = TEXT.split()
        rough = [
            TimedWord(word, 0.5 * index, 0.5 * index + 0.4) for index, word in enumerate(words)
        ]
        return Recognised(TEXT, "en", tuple(rough))


@pytest.fixture(scope="module")
def heard():
    return hear(SPEECH, None, Tools(), Event(), None, GoodEar(MODEL))


@pytest.fixture(scope="module")
def spoken_at():
    """When each word begins, by another aligner."""
    samples, _ = sf.read(str(SPEECH), dtype="int16")
    decoder = pocketsphinx.Decoder(lm=None, samprate=16000, loglevel="FATAL")
    decoder.set_align_text(" ".join(re.findall("[a-z]+", TEXT.lower())))
    decoder.start_utt()
    decoder.process_raw(samples.tobytes(), full_utt=True)
    decoder.end_utt()
    return [part.start_frame / 100 for part in decoder.seg() if part.word[0] not in "<["]


def test_a_model_writes_down_words_with_times():
    found = Recogniser(MODEL).listen(SHORT, Event())

    assert found.language == "en"
    assert found.text.endswith("disposed young man.")
    assert " ".join(word.text for word in found.words) == found.text
    assert all(0 <= word.start_s <= word.end_s <= 3.0 for word in found.words)
    starts = [word.start_s for word in found.words]
    assert starts == sorted(starts)


@pytest.mark.parametrize("language", ["en-GB", "de", "tlh"])
def test_a_language_the_model_does_not_know_is_not_asked_for(language):
    assert Recogniser(MODEL, language).listen(SHORT, Event()).language == "en"


def test_words_that_were_understood_become_captions(heard):
    assert [plain(word.text) for word in heard.words] == [plain(word) for word in TEXT.split()]
    assert heard.notes == (ErrorCode.CAPTIONS_RECOGNISED,)
    assert heard.phonemes


def test_captions_stand_within_a_fifth_of_a_second_of_the_words(heard, spoken_at):
    cues = build_cues(heard.words, 11.0)

    begins = {word.start_s: at for word, at in zip(heard.words, spoken_at, strict=True)}
    late = [abs(cue.start_s - begins[cue.start_s]) for cue in cues]
    assert max(late) < CAPTION_TOLERANCE_S
    words = [abs(word.start_s - at) for word, at in zip(heard.words, spoken_at, strict=True)]
    assert float(np.median(words)) < 0.05
    for cue, following in itertools.pairwise(cues):
        assert cue.end_s + 0.07 < following.start_s, "never glued to the next one"
    for cue in cues:
        assert len(cue.lines) <= MAX_LINES
        assert all(width_of(line) <= LINE_COLUMNS for line in cue.lines)


def test_without_a_word_there_is_a_note_and_no_caption(tmp_path):
    silence = tmp_path / "silence.wav"
    sf.write(silence, np.zeros(32_000, np.float32), 16_000)

    nothing = hear(silence, None, Tools(), Event(), None, Recogniser(MODEL))

    assert nothing.words == ()
    assert nothing.notes == (ErrorCode.NOTHING_UNDERSTOOD,)


def test_a_stop_is_obeyed():
    canceled = Event()
    canceled.set()

    with pytest.raises(Canceled):
        Recogniser(MODEL).listen(SPEECH, canceled)


def test_pieces_become_words_as_people_write_them():
    pieces = [(" ill", 0, 1), ("-disposed", 1, 2), (" man", 2, 3), (".", 3, 3.1), (" ", 4, 4)]
    chinese = [("你", 0, 1), ("好", 1, 2), ("。", 2, 2)]

    def words(given):
        parts = [SimpleNamespace(word=text, start=start, end=end) for text, start, end in given]
        found = _words_of(SimpleNamespace(words=parts))
        return [(word.text, word.start_s, word.end_s) for word in found]

    assert words(pieces) == [("ill-disposed", 0, 2), ("man.", 2, 3.1)]
    assert [text for text, _, _ in words(chinese)] == ["你", "好。"]


def test_the_recogniser_is_here_only_when_it_is_whole(tmp_path):
    settings = EngineSettings(data_dir=tmp_path)
    folder = tmp_path / "weights" / "recogniser"
    shutil.copytree(MODEL, folder)

    assert recogniser_folder(settings) == folder
    assert recogniser_folder(EngineSettings(data_dir=tmp_path / "other")) is None
    own = EngineSettings(data_dir=tmp_path / "other", recogniser_dir=MODEL)
    assert recogniser_folder(own) == MODEL
    (folder / "model.bin").unlink()
    assert recogniser_folder(settings) is None


def test_a_model_is_told_from_a_web_page_and_from_other_weights(tmp_path):
    assert find_fault(MODEL / "model.bin") is None
    other = tmp_path / "model.bin"
    other.write_bytes(b"\x80\x02pickle")
    assert find_fault(other) == "it is not a CTranslate2 model"
    assert RenderOptions().captions == "off"


def test_letters_that_no_font_has_are_a_note_where_they_should_be_drawn():
    heard = [TimedWord("Hello", 0.0, 0.4), TimedWord("ሰላም", 0.5, 0.9)]

    assert undrawn_note(RenderOptions(captions="burn"), heard) == (ErrorCode.CAPTIONS_NOT_DRAWN,)
    assert undrawn_note(RenderOptions(captions="srt"), heard) == ()
    assert undrawn_note(RenderOptions(captions="burn"), heard[:1]) == ()
