"""A net that can be trained on from a shipped file, whose normalisations are folded away.

`python -m training.lipsync.restore NET.onnx CORPUS OUT.pt` writes a checkpoint that says the same:
each normalisation gets the mean and spread that its input has on damaged speech of the corpus, so
that training goes on where it stopped. The helper head is not in the file and starts anew.
"""

import argparse
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from torch import nn

from training.lipsync.augment import Dice, damaged
from training.lipsync.corpus import shards_in
from training.lipsync.mel import MelFrontEnd
from training.lipsync.net import LipNet, NetShape, save
from training.lipsync.train import Corpus


def read_weights(path: Path) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Weight and bias of every convolution, in order."""
    graph = onnx.load(str(path)).graph
    kept = {t.name.removesuffix(".half"): numpy_helper.to_array(t) for t in graph.initializer}
    return [
        (torch.tensor(kept[node.input[1]]).float(), torch.tensor(kept[node.input[2]]).float())
        for node in graph.node
        if node.op_type == "Conv"
    ]


def unfolded(weights: list[tuple[torch.Tensor, torch.Tensor]]) -> LipNet:
    """The net with normalisations that do nothing but add the bias."""
    net = LipNet(NetShape(channels=len(weights[0][1])))
    pairs = [(net.stem[0], net.stem[1])]
    for block in net.blocks:
        pairs += [(block.body[0], block.body[1]), (block.body[3], block.body[4])]
    for (convolution, normalisation), (weight, bias) in zip(pairs, weights[:-1], strict=True):
        convolution.weight.data = weight
        normalisation.weight.data.fill_(1.0)
        normalisation.bias.data = bias
        normalisation.running_var.fill_(1.0 - normalisation.eps)
    net.head.weight.data, net.head.bias.data = weights[-1]
    return net.eval()


@torch.no_grad()
def calibrate(net: LipNet, features: torch.Tensor) -> None:
    """Give each normalisation the statistics of its input without changing what the net says."""

    def settle(layer: nn.BatchNorm1d, inputs: tuple[torch.Tensor]) -> None:
        mean, spread = inputs[0].mean((0, 2)), inputs[0].var((0, 2))
        layer.weight.data = (spread + layer.eps).sqrt()
        layer.bias.data = layer.bias.data + mean
        layer.running_mean, layer.running_var = mean, spread

    layers = [layer for layer in net.modules() if isinstance(layer, nn.BatchNorm1d)]
    hooks = [layer.register_forward_pre_hook(settle) for layer in layers]
    net(features)
    for hook in hooks:
        hook.remove()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--crops", type=int, default=96)
    arguments = parser.parse_args()
    device = torch.device("cpu")
    net = unfolded(read_weights(arguments.net))
    dice = Dice(device, 1)
    with torch.no_grad():
        sound, _ = Corpus(shards_in(arguments.corpus), device).crops(arguments.crops, 4.0, dice)
        features = MelFrontEnd(device)(damaged(sound, dice), 400)
        before = net(features)
        calibrate(net, features)
        after = net(features)
    worst = max(float((a - b).abs().max()) for a, b in zip(before, after, strict=True))
    save(net, str(arguments.out))
    print(f"largest difference {worst:.5f}")


if __name__ == "__main__":
    main()
