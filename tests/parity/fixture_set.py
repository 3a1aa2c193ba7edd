"""Reading one set of parity fixtures: tensors, settings, and weights made from a recipe."""

import hashlib
import json
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

FNV_OFFSET = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
LOW_64 = 0xFFFFFFFFFFFFFFFF


def stream_start(text):
    """FNV-1a, 64 bit."""
    value = FNV_OFFSET
    for byte in text.encode():
        value = (value ^ byte) * FNV_PRIME & LOW_64
    return value


def uniform_stream(text, count):
    """`count` numbers in [0, 1) from SplitMix64, 24 bits each, fixed by `text`."""
    with np.errstate(over="ignore"):
        state = np.uint64(stream_start(text)) + np.arange(count, dtype=np.uint64)
        state += np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return (state >> np.uint64(40)).astype(np.float64) / 2.0**24


def made_weight(seed, key, shape, one_d, gain):
    """The tensor that the recipe gives for one key of a state dict, float32."""
    signed = 2.0 * uniform_stream(f"{seed}:{key}", int(np.prod(shape))) - 1.0
    if len(shape) >= 2:
        values = signed * np.sqrt(3.0 / np.prod(shape[1:])) * gain
    elif key.endswith("bias"):
        values = 0.1 * signed
    elif key.endswith("mix_factor"):
        values = 2.0 * signed
    elif key.endswith("class_embedding"):
        values = 0.5 * signed
    elif one_d == "prelu":
        values = 0.25 + 0.1 * signed
    else:
        values = 1.0 + 0.2 * signed
    return values.reshape(shape).astype(np.float32)


class FixtureSet:
    """One folder of fixtures. Weights and tensors are made or read when first asked for."""

    def __init__(self, root):
        self.root = Path(root)
        self._tensors = {}
        self._weights = {}

    @cached_property
    def meta(self):
        return self._json("meta.json")

    @cached_property
    def geometry(self):
        return self._json("geometry.json")

    @cached_property
    def scheduler(self):
        return self._json("scheduler.json")

    @cached_property
    def recipes(self):
        return self._json("weights.json")

    def _json(self, name):
        return json.loads((self.root / name).read_text("utf-8"))

    def config(self, part, name="config.json"):
        return json.loads((self.root / "configs" / part / name).read_text("utf-8"))

    def tensors(self, name):
        if name not in self._tensors:
            self._tensors[name] = load_file(self.root / f"{name}.safetensors")
        return self._tensors[name]

    def weights(self, part):
        """The state dict of one network, checked against the checksum of the set."""
        if part not in self._weights:
            recipe = self.recipes[part]
            arrays = {
                key: made_weight(recipe["seed"], key, shape, recipe["one_d"], recipe["gain"])
                for key, shape in recipe["keys"].items()
            }
            digest = hashlib.sha256()
            for key in sorted(arrays):
                digest.update(key.encode())
                digest.update(arrays[key].tobytes())
            assert digest.hexdigest() == recipe["sha256"], f"recipe of {part} differs"
            self._weights[part] = {key: torch.from_numpy(a) for key, a in arrays.items()}
        return self._weights[part]
