"""What shows between open lips: cavity, tongue, lower teeth, upper teeth, in the photo's light."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.animators.lite.lips import LipCurves, edges_at
from engine.animators.lite.resample import look_up_or_zero

LOWER_TEETH_FOLLOW = 0.98
TONGUE_FOLLOW = 0.48
TONGUE_RISE_MM = 5.0
CLENCH_MM = 2.4
MIN_BLUR_PX = 0.5
SLIT_LIGHT, LIT_GAP_MM = 0.38, 4.5
"""Lips that just part show a dark line, not teeth: this share of the light gets in through a slit,
all of it from this opening on."""
NEAR_LIPS = 0.9
"""Teeth that a hiss shows stand right behind the lips: so much less of an opening lights them."""
LIP_SHADE, SHADE_TAKEN = 0.5, 0.6
"""Shadow of the upper lip, and the share that lips drawn back from the teeth take of it."""


@dataclass(frozen=True)
class MouthPose:
    """What the parts inside the mouth do in one frame.

    Attributes:
        jaw_mm: how far the chin went down.
        teeth: teeth together and shown, 0..1.
        tongue: tip of the tongue raised, 0..1.
    """

    jaw_mm: float
    teeth: float
    tongue: float


@dataclass(frozen=True)
class Layer:
    """One part of the interior, drawn once in the pixels of the picture.

    Attributes:
        patch: h x w x 4, uint8, RGBA, colours not multiplied by alpha.
        left, top: where it lies in the picture, pixels.
    """

    patch: NDArray[np.uint8]
    left: int
    top: int

    def blurred(self, sigma_px: float) -> "Layer":
        """The layer as soft as a picture whose detail is this coarse."""
        if sigma_px < MIN_BLUR_PX:
            return self
        flat = self.patch.astype(np.float32)
        flat[..., :3] *= flat[..., 3:] / 255
        soft = cv2.GaussianBlur(flat, (0, 0), sigma_px)
        colour = soft[..., :3] * 255 / np.maximum(soft[..., 3:], 1)
        patch = np.concatenate([np.clip(colour, 0, 255), soft[..., 3:]], axis=-1)
        return Layer(np.rint(patch).astype(np.uint8), self.left, self.top)

    def sample(
        self, unmoved: NDArray[np.float32], shift_px: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Colour (h x w x 3) and alpha (h x w x 1, 0..1) of the layer moved by `shift_px`."""
        at = unmoved - (shift_px + np.array([self.left, self.top], np.float32))
        found = look_up_or_zero(self.patch, at).astype(np.float32)
        return found[..., :3], found[..., 3:] * np.float32(1 / 255)


@dataclass(frozen=True)
class Interior:
    """The inside of one mouth.

    Attributes:
        cavity: 3, float32, RGB 0..255: the dark behind everything.
        cheek: 3, float32, RGB: inside of the cheeks, seen at the corners; None in a drawing.
        tongue, lower_teeth, upper_teeth: parts, back to front; None where a drawing has none.
        down_px: 2, float32, pixels: one millimetre down the face as seen in the picture.
        flat: whether the picture is a drawing: no shading.
        line: 3, float32, RGB: colour of the line around a drawn mouth; None = no line.
        line_mm: its thickness.
        upper_follows_jaw: whether the front layer belongs to the jaw (lower teeth of a photo).
    """

    cavity: NDArray[np.float32]
    tongue: Layer | None
    lower_teeth: Layer | None
    upper_teeth: Layer | None
    down_px: NDArray[np.float32]
    flat: bool = False
    line: NDArray[np.float32] | None = None
    line_mm: float = 0.0
    upper_follows_jaw: bool = False
    cheek: NDArray[np.float32] | None = None

    def paint(
        self,
        unmoved: NDArray[np.float32],
        plane: NDArray[np.float32],
        curves: LipCurves,
        pose: MouthPose,
    ) -> NDArray[np.float32]:
        """Colours (h x w x 3, float32) of a region that covers the opening.

        Args:
            unmoved: h x w x 2: place of each pixel in the picture, head motion undone.
            plane: h x w x 2: the same in mm of the plane.
            curves: the inner edges of the lips.
            pose: of jaw, teeth and tongue.
        """
        painted = np.empty((*unmoved.shape[:2], 3), np.float32)
        painted[:] = self.cavity
        if self.cheek is not None:
            painted += (self.cheek - self.cavity) * (_sideways(plane, curves) ** 2)[..., None]
        front = pose.jaw_mm * LOWER_TEETH_FOLLOW if self.upper_follows_jaw else 0.0
        stack = (
            (self.tongue, TONGUE_FOLLOW * pose.jaw_mm - TONGUE_RISE_MM * pose.tongue),
            (self.lower_teeth, LOWER_TEETH_FOLLOW * pose.jaw_mm - CLENCH_MM * pose.teeth),
            (self.upper_teeth, front),
        )
        for layer, down_mm in stack:
            if layer is not None:
                colour, alpha = layer.sample(unmoved, self.down_px * np.float32(down_mm))
                painted += (colour - painted) * alpha
        if self.flat:
            return self._outlined(painted, plane, curves)
        return painted * self._light(plane, curves, pose.teeth)[..., None]

    def _outlined(
        self, painted: NDArray[np.float32], plane: NDArray[np.float32], curves: LipCurves
    ) -> NDArray[np.float32]:
        """The drawn line along both lips; its outer half lies on the skin already."""
        if self.line is None:
            return painted
        edges = edges_at(plane, curves)
        y = plane[..., 1]
        nearest = np.minimum(
            (y - edges[..., 0]) * edges[..., 2], (edges[..., 1] - y) * edges[..., 3]
        )
        half = self.line_mm / 2 * edges[..., 2].max()  # in softened pixels, as `nearest`
        cover = np.clip(half - nearest + 0.5, 0, 1)[..., None]
        return np.asarray(painted + (self.line - painted) * cover, np.float32)

    def _light(
        self, plane: NDArray[np.float32], curves: LipCurves, teeth: float
    ) -> NDArray[np.float32]:
        """How much light falls in (h x w): less under the lips and towards the corners.

        `teeth`: as in `MouthPose`.
        """
        edges = edges_at(plane, curves)
        y = plane[..., 1]
        under = np.maximum(y - edges[..., 0], 0)
        over = np.maximum(edges[..., 1] - y, 0)
        side = _sideways(plane, curves)
        lit_gap_mm = LIT_GAP_MM * (1 - NEAR_LIPS * teeth)
        entering = np.float32(SLIT_LIGHT + (1 - SLIT_LIGHT) * min(curves.gap_mm / lit_gap_mm, 1.0))
        shade = np.float32(LIP_SHADE * (1 - SHADE_TAKEN * teeth))
        light: NDArray[np.float32] = (
            entering
            * (1 - shade * np.exp(-under / 1.5))
            * (1 - 0.3 * np.exp(-over / 0.9))
            * (1 - 0.55 * side**3)
        )
        return light


def _sideways(plane: NDArray[np.float32], curves: LipCurves) -> NDArray[np.float32]:
    """How near to a mouth corner each pixel lies (h x w): 0 in the middle, 1 at a corner."""
    middle = (curves.left[0] + curves.right[0]) / 2
    half = max((curves.right[0] - curves.left[0]) / 2, 1.0)
    return np.asarray(np.clip(np.abs(plane[..., 0] - middle) / half, 0, 1), np.float32)
