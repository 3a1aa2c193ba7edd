"""Forms over a reload: only the visitor's own files, only values a control takes."""

import json

import gradio as gr
import pytest

from studio.parts import form_keeper
from studio.parts.form_keeper import fitting, noted_paths, written_notes
from studio.session import Visitors


@pytest.fixture
def uploads(tmp_path, monkeypatch):
    monkeypatch.setattr(form_keeper, "get_upload_folder", lambda: str(tmp_path / "uploads"))
    (tmp_path / "uploads").mkdir()
    return tmp_path / "uploads"


@pytest.fixture
def visitors() -> Visitors:
    return Visitors(b"k" * 32)


def notes_of(visitors: Visitors, owner: str, *paths: object) -> list[str]:
    given = {"portrait": [str(path) for path in paths]}
    return json.loads(written_notes(visitors, owner, given))["portrait"]


def test_a_visitor_gets_their_own_uploads_back_and_nobody_elses(uploads, visitors):
    photo = uploads / "photo.jpg"
    photo.write_bytes(b"photo")
    notes = notes_of(visitors, "visitor:eva", photo)

    assert noted_paths(visitors, "visitor:eva", notes) == [str(photo)]
    assert noted_paths(visitors, "visitor:bob", notes) == []
    assert noted_paths(Visitors(b"j" * 32), "visitor:eva", notes) == []


def test_what_is_gone_or_lies_elsewhere_is_not_given(uploads, visitors, tmp_path):
    secret = tmp_path / "store.sqlite3"
    secret.write_bytes(b"rows")
    first = uploads / "1.wav"
    first.write_bytes(b"sound")
    elsewhere = notes_of(visitors, "visitor:eva", secret)
    half = notes_of(visitors, "visitor:eva", first, uploads / "swept.wav")

    assert noted_paths(visitors, "visitor:eva", elsewhere) == []
    assert noted_paths(visitors, "visitor:eva", half) == [], "all of them or none"
    assert noted_paths(visitors, "visitor:eva", ["x", 7, None]) == []
    assert noted_paths(visitors, "visitor:eva", "x") == []


CONTROLS = {
    "radio": lambda: gr.Radio([("Quick", "quick")], value="quick"),
    "slider": lambda: gr.Slider(0.5, 2.0, 1.0),
    "check": gr.Checkbox,
    "text": lambda: gr.Textbox(max_length=5),
    "number": lambda: gr.Number(-1),
    "colour": lambda: gr.ColorPicker("#000000"),
}


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        ("radio", "quick", "quick"),
        ("radio", "fast", None),
        ("slider", 1.5, 1.5),
        ("slider", 9, None),
        ("slider", True, None),
        ("check", False, False),
        ("check", "yes", None),
        ("text", "Good morning", "Good "),
        ("text", {"a": 1}, None),
        ("number", 3, 3),
        ("colour", "#15181e", "#15181e"),
        ("colour", "red; background: url(x)", None),
    ],
)
def test_a_control_takes_what_it_offers_and_nothing_else(name, value, taken):
    with gr.Blocks():
        assert fitting(CONTROLS[name](), value) == taken
