"""Parts of a video are found by frame number, and crops show the right place."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf

from engine.media.video import VideoWriter
from engine.media.video_stretches import Stretch, read_planes, spread_stretches

FPS = Fraction(25)
NUM_FRAMES = 230  # three keyframe intervals


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each frame's grey level is its number; a red square stands at x 40-59, y 20-39."""
    folder = tmp_path_factory.mktemp("video")
    sf.write(folder / "s.wav", np.zeros(int(NUM_FRAMES / 25 * 16000)), 16000, subtype="PCM_16")
    target = folder / "numbered.mp4"
    with VideoWriter(target, 90, 62, FPS, folder / "s.wav", crf=1) as writer:
        for index in range(NUM_FRAMES):
            frame = np.full((62, 90, 3), index, np.uint8)
            frame[20:40, 40:60] = (200, 0, 0)
            writer.write(frame)
    return target


def test_stretches_start_and_end_where_asked(numbered: Path):
    stretches = [Stretch(0, 3), Stretch(98, 5), Stretch(227, 10)]

    frames = list(read_planes(numbered, stretches, FPS))

    assert [index for index, _ in frames] == [0, 1, 2, 98, 99, 100, 101, 102, 227, 228, 229]
    for index, planes in frames:
        assert planes.rgb()[5, 5].mean() == pytest.approx(index, abs=6)


def test_every_second_frame_counts_from_the_start_of_the_stretch(numbered: Path):
    frames = read_planes(numbered, [Stretch(101, 6)], FPS, every=2)

    assert [index for index, _ in frames] == [101, 103, 105]


@pytest.mark.parametrize(
    ("x", "y", "side"), [(50, 30, 40), (5, 5, 30), (88, 60, 31), (45, 31, 400)]
)
def test_crop_is_the_same_as_that_part_of_the_whole_frame(
    numbered: Path, x: float, y: float, side: float
):
    (_, planes), *_ = read_planes(numbered, [Stretch(120, 1)], FPS)

    crop, left, top = planes.crop_rgb(x, y, side)

    height, width = crop.shape[:2]
    assert left <= x <= left + width + 3
    assert top <= y <= top + height + 3
    whole = planes.rgb()[top : top + height, left : left + width]
    assert np.abs(crop.astype(int) - whole).max() <= 3


def test_short_videos_are_read_whole_and_long_ones_in_parts():
    assert spread_stretches(500, 1500, 6) == (Stretch(0, 500),)

    parts = spread_stretches(100_000, 1500, 6)

    assert len(parts) == 6
    assert sum(part.count for part in parts) == 1500
    assert parts[0].first == 0
    assert parts[-1].first + parts[-1].count == 100_000
    assert all(a.first + a.count <= b.first for a, b in pairwise(parts))
