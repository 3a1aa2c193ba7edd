"""Captions in the picture: where they are and when."""

from fractions import Fraction

import numpy as np
import pytest

from engine.media import caption_drawer
from engine.media.caption_drawer import CaptionDrawer, columns_for
from engine.media.captions import Cue, build_cues
from engine.speech.voice import TimedWord

FPS = Fraction(25)
CUES = (Cue(0.1, 1.0, ("Ärger mit Größe", "и жизнь")), Cue(1.08, 2.0, ("Hi.",)))


def grey(width_px=512, height_px=512):
    return np.full((height_px, width_px, 3), 128, np.uint8)


@pytest.mark.parametrize(
    ("width_px", "height_px"), [(512, 512), (512, 910), (910, 512), (256, 256)]
)
def test_caption_stands_low_in_the_middle_and_touches_nothing_else(width_px, height_px):
    frame = grey(width_px, height_px)

    drawn = CaptionDrawer(CUES, width_px, height_px, FPS).draw(frame, 10)

    changed = np.abs(drawn.astype(int) - frame).max(axis=2) > 3
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    assert rows[0] > height_px * 0.7
    assert rows[-1] < height_px - 2
    assert abs((columns[0] + columns[-1]) / 2 - width_px / 2) <= 2
    assert drawn.max() >= 250  # letters
    assert drawn.min() <= 30  # their outline
    assert (frame == 128).all()
    assert drawn.dtype == np.uint8


def test_caption_is_there_from_its_start_to_its_end():
    drawer = CaptionDrawer(CUES, 512, 512, FPS)
    frame = grey()

    seen = [drawer.draw(frame, index) is not frame for index in range(60)]

    assert [index for index, is_there in enumerate(seen) if is_there] == [
        *range(3, 25),
        *range(27, 50),
    ]


def test_frames_of_one_cue_are_drawn_alike_and_cues_are_drawn_once(monkeypatch):
    made = []
    draw = caption_drawer._draw_cue
    monkeypatch.setattr(
        caption_drawer, "_draw_cue", lambda *given: made.append(given[0]) or draw(*given)
    )
    drawer = CaptionDrawer(CUES, 512, 512, FPS)

    frames = [drawer.draw(grey(), index) for index in range(60)]

    assert made == list(CUES)
    assert np.array_equal(frames[5], frames[20])


@pytest.mark.parametrize("size", [(512, 512), (512, 910), (1024, 576), (256, 256)])
def test_full_lines_stay_inside_the_frame(size):
    columns = columns_for(*size)
    wide = Cue(0, 1, ("W" * columns, "m" * columns))
    frame = grey(*size)

    changed = (CaptionDrawer([wide], *size, FPS).draw(frame, 0) != frame).any(axis=(0, 2))

    assert 12 <= columns <= 42
    assert not changed[:2].any()
    assert not changed[-2:].any()


def test_the_word_that_is_said_has_another_colour():
    words = [TimedWord("left", 0.0, 0.4), TimedWord("right", 0.5, 1.4)]
    cues = build_cues(words, 2.0)
    drawer = CaptionDrawer(cues, 512, 512, Fraction(25), highlights=True)
    dark = np.full((512, 512, 3), 90, np.uint8)

    def yellow_columns(frame_index):
        frame = drawer.draw(dark, frame_index).astype(int)
        is_yellow = (frame[..., 0] > 180) & (frame[..., 1] > 140) & (frame[..., 2] < 130)
        return np.flatnonzero(is_yellow.any(axis=0))

    first, second = yellow_columns(5), yellow_columns(26)

    assert 0 < len(first) < 512
    assert first.max() < second.min(), "the second word stands to the right of the first"
    plain = CaptionDrawer(cues, 512, 512, Fraction(25)).draw(dark, 5)
    assert np.ptp(plain.astype(int), axis=2).max() < 10, "no colour without the option"
