"""The built-in animator: bends and paints one photo on the processor, no download, no GPU."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import numpy as np
from numpy.typing import NDArray

from engine.animators.animator import MemoryNeed, Scene
from engine.animators.lite.motion import MotionStyle, at_rest, plan_motion
from engine.animators.lite.painter import FramePainter
from engine.animators.lite.resample import FineTexture
from engine.animators.lite.rig import build_rig
from engine.errors import Canceled

BASE_MB, MB_PER_MEGAPIXEL = 320.0, 110.0
"""Peak memory of the whole render process with encoder, sync score and labels: 292-330 MB at
512 x 512 pixels, 394 MB at 1024 x 1024, 505 MB at 1024 x 1816 (docs/performance.md)."""


class LiteAnimator:
    """Draws frames from a rig of the portrait and a plan of the speech."""

    name = "lite"

    def need(self, width_px: int, height_px: int, num_frames: int) -> MemoryNeed:
        """Peak memory for a video of this size."""
        megapixels = width_px * height_px / 1e6
        return MemoryNeed(vram_mb=0.0, rss_mb=BASE_MB + MB_PER_MEGAPIXEL * megapixels)

    def animate(self, scene: Scene, canceled: Event) -> Iterator[NDArray[np.uint8]]:
        """Yield the frames in order.

        Raises:
            Canceled: soon after `canceled` was set.
        """
        painter = prepare(scene)
        window = 2 * max(1, scene.threads)
        with ThreadPoolExecutor(max_workers=max(1, scene.threads)) as pool:
            waiting: deque[Future[NDArray[np.uint8]]] = deque()
            try:
                for frame_index in range(scene.num_frames + window):
                    if canceled.is_set():
                        raise Canceled
                    if frame_index < scene.num_frames:
                        waiting.append(pool.submit(painter.paint, frame_index))
                    if waiting and (len(waiting) > window or frame_index >= scene.num_frames):
                        yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()


def prepare(scene: Scene) -> FramePainter:
    """Build the rig of the portrait and the plan of the clip."""
    rig = build_rig(scene.canvas, scene.face)
    style = MotionStyle(
        photo_smile=rig.photo_smile,
        brow_share=rig.brow_share,
        dynamic_scale=scene.dynamic_scale,
        motion_scale=scene.motion_scale,
    )
    plan = plan_motion(scene.curves, float(scene.fps), scene.seed, style)
    if scene.rest_s > 0:
        plan = at_rest(plan, round(scene.rest_s * scene.fps))
    return FramePainter(rig, plan, FineTexture.of(rig.texture))
