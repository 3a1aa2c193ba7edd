"""Write a trained net as ONNX: input `features`, outputs `posteriors` and `values`, any length.

`python -m training.lipsync.export NET.pt OUT.onnx` checks the file against torch and prints its
sha256. Weights are stored as 16-bit floats and widened when the file is loaded.
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from engine.lipsync.features import NUM_FEATURES
from training.lipsync.net import LipNet, load


class Shipped(nn.Module):
    """The net as the product calls it: posteriors instead of logits."""

    def __init__(self, net: LipNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits, values = self.net(features)
        return torch.softmax(logits, dim=-1), values


def halve_weights(model: onnx.ModelProto) -> None:
    """Store big constants as float16 behind a Cast."""
    graph = model.graph
    for tensor in list(graph.initializer):
        if tensor.data_type != TensorProto.FLOAT or np.prod(tensor.dims) < 1024:
            continue
        name = tensor.name
        values = numpy_helper.to_array(tensor).astype(np.float16)
        graph.initializer.remove(tensor)
        graph.initializer.append(numpy_helper.from_array(values, f"{name}.half"))
        cast = helper.make_node(
            "Cast", [f"{name}.half"], [name], f"{name}.widen", to=TensorProto.FLOAT
        )
        graph.node.insert(0, cast)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    shipped = Shipped(load(str(arguments.net))).eval()
    example = torch.randn(1, 400, NUM_FEATURES)
    torch.onnx.export(
        shipped, (example,), str(arguments.out), dynamo=False, opset_version=17,
        input_names=["features"], output_names=["posteriors", "values"],
        dynamic_axes={
            "features": {1: "frames"}, "posteriors": {1: "samples"}, "values": {1: "samples"},
        },
    )  # fmt: skip
    model = onnx.load(str(arguments.out))
    halve_weights(model)
    onnx.checker.check_model(model)
    onnx.save(model, str(arguments.out))
    session = onnxruntime.InferenceSession(str(arguments.out), providers=["CPUExecutionProvider"])
    worst = 0.0
    for frames in (2, 400, 1010):
        features = torch.randn(1, frames, NUM_FEATURES)
        with torch.no_grad():
            expected = shipped(features)
        got = session.run(None, {"features": features.numpy()})
        worst = max(
            worst, *(float(np.abs(a - b.numpy()).max()) for a, b in zip(got, expected, strict=True))
        )
    content = arguments.out.read_bytes()
    print(
        f"{len(content)} bytes, largest difference {worst:.4f},"
        f" sha256 {hashlib.sha256(content).hexdigest()}"
    )


if __name__ == "__main__":
    main()
