"""Drafts of translations, with a tiny M2M-100 that knows two sentences."""

import shutil
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest

from engine.errors import Canceled, ErrorCode, InputError
from engine.pipeline.translate import draft_all
from engine.settings import EngineSettings
from engine.speech.translate import Translator
from engine.weights.file_check import find_fault
from engine.weights.translator import translator_folder

pytest.importorskip("ctranslate2")
pytest.importorskip("sentencepiece")

MODEL = Path(__file__).resolve().parents[1] / "data" / "translator"
TEXT = "Good morning. How are you?\n\nGood morning."


@pytest.fixture(scope="module")
def translator():
    return Translator(MODEL)


def context(**settings):
    return SimpleNamespace(settings=EngineSettings(**settings), canceled=Event())


def test_a_text_is_drafted_sentence_by_sentence_and_keeps_its_paragraphs(translator):
    drafts = [translator.translate(TEXT, "en", language, Event()) for language in ("fr", "zh")]

    assert drafts == [
        "Bonjour. Comment vas-tu ?\n\nBonjour.",
        "早上好。你好吗?\n\n早上好。",
    ]


def test_regions_do_not_matter_and_unknown_languages_are_told(translator):
    assert translator.knows("fr-CA")
    assert translator.knows("cmn")
    assert not translator.knows("tlh")


def test_a_stop_is_obeyed(translator):
    canceled = Event()
    canceled.set()

    with pytest.raises(Canceled):
        translator.translate(TEXT, "en", "fr", canceled)


def test_all_known_languages_are_drafted_and_the_others_left_out(tmp_path):
    payload = {"text": "Good morning.", "source": "en", "targets": ["fr", "tlh", "zh"]}

    answer = draft_all(payload, context(data_dir=tmp_path, translator_dir=MODEL))

    assert answer == {"drafts": {"fr": "Bonjour.", "zh": "早上好。"}}


def test_without_the_translator_or_the_language_there_is_one_sentence(tmp_path):
    payload = {"text": "x", "source": "tlh", "targets": ["fr"]}

    for settings, code in (
        ({"data_dir": tmp_path}, ErrorCode.TRANSLATOR_MISSING),
        ({"data_dir": tmp_path, "translator_dir": MODEL}, ErrorCode.TRANSLATION_UNSUPPORTED),
    ):
        with pytest.raises(InputError) as caught:
            draft_all(payload, context(**settings))
        assert caught.value.code == code


def test_the_translator_is_here_only_when_it_is_whole(tmp_path):
    settings = EngineSettings(data_dir=tmp_path)
    folder = tmp_path / "weights" / "translator"
    shutil.copytree(MODEL, folder)

    assert translator_folder(settings) == folder
    assert [find_fault(path) for path in folder.iterdir()] == [None] * 4
    (folder / "sentencepiece.bpe.model").unlink()
    assert translator_folder(settings) is None
