"""Reading weights from a folder in the public layout; every fault ends in one plain sentence.

Pickles are read with `weights_only`, so that a file can hold tensors but no code.
"""

import json
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from engine.weights.catalog import SONIC
from engine.weights.fault_messages import damaged, wrong
from engine.weights.store import locate

Tensors = dict[str, torch.Tensor]

STAGED_ELEMENTS = 2**24
"""Copied to a card at once: 32 MB in half precision."""


class SonicFolder:
    """A folder that holds, or should hold, the `sonic` set.

    Args:
        root: the folder the public layout starts in.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str) -> Path:
        """Where the file that belongs at `name` lies.

        Raises:
            InputError: WEIGHTS_MISSING, WEIGHTS_MISPLACED or WEIGHTS_DAMAGED.
        """
        return locate(SONIC, SONIC.file(name), self.root)

    def config(self, name: str) -> dict[str, Any]:
        """A JSON configuration."""
        content: dict[str, Any] = json.loads(self.path(name).read_text("utf-8"))
        return content

    def tensors(self, name: str) -> Tensors:
        """All tensors of a file, memory-mapped where the format allows.

        Raises:
            InputError: also WEIGHTS_DAMAGED when the content cannot be read.
        """
        return self._read(name, self.path(name))

    def pickled(self, name: str) -> Tensors:
        """The same of the very file at `name`, although a converted one may lie beside it."""
        return self._read(name, self.root / name)

    def _read(self, name: str, path: Path) -> Tensors:
        try:
            return read_tensors(path)
        except (OSError, ValueError, RuntimeError, EOFError, KeyError) as error:
            reason = "its content is damaged"
            raise damaged(SONIC, SONIC.file(name), self.root, reason) from error
        except (SafetensorError, pickle.UnpicklingError) as error:
            reason = "it is not a plain collection of tensors"
            raise damaged(SONIC, SONIC.file(name), self.root, reason) from error

    def require_keys(self, name: str, tensors: Tensors, keys: tuple[str, ...]) -> None:
        """Make sure that some tensors are there before their shapes are used.

        Raises:
            InputError: WEIGHTS_WRONG.
        """
        for key in keys:
            if key not in tensors:
                raise wrong(SONIC, SONIC.file(name), self.root, f"{key} is not in it")

    def fill(self, module: nn.Module, name: str, tensors: Tensors, place: "Place") -> None:
        """Put `tensors` into a module that was made without memory for its weights.

        Args:
            module: on the meta device, or real; its weights are replaced.
            name: of the file they came from, for messages.
            tensors: by the module's own names.
            place: where to and as what.

        Raises:
            InputError: WEIGHTS_WRONG when names or shapes differ.
        """
        if reason := misfit(module, tensors):
            raise wrong(SONIC, SONIC.file(name), self.root, reason)
        moved = {key: place.put(tensor) for key, tensor in tensors.items()}
        module.load_state_dict(moved, strict=True, assign=True)
        module.to(place.device).eval().requires_grad_(False)


class Place:
    """Where weights go and what they become.

    Args:
        device: of the module.
        dtype: of its floating-point weights.
    """

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.device = device
        self.dtype = dtype
        self._turn = 0
        self._left: list[torch.cuda.Event | None] = [None, None]
        self._pieces: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    @torch.inference_mode(mode=False)
    @torch.no_grad()
    def put(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor there; always a copy of its own, never a view of the mapped file."""
        dtype = self.dtype if tensor.is_floating_point() else tensor.dtype
        if self.device.type != "cuda" or not tensor.numel():
            return tensor.to(self.device, dtype, copy=True)
        made = torch.empty(tensor.shape, dtype=dtype, device=self.device)
        flat, source = made.view(-1), tensor.reshape(-1)
        for start in range(0, len(source), STAGED_ELEMENTS):
            part = source[start : start + STAGED_ELEMENTS]
            self._stage(part, flat[start : start + len(part)])
        return made

    def _stage(self, part: torch.Tensor, target: torch.Tensor) -> None:
        """Copy by way of memory that the card reads by itself; two pieces take turns."""
        index = self._turn = 1 - self._turn
        if (left := self._left[index]) is not None:
            left.synchronize()
        key = index, target.dtype
        if key not in self._pieces:
            empty = torch.empty(STAGED_ELEMENTS, dtype=target.dtype, pin_memory=True)
            self._pieces[key] = empty
        piece = self._pieces[key]
        piece[: len(part)].copy_(part)
        target.copy_(piece[: len(part)], non_blocking=True)
        self._left[index] = torch.cuda.current_stream(self.device).record_event()


def read_tensors(path: Path) -> Tensors:
    """Tensors of a safetensors file, a torch archive or an older pickle; nothing else is run."""
    if path.suffix == ".safetensors":
        with safe_open(path, framework="pt", device="cpu") as stream:
            return {key: stream.get_tensor(key) for key in stream.keys()}  # noqa: SIM118 - not a dict
    content = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    content = content.get("state_dict", content) if isinstance(content, dict) else None
    if not isinstance(content, dict) or not all(map(torch.is_tensor, content.values())):
        raise pickle.UnpicklingError("not a collection of tensors")
    return dict(content)


def misfit(module: nn.Module, tensors: Mapping[str, torch.Tensor]) -> str | None:
    """Why `tensors` do not fit the module, as the end of a sentence; None when they do."""
    wanted = module.state_dict()
    lacking = [key for key in wanted if key not in tensors]
    if lacking:
        return f"{len(lacking)} of {len(wanted)} tensors are not in it, such as {lacking[0]}"
    extra = [key for key in tensors if key not in wanted]
    if extra:
        return f"{len(extra)} tensors do not belong, such as {extra[0]}"
    for key, tensor in tensors.items():
        if tensor.shape != wanted[key].shape:
            sizes = "x".join(map(str, tensor.shape)), "x".join(map(str, wanted[key].shape))
            return f"{key} is {sizes[0]} instead of {sizes[1]}"
    return None
