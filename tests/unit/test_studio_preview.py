"""A preview of a voice on the page, and the fonts that the page brings along."""

import base64
import io
import re
import wave

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.media.audio import write_wav
from engine.worker.previews import KnownPreviews
from studio.failures import guarded_steps
from studio.page_fonts import FONTS_DIR, create_font_route
from studio.parts.heard_pieces import first_html, read_piece, so_far_html
from studio.theme import FONT_STYLES_PATH


def pieces_in(folder, lengths_s):
    path = folder / "preview.wav"
    for number, length_s in enumerate(lengths_s):
        write_wav(path, np.full(round(48_000 * length_s), 0.1 * (number + 1), np.float32), 48_000)
        yield read_piece(path.read_bytes())


def sound_in(words):
    found = re.search(r'(?:src|data-sound)="data:audio/wav;base64,([^"]+)"', words)
    with wave.open(io.BytesIO(base64.b64decode(found[1]))) as file:
        return np.frombuffer(file.readframes(file.getnframes()), np.int16), file.getframerate()


def test_what_is_there_begins_with_what_was_heard_and_says_how_long_it_is(tmp_path):
    first, *rest = pieces_in(tmp_path, (0.5, 0.25, 0.25))
    begun, more, whole = (
        first_html(first),
        so_far_html([first, rest[0]]),
        so_far_html([first, *rest]),
    )

    sounds = [sound_in(words)[0] for words in (begun, more, whole)]
    assert [len(samples) for samples in sounds] == [24_000, 36_000, 48_000]
    assert np.array_equal(sounds[1][:24_000], sounds[0])
    assert np.array_equal(sounds[2][:36_000], sounds[1])
    assert 'data-until="0.750"' in more
    assert 'data-until="1.000"' in whole
    assert len({re.search(r'data-number="(\d+)"', words)[1] for words in (begun, more, whole)}) == 1


def test_nothing_follows_a_preview_of_one_piece(tmp_path):
    (only,) = pieces_in(tmp_path, (0.5,))

    assert so_far_html([only]) == ""


def test_a_handler_of_several_steps_ends_when_nobody_takes_the_next_one():
    ended = []

    @guarded_steps
    def show():
        try:
            yield 1
            yield 2
        finally:
            ended.append(True)

    steps = show()
    assert next(steps) == 1
    steps.close()

    assert ended == [True]


def test_the_oldest_previews_go_first_and_a_heard_one_counts_as_new():
    known = KnownPreviews(max_bytes=10)
    since = known.find("first")[1]
    for asked in ("first", "second"):
        known.keep(asked, [b"123", b"45"], since)
    assert known.find("first")[0] == [b"123", b"45"]

    known.keep("third", [b"12345"], since)

    assert [bool(known.find(asked)[0]) for asked in ("first", "second", "third")] == [
        True,
        False,
        True,
    ]


def test_a_preview_that_was_asked_before_all_was_forgotten_is_not_kept():
    known = KnownPreviews()
    since = known.find("text")[1]
    known.clear()

    known.keep("text", [b"sound"], since)

    assert known.find("text")[0] == []


@pytest.fixture
def client():
    return TestClient(Starlette(routes=[create_font_route()]))


def test_every_font_of_the_styles_is_served_and_nothing_else(client):
    named = re.findall(r'url\("(/fonts/[^"]+)"\)', FONT_STYLES_PATH.read_text("utf-8"))

    assert len(named) == 5
    for address in named:
        answer = client.get(address)
        assert answer.content[:4] == b"wOF2"
        assert answer.headers["content-type"] == "font/woff2"
    for address in ("/fonts/OFL.txt", "/fonts/..%2fstyles.css", "/fonts/none.woff2"):
        assert client.get(address).status_code == 404


def test_fonts_of_the_page_keep_to_their_budget():
    assert sum(path.stat().st_size for path in FONTS_DIR.glob("*.woff2")) < 800_000
