"""What a job hands over: the files of its folder that are finished."""

from collections.abc import Sequence
from pathlib import Path

from engine.contracts import Artifact, ArtifactKind


def finished_files(folder: Path, kinds: Sequence[tuple[ArtifactKind, str]]) -> list[Artifact]:
    """The files that are there.

    Args:
        folder: of the job.
        kinds: what may be there and its name, in the order of the result.
    """
    return [
        Artifact(kind=kind, name=name, size_bytes=(folder / name).stat().st_size)
        for kind, name in kinds
        if (folder / name).exists()
    ]
