"""Reads the canonical face out of `geometry_pipeline_metadata_landmarks.binarypb`.

Only the wire format of protocol buffers is needed: field 1 is the mesh (3: five floats a vertex,
4: vertex numbers of the triangles), field 2 repeats (1: landmark, 2: weight) of the landmarks
that fix the pose.
"""

import struct
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

VARINT, LENGTH, FIXED32 = 0, 2, 5


def read_canonical_mesh(data: bytes) -> dict[str, NDArray[np.generic]]:
    """Read vertices, texture coordinates, triangles and pose weights.

    Returns:
        `vertices` 468 x 3 float32 in cm (x to the picture's right, y up, z to the camera),
        `uv` 468 x 2 float32 (0..1, v down), `triangles` 898 x 3 int32,
        `pose_weights` 468 float32, 0 for landmarks that do not count.

    Raises:
        ValueError: when the counts are not those of the known mesh.
    """
    numbers: list[float] = []
    corners: list[int] = []
    weights: dict[int, float] = {}
    for tag, value in _fields(data):
        if tag == 1 and isinstance(value, bytes):
            for inner_tag, inner in _fields(value):
                if inner_tag == 3:
                    numbers.append(float(inner))
                elif inner_tag == 4:
                    corners.append(int(inner))
        elif tag == 2 and isinstance(value, bytes):
            entry = dict(_fields(value))
            weights[int(entry.get(1, 0))] = float(entry[2])
    if len(numbers) != 468 * 5 or len(corners) != 898 * 3 or not weights:
        raise ValueError("not the canonical mesh of 468 vertices and 898 triangles")
    table = np.array(numbers, dtype=np.float32).reshape(468, 5)
    pose_weights = np.zeros(468, dtype=np.float32)
    pose_weights[list(weights)] = list(weights.values())
    return {
        "vertices": np.ascontiguousarray(table[:, :3]),
        "uv": np.ascontiguousarray(table[:, 3:]),
        "triangles": np.array(corners, dtype=np.int32).reshape(898, 3),
        "pose_weights": pose_weights,
    }


def _fields(data: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        tag, kind = key >> 3, key & 7
        if kind == VARINT:
            number, position = _varint(data, position)
            yield tag, number
        elif kind == LENGTH:
            length, position = _varint(data, position)
            yield tag, data[position : position + length]
            position += length
        elif kind == FIXED32:
            yield tag, struct.unpack_from("<f", data, position)[0]
            position += 4
        else:
            raise ValueError(f"wire type {kind} is not expected here")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[position]
        number |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return number, position
