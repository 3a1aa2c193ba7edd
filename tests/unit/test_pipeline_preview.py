"""The newest frame of a video in the making."""

import numpy as np
from PIL import Image

from engine.pipeline.preview import LIVE_EVERY_S, LIVE_SIDE_PX, LivePicture


def frame(level: int) -> np.ndarray:
    return np.full((1024, 576, 3), level, np.uint8)


def test_the_first_frame_is_there_at_once_and_then_one_now_and_then(tmp_path):
    now = [0.0]
    path = tmp_path / "live.jpg"
    live = LivePicture(path, clock=lambda: now[0])

    live.offer(frame(10))
    with Image.open(path) as picture:
        assert max(picture.size) == LIVE_SIDE_PX
        assert picture.getpixel((5, 5))[0] < 20
    now[0] = LIVE_EVERY_S / 2
    live.offer(frame(200))
    with Image.open(path) as picture:
        assert picture.getpixel((5, 5))[0] < 20
    now[0] = LIVE_EVERY_S * 1.01
    live.offer(frame(200))

    with Image.open(path) as picture:
        assert picture.getpixel((5, 5))[0] > 190
    assert [entry.name for entry in tmp_path.iterdir()] == ["live.jpg"]


def test_it_is_gone_once_the_video_is_there(tmp_path):
    live = LivePicture(tmp_path / "live.jpg")
    live.remove()
    live.offer(frame(10))

    live.remove()

    assert not list(tmp_path.iterdir())
