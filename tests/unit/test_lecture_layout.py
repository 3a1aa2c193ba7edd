import itertools

import numpy as np
import pytest

from engine.lecture.board import draw_board
from engine.lecture.layout import Rect, fit, lay_out
from engine.lecture.marking import planned_layout
from engine.lecture.options import LectureOptions
from engine.lecture.planes import Overlay, PlaneConverter, presenter_mask, split
from engine.provenance.visible import VisibleLabel
from engine.settings import EngineSettings

LAYOUTS = list(
    itertools.product(
        ("corner", "side", "full", "off"),
        ("tl", "tr", "bl", "br"),
        ("16:9", "9:16"),
        (720, 1080),
        ("srt", "burn"),
        (16 / 9, 4 / 3, 0.7),
    )
)


@pytest.mark.parametrize("visible_label", [True, False])
def test_nothing_of_a_slide_is_hidden_unasked(visible_label):
    settings = EngineSettings(visible_label=visible_label)
    for layout, corner, aspect, size, captions, ratio in LAYOUTS:
        options = LectureOptions(
            layout=layout, corner=corner, aspect=aspect, size_px=size, captions=captions
        )
        plan = planned_layout(options, ratio, settings)
        slide = plan.slide_rect(round(ratio * 1000), 1000)
        width, height = options.frame_size

        assert slide.x >= 0, options
        assert slide.y >= 0, options
        assert slide.right <= width, options
        assert slide.bottom <= height, options
        assert slide.width * slide.height > 0.2 * min(width, height) ** 2, options
        if plan.presenter is not None and not plan.presenter.is_alone:
            place = plan.presenter.rect
            assert not slide.overlaps(place), options
            assert place.right <= width, options
            assert place.bottom <= height, options
            sides = (place.x, place.y, place.width, place.height)
            assert all(side % 2 == 0 for side in sides), options


def test_a_presenter_may_cover_the_slide_where_that_is_asked():
    options = LectureOptions(cover=True)

    layout = lay_out(options, 16 / 9)

    assert layout.slide_rect(1600, 900) == Rect(0, 0, 1280, 720)
    assert layout.presenter.rect.overlaps(layout.slide_rect(1600, 900))


def test_the_presenter_stands_where_it_was_asked():
    places = {
        corner: lay_out(LectureOptions(corner=corner), 16 / 9).presenter.rect
        for corner in ("tl", "tr", "bl", "br")
    }

    assert places["tl"].x < 40 < 1200 < places["tr"].right
    assert places["tl"].y == places["tr"].y < places["bl"].y == places["br"].y


def test_a_slide_keeps_its_shape():
    rect = fit(4 / 3, Rect(0, 0, 1280, 720))

    assert (rect.width, rect.height) == (960, 720)
    assert rect.x == 160


def test_the_board_shows_the_slide_in_its_place_and_the_background_around_it():
    options = LectureOptions(colour="#102030", size_px=360)
    layout = lay_out(options, 16 / 9)
    slide = np.full((90, 160, 3), (200, 10, 10), np.uint8)

    board = draw_board(options, layout, slide, None)

    rect = layout.slide_rect(160, 90)
    assert tuple(board.full[rect.y + 3, rect.x + 3]) == (200, 10, 10)
    assert tuple(board.empty[rect.y + 3, rect.x + 3]) == (0x10, 0x20, 0x30)
    half = board.at(0.5)[rect.y + 3, rect.x + 3]
    assert np.allclose(half, (108, 21, 29), atol=1)


@pytest.mark.parametrize("is_round", [True, False])
def test_only_the_presenters_rectangle_changes(is_round):
    converter = PlaneConverter()
    canvas = converter.planes(np.full((120, 200, 3), 40, np.uint8))
    before = canvas.copy()
    rect = Rect(60, 20, 64, 64)
    mask = presenter_mask(64, 64, is_round=is_round)

    Overlay(canvas, rect, mask).put(converter.planes(np.full((64, 64, 3), 220, np.uint8)))

    luma, old = split(canvas)[0], split(before)[0]
    changed = np.argwhere(luma != old)
    assert changed.min(axis=0).tolist() >= [20, 60]
    assert changed.max(axis=0).tolist() <= [83, 123]
    assert luma[52, 92] == converter.planes(np.full((2, 2, 3), 220, np.uint8))[0, 0]
    assert luma[20, 60] == old[20, 60], "the very corner is cut off"
    edge = luma[52, 60]
    assert edge > old[52, 60]


def test_a_mask_has_soft_edges_and_a_whole_middle():
    mask = presenter_mask(100, 100, is_round=True)

    assert mask[50, 50] == 1.0
    assert mask[0, 0] == 0.0
    assert 0 < mask[50, 0] < 1 or 0 < mask[14, 14] < 1
    assert mask.mean() == pytest.approx(np.pi / 4, abs=0.01)


def test_the_small_label_lies_beside_the_slide():
    settings = EngineSettings()
    for name in ("corner", "side", "off"):
        options = LectureOptions(layout=name)
        layout = planned_layout(options, 16 / 9, settings)
        slide = layout.slide_rect(1600, 900)
        free_px = max(slide.y, layout.height_px - slide.bottom)
        label = VisibleLabel(layout.width_px, layout.height_px, 25)
        small_px = label._small.size[1]
        assert free_px >= small_px or slide.x >= label._small.size[0]
