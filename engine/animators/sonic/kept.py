"""Finished pieces on the disk, so that a second attempt goes on where the first one was lost."""

from pathlib import Path

import numpy as np
import torch


class KeptPieces:
    """The latents of finished pieces, one file each, 24 MB for 30 s at 512 pixels.

    Args:
        folder: where they lie; None = nothing is kept.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def load(self, index: int, shape: tuple[int, ...]) -> torch.Tensor | None:
        """A piece that an earlier attempt finished; None when there is none of this shape."""
        if self._folder is None or not (path := self._path(self._folder, index)).is_file():
            return None
        try:
            latents = np.load(path, allow_pickle=False)
        except (ValueError, EOFError):
            return None
        return torch.from_numpy(latents) if latents.shape == shape else None

    def save(self, index: int, latents: torch.Tensor) -> None:
        """Keep a finished piece; readers never see half of it."""
        if self._folder is None:
            return
        self._folder.mkdir(exist_ok=True)
        path = self._path(self._folder, index)
        part = path.with_name(path.name + ".part")
        with part.open("wb") as stream:
            np.save(stream, latents.cpu().numpy(), allow_pickle=False)
        part.replace(path)

    @staticmethod
    def _path(folder: Path, index: int) -> Path:
        return folder / f"piece-{index:04d}.npy"
