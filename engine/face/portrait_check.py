"""Says whether a picture will do as a portrait, and what to expect of it.

A verdict blocks, a warning never does; both are words of `ErrorCode`, so that callers and
translations can rely on them.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.contracts import FaceFound, PortraitVerdict
from engine.errors import ErrorCode
from engine.face.detector import FaceFinder
from engine.face.geometry import Face
from engine.face.mouth_cover import lips_wander
from engine.face.photo_quality import measure_quality
from engine.face.pose import level_bounds
from engine.face.topology import OUTER_LIPS

# Below this the mouth has too few pixels to be worth opening. Where the face fills a good part
# of a small picture nothing closer can be cropped, and landmarks still hold down to 20 px.
MIN_FACE_PX = 50
MIN_FACE_PX_SMALL_PICTURE = 20
FILLED_SHARE = 1 / 6
# Below this the video looks soft.
GOOD_FACE_PX = 150
# The hidden side of a face is not invented.
MAX_YAW_DEG = 35
GOOD_YAW_DEG = 25
# Share of the landmarks outside the picture: a chin touching the edge against half a face.
MAX_SHARE_OUTSIDE = 0.2
GOOD_SHARE_OUTSIDE = 0.01
# See `PhotoQuality`; each stands between the pictures it should and should not touch.
MIN_SHARPNESS = 0.12
MIN_BRIGHTEST = 30.0
MAX_BURNT_OUT_SHARE = 0.4
# White paper with drawn lines is not overexposed: its lines are black.
MIN_DARKEST_BURNT_OUT = 30.0
MAX_COVERED_STRUCTURE = 0.25
MAX_COVERED_LIPS_DISTANCE = 3.5
# See `lips_wander`. Uncovered faces of this size and turn, in photographs and paintings with and
# without beards, came to .031 at most; hands, microphones and patterned masks laid over eight of
# them to .024 to .086, 53 of 56 above the limit: all masks and hands, 13 of 16 microphones. Noise
# alone reaches it on smaller faces.
MAX_LIPS_WANDER = 0.0325
SURE_FACE_PX = 80
MIN_PHOTO_GRAIN = 0.4


def judge_portrait(
    pixels: NDArray[np.uint8],
    faces: Sequence[Face],
    face_index: int | None = None,
    force: bool = False,
    finder: FaceFinder | None = None,
) -> PortraitVerdict:
    """Choose the face that speaks and judge it.

    Args:
        pixels: H x W x 3, uint8, RGB, upright.
        faces: largest first, as `FaceFinder` gives them.
        face_index: which of `faces` should speak; None = the largest.
        force: let small and turned faces pass with a warning.
        finder: looks for things before the mouth; None = they are not looked for.

    Returns:
        The verdict; `values` holds what the sentences of the verdict and the warnings need.
    """
    height_px, width_px = pixels.shape[:2]
    picture: dict[str, Any] = {
        "faces": tuple(_described(face) for face in faces),
        "width_px": width_px,
        "height_px": height_px,
    }
    if not faces:
        return PortraitVerdict(**picture, verdict=ErrorCode.NO_FACE)
    if face_index is not None and not 0 <= face_index < len(faces):
        values = {"face": face_index, "count": len(faces), "last": len(faces) - 1}
        return PortraitVerdict(**picture, verdict=ErrorCode.FACE_NUMBER_WRONG, values=values)
    chosen = face_index or 0
    face = faces[chosen]
    blocks, warnings = _judge_place(face, width_px, height_px)
    if force:
        forgiven = [code for code in blocks if code in _FORGIVEN_BY_FORCE]
        blocks, warnings = [c for c in blocks if c not in forgiven], forgiven + warnings
    if len(faces) > 1 and face_index is None:
        warnings.insert(0, ErrorCode.SEVERAL_FACES)
    if not blocks:
        warnings += _judge_photo(pixels, face, finder)
    return PortraitVerdict(
        **picture,
        chosen=chosen,
        verdict=blocks[0] if blocks else "ok",
        warnings=tuple(warnings),
        values={
            "face_px": round(_height_px(face)),
            "need_px": _needed_px(face, width_px, height_px),
            "yaw_deg": round(abs(face.yaw_deg)),
            "count": len(faces),
        },
    )


_FORGIVEN_BY_FORCE = (ErrorCode.FACE_TOO_SMALL, ErrorCode.FACE_TURNED)


def _judge_place(
    face: Face, width_px: int, height_px: int
) -> tuple[list[ErrorCode], list[ErrorCode]]:
    """What size, turn and edges of the picture block, and what they warn of."""
    blocks: list[ErrorCode] = []
    warnings: list[ErrorCode] = []

    def note(code: ErrorCode, is_bad: bool, is_poor: bool) -> None:
        if is_bad:
            blocks.append(code)
        elif is_poor:
            warnings.append(code)

    face_px = _height_px(face)
    is_too_small = face_px < _needed_px(face, width_px, height_px)
    outside = _is_outside(face, width_px, height_px)
    mouth_is_cut = bool(outside[list(OUTER_LIPS)].any())
    share = float(outside.mean())
    yaw_deg = abs(face.yaw_deg)
    note(ErrorCode.FACE_TOO_SMALL, is_too_small, is_poor=False)
    note(
        ErrorCode.FACE_CUT_OFF,
        mouth_is_cut or share > MAX_SHARE_OUTSIDE,
        share > GOOD_SHARE_OUTSIDE,
    )
    note(ErrorCode.FACE_TURNED, yaw_deg > MAX_YAW_DEG, yaw_deg > GOOD_YAW_DEG)
    is_coarse = not is_too_small and face_px < GOOD_FACE_PX
    note(ErrorCode.LOW_RESOLUTION, is_bad=False, is_poor=is_coarse)
    return blocks, warnings


def _judge_photo(
    pixels: NDArray[np.uint8], face: Face, finder: FaceFinder | None
) -> list[ErrorCode]:
    """What sharpness, light and things before the mouth warn of."""
    quality = measure_quality(pixels, face)
    is_burnt_out = (
        quality.burnt_out_share > MAX_BURNT_OUT_SHARE and quality.darkest > MIN_DARKEST_BURNT_OUT
    )
    is_covered = (
        quality.mouth_structure < MAX_COVERED_STRUCTURE
        and quality.lips_distance < MAX_COVERED_LIPS_DISTANCE
    )
    is_clear = quality.sharpness >= MIN_SHARPNESS and quality.grain >= MIN_PHOTO_GRAIN
    if finder is not None and is_clear and not is_covered and _is_large_and_ahead(face):
        wander = finder.recall(face, partial(lips_wander, pixels, face, finder))
        is_covered = wander > MAX_LIPS_WANDER
    found = {
        ErrorCode.PHOTO_BLURRED: quality.sharpness < MIN_SHARPNESS,
        ErrorCode.PHOTO_TOO_DARK: quality.brightest < MIN_BRIGHTEST,
        ErrorCode.PHOTO_OVEREXPOSED: is_burnt_out,
        ErrorCode.MOUTH_COVERED: is_covered,
    }
    return [code for code, is_found in found.items() if is_found]


def _is_large_and_ahead(face: Face) -> bool:
    """Whether the lips of an uncovered face would be placed surely."""
    return _height_px(face) >= SURE_FACE_PX and abs(face.yaw_deg) <= GOOD_YAW_DEG


def _height_px(face: Face) -> float:
    """Forehead to chin, however the head is tilted."""
    return level_bounds(face.landmarks)[1][1]


def _needed_px(face: Face, width_px: int, height_px: int) -> int:
    is_filled = _height_px(face) >= FILLED_SHARE * min(width_px, height_px)
    return MIN_FACE_PX_SMALL_PICTURE if is_filled else MIN_FACE_PX


def _is_outside(face: Face, width_px: int, height_px: int) -> NDArray[np.bool_]:
    x, y = face.landmarks[:, 0], face.landmarks[:, 1]
    outside: NDArray[np.bool_] = (x < 0) | (y < 0) | (x > width_px) | (y > height_px)
    return outside


def _described(face: Face) -> FaceFound:
    x, y, width, height = (round(value) for value in face.box)
    return FaceFound(
        box=(x, y, width, height),
        score=round(face.score, 3),
        yaw_deg=round(face.yaw_deg, 1),
        pitch_deg=round(face.pitch_deg, 1),
        roll_deg=round(face.roll_deg, 1),
    )
