"""The landmark numbering agrees with the mesh it is said to describe."""

import hashlib
import json
from itertools import pairwise

import numpy as np
import pytest

from engine.face import topology
from engine.face.topology import CanonicalMesh, load_canonical_mesh


@pytest.fixture(scope="module")
def mesh() -> CanonicalMesh:
    return load_canonical_mesh()


def edges_of(mesh: CanonicalMesh) -> set[tuple[int, int]]:
    pairs = mesh.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    return {(int(min(pair)), int(max(pair))) for pair in pairs}


RINGS = {name: getattr(topology, name) for name in ("FACE_OVAL", "OUTER_LIPS", "INNER_LIPS")}
ROWS = {
    name: value
    for name, value in vars(topology).items()
    if name.isupper() and isinstance(value, tuple) and "IRIS" not in name and name != "RIGID_POINTS"
}


def test_mesh_has_the_known_size(mesh: CanonicalMesh):
    assert mesh.vertices.shape == (468, 3)
    assert mesh.uv.shape == (468, 2)
    assert mesh.triangles.shape == (898, 3)
    assert mesh.triangles.min() == 0
    assert mesh.triangles.max() == 467
    assert 0 <= mesh.uv.min() < mesh.uv.max() <= 1
    assert np.count_nonzero(mesh.pose_weights) == 33


def test_18_triangles_fill_the_mouth(mesh: CanonicalMesh):
    assert len(mesh.triangles_without_mouth) == 880


@pytest.mark.parametrize("name", sorted(ROWS))
def test_neighbours_in_a_row_are_joined_by_an_edge(mesh: CanonicalMesh, name: str):
    row = ROWS[name]
    pairs = list(pairwise(row))
    if name in RINGS:
        pairs.append((row[-1], row[0]))

    missing = [pair for pair in pairs if tuple(sorted(pair)) not in edges_of(mesh)]

    assert missing == []


def test_oval_is_the_border_of_the_mesh(mesh: CanonicalMesh):
    pairs = np.sort(mesh.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    unique, counts = np.unique(pairs, axis=0, return_counts=True)
    border = set(unique[counts == 1].ravel().tolist())

    assert set(topology.FACE_OVAL) <= border


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (topology.LEFT_UPPER_LID, topology.RIGHT_UPPER_LID),
        (topology.LEFT_LOWER_LID, topology.RIGHT_LOWER_LID),
        (topology.LEFT_UPPER_CREASE, topology.RIGHT_UPPER_CREASE),
        (topology.LEFT_LOWER_CREASE, topology.RIGHT_LOWER_CREASE),
        (topology.LEFT_BROW_UPPER, topology.RIGHT_BROW_UPPER),
        (topology.LEFT_BROW_LOWER, topology.RIGHT_BROW_LOWER),
        (topology.OUTER_UPPER_LIP, topology.OUTER_UPPER_LIP[::-1]),
        (topology.OUTER_LOWER_LIP, topology.OUTER_LOWER_LIP[::-1]),
        (topology.INNER_UPPER_LIP, topology.INNER_UPPER_LIP[::-1]),
        (topology.INNER_LOWER_LIP, topology.INNER_LOWER_LIP[::-1]),
        (topology.CHIN_ROW, topology.CHIN_ROW[::-1]),
        ((topology.LEFT_EAR,), (topology.RIGHT_EAR,)),
        ((topology.LEFT_NOSTRIL_WING,), (topology.RIGHT_NOSTRIL_WING,)),
    ],
)
def test_both_sides_mirror_each_other(
    mesh: CanonicalMesh, left: tuple[int, ...], right: tuple[int, ...]
):
    mirrored = mesh.vertices[list(right)] * np.array([-1, 1, 1])

    assert np.abs(mesh.vertices[list(left)] - mirrored).max() < 0.05  # cm


def test_left_is_the_left_of_the_picture(mesh: CanonicalMesh):
    assert mesh.vertices[topology.LEFT_EYE_OUTER, 0] < mesh.vertices[topology.RIGHT_EYE_OUTER, 0]
    assert mesh.vertices[topology.CHIN_TIP, 1] < mesh.vertices[topology.FOREHEAD_TOP, 1]
    assert mesh.vertices[topology.NOSE_TIP, 2] > mesh.vertices[topology.LEFT_EAR, 2]


def test_shipped_files_are_the_converted_ones():
    record = json.loads((topology.FACE_ASSETS_DIR / "source.json").read_text())

    for name, digest in record["files"].items():
        content = (topology.FACE_ASSETS_DIR / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest
