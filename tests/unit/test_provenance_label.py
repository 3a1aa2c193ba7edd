"""The visible label: read back from pixels, sizes and times, and what it keeps free."""

from fractions import Fraction

import cv2
import numpy as np
import pytest
from lite_scenes import read_picture

from engine.errors import EngineError, ErrorCode
from engine.media.caption_drawer import caption_zone
from engine.media.patch import Patch
from engine.provenance.marks import FrameMarks
from engine.provenance.reader import find_label
from engine.provenance.visible import Box, VisibleLabel, letter_heights_px, mouth_room
from engine.provenance.words import label_languages, words_in
from engine.settings import EngineSettings

FPS = Fraction(25)
LATE = 100  # after the first three seconds


@pytest.fixture(scope="module")
def photo():
    return read_picture("vangogh_self.jpg")


def resized(photo, width, height):
    return np.ascontiguousarray(cv2.resize(photo, (width, height)))


@pytest.mark.parametrize("language", label_languages())
@pytest.mark.parametrize(("width", "height"), [(256, 256), (512, 768), (1280, 720)])
def test_label_is_read_back_in_its_language_and_size(photo, language, width, height):
    frame = resized(photo, width, height)
    label = VisibleLabel(width, height, FPS, language)

    early, late = find_label(label.draw(frame, 0)), find_label(label.draw(frame, LATE))

    assert early is not None
    assert (early.language, early.is_large) == (language, True)
    assert late is not None
    assert (late.language, late.is_large) == (language, False)


@pytest.mark.parametrize("name", ["vangogh_self.jpg", "astronaut_collins.jpg", "noface_coffee.jpg"])
@pytest.mark.parametrize("side", [256, 512, 900])
def test_no_label_is_seen_where_none_was_drawn(name, side):
    assert find_label(resized(read_picture(name), side, side)) is None


@pytest.mark.parametrize("side", [256, 512, 1024])
def test_letters_are_as_high_as_the_measures_ask_for(side):
    """Counted in drawn pixels: rows of a frame that the letters of the first seconds change."""
    black = np.zeros((side, side, 3), np.uint8)

    drawn = VisibleLabel(side, side, FPS, "zh").draw(black, 0)

    rows = np.flatnonzero((drawn[..., 0] > 128).any(axis=1))
    assert rows[-1] - rows[0] + 1 >= 0.05 * side
    assert letter_heights_px(side, side)[0] >= 0.05 * side


def test_label_is_large_for_three_seconds_and_there_to_the_end(photo):
    frame = resized(photo, 256, 256)
    label = VisibleLabel(256, 256, FPS)

    sizes = [find_label(label.draw(frame, index)) for index in (0, 74, 75, 100_000)]

    assert [seen.is_large for seen in sizes] == [True, True, False, False]


def test_frame_given_is_not_changed_and_nothing_outside_of_the_box_is(photo):
    frame = resized(photo, 512, 512)
    before = frame.copy()
    label = VisibleLabel(512, 512, FPS)

    drawn = label.draw(frame, 0)

    changed = np.argwhere((drawn != before).any(axis=-1))
    box = label.box
    assert np.array_equal(frame, before)
    assert changed[:, 0].min() >= box.y
    assert changed[:, 0].max() < box.y + box.height
    assert changed[:, 1].min() >= box.x
    assert changed[:, 1].max() < box.x + box.width


def test_label_covers_neither_mouth_nor_captions(astronaut):
    canvas, face = astronaut
    height, width = canvas.shape[:2]
    captions = Box(*caption_zone(width, height))

    label = VisibleLabel(width, height, FPS, "ar", [mouth_room(face), captions])

    assert label.box.shared_with(mouth_room(face)) == 0
    assert label.box.shared_with(captions) == 0
    assert label.box.y < height / 2


def test_label_takes_the_corner_that_is_free():
    lower_right, lower_left = Box(300, 300, 212, 212), Box(0, 300, 212, 212)

    assert VisibleLabel(512, 512, FPS).box.x > 200
    assert VisibleLabel(512, 512, FPS, keep_free=[lower_right]).box.x < 100
    assert VisibleLabel(512, 512, FPS, keep_free=[lower_right, lower_left]).box.y < 100


def test_mouth_room_holds_the_lips_and_some_of_the_chin(painter):
    _, face = painter
    room = mouth_room(face)
    lips = face.landmarks[[61, 291, 0, 17], :2]

    assert (lips[:, 0] > room.x).all()
    assert (lips[:, 0] < room.x + room.width).all()
    assert (lips[:, 1] > room.y).all()
    assert (lips[:, 1] < room.y + room.height).all()
    assert room.width * room.height < face.box[2] * face.box[3]


@pytest.mark.parametrize(
    ("tag", "language"), [("zh_cn", "zh"), ("es-mx", "es"), ("AR", "ar"), ("de", "en"), ("", "en")]
)
def test_language_of_the_page_gives_the_words(tag, language):
    assert words_in(tag).language == language


def test_label_survives_a_strong_compression_and_half_the_size(photo):
    frame = resized(photo, 720, 720)
    drawn = VisibleLabel(720, 720, FPS, "fr").draw(frame, LATE)

    half = cv2.resize(drawn, (480, 480), interpolation=cv2.INTER_AREA)
    _, packed = cv2.imencode(".jpg", half, [cv2.IMWRITE_JPEG_QUALITY, 35])
    seen = find_label(cv2.imdecode(packed, cv2.IMREAD_COLOR))

    assert seen is not None
    assert seen.language == "fr"


def test_patch_blends_like_exact_arithmetic():
    rng = np.random.default_rng(1)
    rgba = rng.integers(0, 256, (20, 30, 4), np.uint8)
    rgba[:5, :, 3], rgba[5:10, :, 3] = 0, 255
    frame = rng.integers(0, 256, (60, 60, 3), np.uint8)

    blended = Patch.of(rgba, 10, 12).blended(frame)[10:30, 12:42]

    weight = rgba[..., 3:] / 255
    exact = rgba[..., :3] * weight + frame[10:30, 12:42] * (1 - weight)
    assert np.abs(blended - exact).max() <= 1.5
    assert np.array_equal(blended[:5], frame[10:15, 12:42])
    assert np.array_equal(blended[5:10], rgba[5:10, :, :3])


def test_label_can_be_switched_off_at_home_only(tmp_path):
    off = EngineSettings(data_dir=tmp_path, visible_label=False)

    assert FrameMarks.of(256, 256, FPS, off).facts["visible_label"] is None
    for mode in ("accounts", "anonymous"):
        with pytest.raises(ValueError, match="always carry the visible label"):
            EngineSettings(data_dir=tmp_path, public=mode, visible_label=False)


def test_watermark_of_a_package_is_drawn_and_named(tmp_path, photo):
    settings = EngineSettings(data_dir=tmp_path, watermark="sample_watermark:PARITY")
    frame = resized(photo, 256, 256)

    marks = FrameMarks.of(256, 256, FPS, settings)
    drawn = marks.draw(frame, 0)

    assert marks.facts["watermark"] == "parity 1"
    assert marks.watermark is not None
    assert not marks.watermark.find(frame)
    assert marks.watermark.find(marks.watermark.embed(frame, 0))
    assert find_label(drawn) is not None


@pytest.mark.parametrize("place", ["nothing_there:X", "sample_watermark:NOT", "json:dumps", ":"])
def test_watermark_that_cannot_be_loaded_is_refused_in_words(tmp_path, place):
    with pytest.raises(EngineError) as caught:
        FrameMarks.of(256, 256, FPS, EngineSettings(data_dir=tmp_path, watermark=place))

    assert caught.value.code is ErrorCode.BAD_OPTION
