"""The two face networks behind onnxruntime; pixels in, raw numbers out.

Owns the sessions and the fixed formats of the networks, never a decision about faces.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from engine.face.geometry import NUM_LANDMARKS
from engine.face.topology import FACE_ASSETS_DIR

DETECTOR_SIDE_PX = 128
LANDMARK_SIDE_PX = 256
# Two grids of anchors: 16 x 16 cells with 2 anchors each, 8 x 8 cells with 6.
_ANCHOR_GRIDS = ((16, 2), (8, 6))
# Logits are clipped before the sigmoid; from 88.7 on exp() overflows in float32.
_LOGIT_LIMIT = 80.0


@dataclass(frozen=True)
class RawDetections:
    """What the detector says about one square, before merging; one row an anchor.

    Attributes:
        boxes: N x 4, float32: centre x, centre y, width, height as shares of the square.
        key_points: N x 6 x 2, float32, shares of the square: left eye and right eye of the
            picture, nose tip, middle of the mouth, left ear, right ear.
        scores: N, float32, 0..1.
    """

    boxes: NDArray[np.float32]
    key_points: NDArray[np.float32]
    scores: NDArray[np.float32]


class FaceNetworks:
    """Loads each network when it is first needed; safe to call from several threads.

    A call stays in the caller's thread, so that several squares and frames can be looked at at
    once without getting into each other's way.

    Args:
        assets_dir: folder with the ONNX files; None = the one shipped with the product.
    """

    def __init__(self, assets_dir: Path | None = None) -> None:
        self._assets_dir = assets_dir or FACE_ASSETS_DIR
        self._anchors = _anchor_centres()

    def detect(self, squares: NDArray[np.float32], min_score: float) -> list[RawDetections]:
        """Look for faces.

        Args:
            squares: N x 128 x 128 x 3, float32, RGB, -1..1.
            min_score: detections below are left out.

        Returns:
            One entry a square; boxes may overlap.
        """
        boxes, logits = self._detector.run(["boxes", "scores"], {"picture": squares})
        scores = _sigmoid(logits[:, :, 0])
        return [
            self._decode(boxes[i][keep], self._anchors[keep], scores[i][keep])
            for i, keep in enumerate(scores >= min_score)
        ]

    def landmarks(
        self, crops: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Place the landmarks of the face each crop shows.

        Args:
            crops: N x 256 x 256 x 3, float32, RGB, 0..1, eyes level.

        Returns:
            N x 478 x 3 landmarks in pixels of the crop (z in the same unit, smaller = nearer),
            and N presence scores, 0..1: whether there is a face at all.
        """
        points, presence = self._landmarker.run(["landmarks", "presence"], {"picture": crops})
        count = len(crops)
        return points.reshape(count, NUM_LANDMARKS, 3), _sigmoid(presence.reshape(count))

    @cached_property
    def _detector(self) -> onnxruntime.InferenceSession:
        return self._open("face_detector.onnx")

    @cached_property
    def _landmarker(self) -> onnxruntime.InferenceSession:
        return self._open("face_landmarks.onnx")

    def _open(self, name: str) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # What a call works with goes back at once: kept for the next one it was 45 MB of every
        # child, for 0.5 of 8 ms.
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        return onnxruntime.InferenceSession(
            str(self._assets_dir / name), options, providers=["CPUExecutionProvider"]
        )

    @staticmethod
    def _decode(
        raw: NDArray[np.float32], anchors: NDArray[np.float32], scores: NDArray[np.float32]
    ) -> RawDetections:
        shares = raw.reshape(-1, 8, 2) / np.float32(DETECTOR_SIDE_PX)
        shares[:, [0, 2, 3, 4, 5, 6, 7]] += anchors[:, None]
        return RawDetections(shares[:, :2].reshape(-1, 4), shares[:, 2:], scores)


def _anchor_centres() -> NDArray[np.float32]:
    """896 x 2, shares of the square: cell centres, rows first, each repeated per anchor."""
    parts = []
    for cells, anchors in _ANCHOR_GRIDS:
        centres = (np.arange(cells, dtype=np.float32) + 0.5) / cells
        y, x = np.meshgrid(centres, centres, indexing="ij")
        parts.append(np.repeat(np.stack([x.ravel(), y.ravel()], axis=1), anchors, axis=0))
    return np.concatenate(parts)


def _sigmoid(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    clipped = np.clip(logits, -_LOGIT_LIMIT, _LOGIT_LIMIT)
    result: NDArray[np.float32] = (1.0 / (1.0 + np.exp(-clipped))).astype(np.float32)
    return result
