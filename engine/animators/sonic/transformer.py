"""Transformer blocks in space and along time, run group by group in few passes.

The modules are diffusers' `TransformerSpatioTemporalModel`. Sums of a block gather in one buffer,
into which products are added in place; whatever is the same for all pixels of an image (biases,
places in time, what the photo says) waits in a vector until a norm reads the pixels anyway.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import nn
from torch.nn import functional

from engine.animators.sonic import layers
from engine.animators.sonic.attention import AudioContext
from engine.animators.sonic.layers import Statistics
from engine.animators.sonic.plane import Plane, spans
from engine.animators.sonic.resnet import Grouping, mix_shares

Module: TypeAlias = Any


@dataclass(frozen=True)
class _Hidden:
    """A buffer of sums and the vector still to be added to it.

    Attributes:
        x: images x pixels x C, contiguous.
        vector: images x C or 1 x C, float32.
    """

    x: torch.Tensor
    vector: torch.Tensor

    def add(self, made: torch.Tensor, layer: nn.Linear) -> "_Hidden":
        """Add a linear layer of `made`; its bias joins the vector."""
        add_product(self.x, made, layer.weight)
        return self if layer.bias is None else self.lifted(layer.bias.float()[None])

    def lifted(self, vector: torch.Tensor) -> "_Hidden":
        """With more in the vector."""
        return _Hidden(self.x, self.vector + vector)

    def normed(self, norm: nn.LayerNorm) -> torch.Tensor:
        """The layer norm of the sum."""
        return layers.layer_norm(self.x, norm, self.vector)


def add_product(into: torch.Tensor, x: torch.Tensor, weight: torch.Tensor) -> None:
    """Add `x @ weight.T` in place; all but the last dimension are flattened."""
    into.view(-1, into.shape[-1]).addmm_(x.reshape(-1, x.shape[-1]), weight.t())


def join_projections(network: nn.Module) -> None:
    """Lay the weights of query, key and value of every self-attention behind each other.

    The three layers then are views of one matrix, which `joined_qkv` gives for one product.
    """
    for name, attn in network.named_modules():
        if not name.endswith(".attn1"):
            continue
        joined = torch.cat([attn.to_q.weight, attn.to_k.weight, attn.to_v.weight])
        parts = joined.chunk(3)
        for layer, part in zip((attn.to_q, attn.to_k, attn.to_v), parts, strict=True):
            layer.weight.data = part


def joined_qkv(attn: Module) -> torch.Tensor:
    """3C x C: the matrix that `join_projections` laid out."""
    first = attn.to_q.weight
    return first.data.as_strided((3 * first.shape[0], first.shape[1]), first.stride())


def run_transformer(
    model: Module, plane: Plane, grouping: Grouping, context: AudioContext
) -> Plane:
    """One module: norm, spatial and temporal blocks in turn; adds the result to the pictures.

    Args:
        model: diffusers' `TransformerSpatioTemporalModel`.
        plane: what comes in; changed in place.
        grouping: how much is worked on at once.
        context: what the frames look at.
    """
    x = plane.x
    norm = layers.settle(plane.statistics, model.norm, 1)
    hidden = x.new_empty((*x.shape[:2], model.proj_in.out_features))
    for span in grouping.images(len(x)):
        grouping.check()
        normed = layers.affine(x[span], norm.part(span), has_silu=False)
        hidden[span] = model.proj_in(normed)
    pending = x.new_zeros((len(x), hidden.shape[2]), dtype=torch.float32)
    places = _places(model, hidden, grouping.frames)
    for spatial, temporal in zip(
        model.transformer_blocks, model.temporal_transformer_blocks, strict=True
    ):
        for span in grouping.images(len(x)):
            grouping.check()
            part = _Hidden(hidden[span], pending[span])
            pending[span] = _spatial(spatial, part, span, grouping, context).vector
        shares = mix_shares(model.time_mixer, x.dtype)
        for tile in grouping.tiles(x.shape[1]):
            grouping.check()
            base = _Tile(hidden[:, tile], pending)
            moved = _temporal(temporal, base, places, grouping, context)
            vector = shares[0] * pending + shares[1] * moved.vector
            layers.blend(base.x, moved.x, shares, vector, out=base.x)
        pending = torch.zeros_like(pending)
    known: list[Statistics] = []
    vector = model.proj_out.bias.float()[None]
    for span in grouping.images(len(x)):
        made = functional.linear(hidden[span], model.proj_out.weight)
        _, seen = layers.blend(x[span], made, (1.0, 1.0), vector, out=x[span], is_measured=True)
        if seen is not None:
            known.append(seen)
    return Plane(x, plane.height, plane.width, Statistics.of_images(known))


@dataclass(frozen=True)
class _Tile:
    """Some pixels of all images, and the vector still to be added to them."""

    x: torch.Tensor
    vector: torch.Tensor


def _places(model: Module, hidden: torch.Tensor, frames: int) -> torch.Tensor:
    """Images x C, float32: where a frame stands in its window."""
    order = torch.arange(frames, device=hidden.device)
    place = model.time_pos_embed(model.time_proj(order).to(hidden.dtype))
    return place.float().repeat(len(hidden) // frames, 1)


def _spatial(
    block: Module, hidden: _Hidden, span: slice, grouping: Grouping, context: AudioContext
) -> _Hidden:
    """Every pixel looks at its image, the pixels of the face at the speech."""
    qkv = functional.linear(hidden.normed(block.norm1), joined_qkv(block.attn1))
    looked = layers.space_attention(qkv, block.attn1.heads)
    del qkv
    hidden = hidden.add(looked, block.attn1.to_out[0])
    del looked
    speech = block.attn2.processor
    told = speech.listen(block.attn2, block.norm2, hidden.x, hidden.vector, span, context)
    return _feed_forward(block.ff, block.norm3, hidden.lifted(told), grouping)


def _temporal(
    block: Module, base: _Tile, places: torch.Tensor, grouping: Grouping, context: AudioContext
) -> _Hidden:
    """Every pixel looks at itself in the other frames, and at the speech of the window."""
    told = base.vector + places
    first = layers.layer_norm(base.x, block.norm_in, told)
    moved = torch.empty_like(first)
    widen, narrow = block.ff_in.net[0].proj, block.ff_in.net[2]
    for span in _few_images(first, widen.out_features, grouping):
        wide = layers.gated_linear(first[span].flatten(0, 1), widen)
        torch.mm(wide, narrow.weight.t(), out=moved[span].view(-1, moved.shape[2]))
    told = told + narrow.bias.float()
    normed = layers.layer_norm(base.x, block.norm1, told, into=moved)
    hidden = _Hidden(moved, torch.zeros_like(told[:1]))
    qkv = functional.linear(normed, joined_qkv(block.attn1))
    looked = layers.time_attention(qkv, grouping.frames, block.attn1.heads)
    del qkv, normed
    hidden = hidden.add(looked, block.attn1.to_out[0])
    del looked
    speech = block.attn2.processor
    told = speech.listen(block.attn2, block.norm2, hidden.x, hidden.vector, context)
    return _feed_forward(block.ff, block.norm3, hidden.lifted(told), grouping)


def _feed_forward(ff: Module, norm: nn.LayerNorm, hidden: _Hidden, grouping: Grouping) -> _Hidden:
    """Add the feed-forward network, a few images at a time."""
    widen, narrow = ff.net[0].proj, ff.net[2]
    vector = hidden.vector.expand(len(hidden.x), -1)
    for span in _few_images(hidden.x, widen.out_features, grouping):
        normed = layers.layer_norm(hidden.x[span], norm, vector[span])
        wide = layers.gated_linear(normed.flatten(0, 1), widen)
        add_product(hidden.x[span], wide, narrow.weight)
    return hidden.lifted(narrow.bias.float()[None])


def _few_images(x: torch.Tensor, width: int, grouping: Grouping) -> list[slice]:
    """Groups of images whose widest intermediate stays small."""
    return list(spans(len(x), max(1, grouping.sizes.widest // (x.shape[1] * width))))
