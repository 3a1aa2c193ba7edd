"""Decides which part of a photo is shown, and lays it on a canvas of the output's size.

Nothing is ever stretched: a window of the asked shape is placed over the photo, moved inside it
as far as possible, and what still lies outside is filled softly. Rules are pure functions of
numbers; pixels are touched in `frame_canvas` alone.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.contracts import Aspect, Framing, RenderOptions
from engine.face.geometry import Face
from engine.face.pose import level_bounds, oval_bounds
from engine.media.image import parse_background

# Width over height of each aspect but `source`.
RATIOS: dict[Aspect, float] = {"1:1": 1.0, "9:16": 9 / 16, "16:9": 16 / 9}
# Side of the square window in face heights (forehead to chin), and by how much the short side
# of another shape is shorter than that.
WINDOW_SIDES: dict[Framing, float] = {"bust": 2.5, "face": 1.7}
OBLONG_SHARE = 0.88
# Where the middle of the face stands in the window, from the top: hair needs more room than chin.
FACE_LEVEL = 0.47
# A window larger than the photo is first made smaller, to this share and never below these face
# heights, and only then padded.
MIN_WINDOW_SHARE = 0.75
MIN_WINDOW_FACES = 1.35
# `full` keeps the whole photo up to this shape (cinema's 2.39:1); longer strips are cropped
# around the face, because a 300 x 2400 photo would become a video of 512 x 4096.
MAX_RATIO = 2.4
# Filling around the photo, in shares of the canvas's short side. It is made on a copy so many
# times smaller, because nothing fine is left in it.
FILL_BLUR = 0.06
FILL_FEATHER = 0.02
FILL_SHRINK = 8
# A blurred copy of the photo behind it is darkened, so that the photo stands out.
BACKDROP_BRIGHTNESS = 0.55


@dataclass(frozen=True)
class Window:
    """A rectangle in whole pixels of the photo; it may reach outside."""

    x: int
    y: int
    width: int
    height: int


def frame_canvas(
    pixels: NDArray[np.uint8],
    face: Face,
    *,
    size_px: int,
    framing: Framing,
    aspect: Aspect,
    background: str,
) -> tuple[NDArray[np.uint8], Face]:
    """Lay the photo on a canvas.

    Args:
        pixels: H x W x 3, uint8, RGB, upright.
        face: the face that speaks, in pixels of the photo.
        size_px: short side of the canvas in pixels.
        framing: `full` keeps the whole photo, `bust` head and shoulders, `face` the head.
        aspect: shape of the canvas; `source` = of the photo for `full`, square else.
        background: colour around the photo; the default colour means a blurred copy instead.

    Returns:
        The canvas, uint8, RGB, both sides even, and the face in its pixels.

    Raises:
        InputError: `background` is not a colour.
    """
    height_px, width_px = pixels.shape[:2]
    window = choose_window(width_px, height_px, face, framing, aspect)
    canvas_size = canvas_shape(RATIOS.get(aspect, window.width / window.height), size_px)
    plain = _plain(background)
    canvas = _draw(pixels, window, canvas_size, plain, is_backdrop=framing == "full")
    return canvas, _face_on_canvas(face, window, canvas_size)


def frame_window(
    pixels: NDArray[np.uint8],
    face: Face,
    window: Window,
    *,
    size_px: int,
    aspect: Aspect,
    background: str,
) -> tuple[NDArray[np.uint8], Face]:
    """Lay a part of the photo that was chosen elsewhere on a canvas; see `frame_canvas`.

    A canvas of another shape shows more of the photo around the window.
    """
    ratio = RATIOS.get(aspect, window.width / window.height)
    shown = window if aspect == "source" else widened(window, ratio)
    canvas_size = canvas_shape(ratio, size_px)
    canvas = _draw(pixels, shown, canvas_size, _plain(background), is_backdrop=False)
    return canvas, _face_on_canvas(face, shown, canvas_size)


def expected_shape(options: RenderOptions, width_px: int, height_px: int) -> tuple[int, int]:
    """Width and height of the canvas for a photo of this size, before its face is known."""
    is_whole = options.framing == "full" and options.expand_ratio is None
    own = min(max(width_px / height_px, 1 / MAX_RATIO), MAX_RATIO) if is_whole else 1.0
    return canvas_shape(RATIOS.get(options.aspect, own), options.output_size_px)


def _plain(background: str) -> tuple[int, int, int] | None:
    """The colour around the photo; None = made from the photo."""
    return None if background == RenderOptions().background else parse_background(background)


def choose_window(
    width_px: int, height_px: int, face: Face, framing: Framing, aspect: Aspect
) -> Window:
    """The part of a `width_px` x `height_px` photo to show, and perhaps some room around it."""
    if framing == "full":
        window = _strip_around(face, width_px, height_px)
        return window if aspect == "source" else widened(window, RATIOS[aspect])
    ratio = RATIOS.get(aspect, 1.0)
    (x, y), (_, face_px), _ = level_bounds(face.landmarks)
    short = WINDOW_SIDES[framing] * face_px * (1.0 if ratio == 1.0 else OBLONG_SHARE)
    width, height = short * max(ratio, 1.0), short / min(ratio, 1.0)
    fitting = min(width_px / width, height_px / height, 1.0)
    share = max(fitting, MIN_WINDOW_SHARE, min(MIN_WINDOW_FACES * face_px / short, 1.0))
    return Window(
        x=_placed(x - 0.5 * width * share, width * share, width_px),
        y=_placed(y - FACE_LEVEL * height * share, height * share, height_px),
        width=max(round(width * share), 2),
        height=max(round(height * share), 2),
    )


def canvas_shape(ratio: float, size_px: int) -> tuple[int, int]:
    """Width and height for width / height = `ratio`, both even, the shorter one `size_px`."""
    short = max(size_px // 2 * 2, 2)
    long = 2 * round(short * max(ratio, 1 / ratio) / 2)
    return (short, long) if ratio <= 1 else (long, short)


def _strip_around(face: Face, width_px: int, height_px: int) -> Window:
    """The whole photo, or the part of a long strip around the face."""
    width = min(width_px, round(MAX_RATIO * height_px))
    height = min(height_px, round(MAX_RATIO * width_px))
    left, top, face_width, face_height = face.box
    return Window(
        x=_placed(left + face_width / 2 - 0.5 * width, width, width_px),
        y=_placed(top + face_height / 2 - FACE_LEVEL * height, height, height_px),
        width=max(width, 1),
        height=max(height, 1),
    )


def widened(window: Window, ratio: float) -> Window:
    """The smallest window of a shape with all of `window` in its middle."""
    width = max(window.width, round(window.height * ratio))
    height = max(window.height, round(window.width / ratio))
    return Window(
        window.x - (width - window.width) // 2,
        window.y - (height - window.height) // 2,
        width,
        height,
    )


def _placed(start: float, length: float, limit: int) -> int:
    """Move a stretch inside 0 .. `limit`; a longer one is centred on it."""
    if length >= limit:
        return round((limit - length) / 2)
    return round(min(max(start, 0.0), limit - length))


def _draw(
    pixels: NDArray[np.uint8],
    window: Window,
    canvas_size: tuple[int, int],
    plain: tuple[int, int, int] | None,
    *,
    is_backdrop: bool,
) -> NDArray[np.uint8]:
    """Resample the window; what lies outside the photo is filled.

    Args:
        pixels: the photo.
        window: what to show.
        canvas_size: width and height of the result.
        plain: colour of the filling; None = made from the photo.
        is_backdrop: fill with a dark, blurred copy of the photo behind it, else with a soft
            continuation of its edges.
    """
    height_px, width_px = pixels.shape[:2]
    left, right = max(window.x, 0), min(window.x + window.width, width_px)
    top, bottom = max(window.y, 0), min(window.y + window.height, height_px)
    visible = pixels[top:bottom, left:right]
    scale_x, scale_y = canvas_size[0] / window.width, canvas_size[1] / window.height
    x0, x1 = round((left - window.x) * scale_x), round((right - window.x) * scale_x)
    y0, y1 = round((top - window.y) * scale_y), round((bottom - window.y) * scale_y)
    photo = _resized(visible, x1 - x0, y1 - y0)
    margins = (y0, canvas_size[1] - y1, x0, canvas_size[0] - x1)
    if max(margins) == 0:
        return photo
    if plain is not None:
        canvas = np.empty((canvas_size[1], canvas_size[0], 3), np.uint8)
        canvas[:] = plain
        canvas[y0:y1, x0:x1] = photo
        return canvas
    if is_backdrop:
        canvas = _backdrop(photo, canvas_size)
        canvas[y0:y1, x0:x1] = photo
        return canvas
    return _continued(photo, margins)


def _backdrop(photo: NDArray[np.uint8], canvas_size: tuple[int, int]) -> NDArray[np.uint8]:
    """A blurred, darkened copy of the photo that covers the canvas."""
    width, height = canvas_size
    photo_height, photo_width = photo.shape[:2]
    cover = max(width / photo_width, height / photo_height)
    shown_width, shown_height = round(width / cover), round(height / cover)
    left, top = (photo_width - shown_width) // 2, (photo_height - shown_height) // 2
    middle = photo[top : top + shown_height, left : left + shown_width]
    soft = _soft(middle, width, height, FILL_BLUR * min(canvas_size))
    return np.asarray(cv2.convertScaleAbs(soft, alpha=BACKDROP_BRIGHTNESS), dtype=np.uint8)


def _continued(photo: NDArray[np.uint8], margins: tuple[int, int, int, int]) -> NDArray[np.uint8]:
    """The photo with its edges running on around it, blurred, and no visible border between."""
    sharp = np.asarray(cv2.copyMakeBorder(photo, *margins, cv2.BORDER_REPLICATE), dtype=np.uint8)
    height, width = sharp.shape[:2]
    soft = _soft(sharp, width, height, FILL_BLUR * min(width, height))
    feather = max(round(FILL_FEATHER * min(width, height)), 1)
    top, bottom, left, right = (margin + feather if margin else 0 for margin in margins)
    inside = np.zeros((height, width), np.float32)
    inside[top : height - bottom, left : width - right] = 1.0
    weight = cv2.GaussianBlur(inside, (0, 0), feather / 2)[:, :, None]
    mixed = sharp * weight + soft * (np.float32(1.0) - weight)
    return np.asarray(np.round(mixed), dtype=np.uint8)


def _soft(pixels: NDArray[np.uint8], width: int, height: int, sigma_px: float) -> NDArray[np.uint8]:
    """Resize and blur by `sigma_px` of the result."""
    small = _resized(pixels, max(width // FILL_SHRINK, 1), max(height // FILL_SHRINK, 1))
    blurred = cv2.GaussianBlur(small, (0, 0), max(sigma_px / FILL_SHRINK, 0.5))
    large = cv2.resize(blurred, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(large, dtype=np.uint8)


def _resized(pixels: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Area-averaged when it becomes smaller, Lanczos when it becomes larger."""
    is_smaller = width * height < pixels.shape[0] * pixels.shape[1]
    how = cv2.INTER_AREA if is_smaller else cv2.INTER_LANCZOS4
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=how), dtype=np.uint8)


def _face_on_canvas(face: Face, window: Window, canvas_size: tuple[int, int]) -> Face:
    """The face in pixels of the canvas; both scales differ by rounding alone."""
    scale = np.array(
        [canvas_size[0] / window.width, canvas_size[1] / window.height, 0.0], dtype=np.float32
    )
    scale[2] = scale[:2].mean()
    corner = np.array([window.x, window.y, 0], dtype=np.float32)
    landmarks = (face.landmarks - corner) * scale
    return replace(face, landmarks=landmarks, box=oval_bounds(landmarks))
