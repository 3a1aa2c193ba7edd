"""Turns a tflite graph of the face networks into an equivalent ONNX model.

Pictures stay N x H x W x 3 at the input; inside everything is N x C x H x W, and goes back to
NHWC before each reshape, whose order of values depends on it. The leading dimension is free, so
several crops can go through in one call.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from training.face_model.tflite_graph import Graph, Operator

OPSET = 13
# Version 8 is what opset 13 shipped with; old onnxruntime builds refuse newer ones.
IR_VERSION = 8


def to_onnx(graph: Graph, output_names: dict[int, str], name: str) -> onnx.ModelProto:
    """Convert `graph`.

    Args:
        graph: the tflite network.
        output_names: names for the outputs to keep, by tensor index.
        name: of the ONNX graph.

    Returns:
        A checked model with one input `picture`; weights stay fp16 where tflite had fp16.

    Raises:
        ValueError: for an operator the face networks are not known to use.
    """
    writer = _Writer(graph)
    writer.write(output_names)
    (input_index,) = graph.inputs
    shape = graph.tensors[input_index].shape
    model = helper.make_model(
        helper.make_graph(
            writer.nodes,
            name,
            [helper.make_tensor_value_info("picture", TensorProto.FLOAT, ["n", *shape[1:]])],
            [
                helper.make_tensor_value_info(
                    label, TensorProto.FLOAT, ["n", *graph.tensors[index].shape[1:]]
                )
                for index, label in output_names.items()
            ],
            writer.initializers,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="sonic-studio training/face_model",
    )
    onnx.checker.check_model(model, full_check=True)
    return model


class _Writer:
    """Walks a graph once and collects ONNX nodes; a tensor keeps its index as its name."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._constants = {i: t.values for i, t in enumerate(graph.tensors) if t.values is not None}
        self._handlers: dict[str, Callable[[Operator], None]] = {
            "DEQUANTIZE": self._dequantize,
            "CONV_2D": self._conv,
            "DEPTHWISE_CONV_2D": self._conv,
            "MAX_POOL_2D": self._max_pool,
            "PAD": self._pad,
            "PRELU": self._prelu,
            "ADD": lambda operator: self._plain(operator, "Add"),
            "RELU": lambda operator: self._plain(operator, "Relu"),
            "LOGISTIC": lambda operator: self._plain(operator, "Sigmoid"),
            "RESHAPE": self._reshape,
            "CONCATENATION": self._concatenate,
        }

    def write(self, output_names: dict[int, str]) -> None:
        (input_index,) = self.graph.inputs
        self._node("Transpose", ["picture"], self._label(input_index), perm=[0, 3, 1, 2])
        for operator in self.graph.operators:
            if operator.name not in self._handlers:
                raise ValueError(f"operator {operator.name} is not supported")
            self._handlers[operator.name](operator)
        for index, name in output_names.items():
            self._node("Identity", [self._in_nhwc(index)], name)
        self._drop_unused(set(output_names.values()))

    def _node(
        self, kind: str, inputs: list[str], output: str, **attributes: int | list[int]
    ) -> None:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))

    @staticmethod
    def _label(index: int) -> str:
        return f"t{index}"

    def _constant(self, values: NDArray[Any], name: str) -> str:
        """Store a constant; fp16 is widened by a Cast that onnxruntime folds when it loads."""
        stored = np.ascontiguousarray(values)
        if stored.dtype != np.float16:
            self.initializers.append(numpy_helper.from_array(stored, name))
            return name
        self.initializers.append(numpy_helper.from_array(stored, f"{name}_fp16"))
        self._node("Cast", [f"{name}_fp16"], name, to=TensorProto.FLOAT)
        return name

    def _is_picture(self, index: int) -> bool:
        return len(self.graph.tensors[index].shape) == 4

    def _in_nhwc(self, index: int) -> str:
        label = self._label(index)
        if not self._is_picture(index):
            return label
        turned = f"{label}_nhwc_{len(self.nodes)}"
        self._node("Transpose", [label], turned, perm=[0, 2, 3, 1])
        return turned

    def _finish(
        self, operator: Operator, kind: str, inputs: list[str], **attributes: int | list[int]
    ) -> None:
        """Write a node and the activation fused into it."""
        output = self._label(operator.outputs[0])
        if operator.activation is None:
            self._node(kind, inputs, output, **attributes)
            return
        self._node(kind, inputs, f"{output}_raw", **attributes)
        self._node(operator.activation, [f"{output}_raw"], output)

    def _plain(self, operator: Operator, kind: str) -> None:
        self._finish(operator, kind, [self._label(i) for i in operator.inputs])

    def _dequantize(self, operator: Operator) -> None:
        self._constants[operator.outputs[0]] = self._constants[operator.inputs[0]]

    def _conv(self, operator: Operator) -> None:
        data, kernel_index, bias_index = operator.inputs
        output = self._label(operator.outputs[0])
        kernel = self._constants[kernel_index]
        depthwise = operator.name == "DEPTHWISE_CONV_2D"
        # tflite: O x h x w x I, depthwise 1 x h x w x O; ONNX: O x I x h x w in both cases.
        kernel = kernel.transpose(3, 0, 1, 2) if depthwise else kernel.transpose(0, 3, 1, 2)
        size = kernel.shape[2:]
        self._finish(
            operator,
            "Conv",
            [
                self._label(data),
                self._constant(kernel, f"{output}_kernel"),
                self._constant(self._constants[bias_index], f"{output}_bias"),
            ],
            kernel_shape=list(size),
            strides=list(operator.options["strides"]),
            pads=self._pads(operator, size),
            group=kernel.shape[0] if depthwise else 1,
        )

    def _max_pool(self, operator: Operator) -> None:
        self._finish(
            operator,
            "MaxPool",
            [self._label(operator.inputs[0])],
            kernel_shape=list(operator.options["kernel"]),
            strides=list(operator.options["strides"]),
            pads=self._pads(operator, operator.options["kernel"]),
        )

    def _pads(self, operator: Operator, kernel: tuple[int, ...]) -> list[int]:
        """Explicit padding; tflite's SAME puts the odd pixel at the bottom and right."""
        if not operator.options["same"]:
            return [0, 0, 0, 0]
        before, after = [], []
        shape = self.graph.tensors[operator.inputs[0]].shape[1:3]
        for length, size, stride in zip(shape, kernel, operator.options["strides"], strict=True):
            missing = max((-(-length // stride) - 1) * stride + size - length, 0)
            before.append(missing // 2)
            after.append(missing - missing // 2)
        return before + after

    def _pad(self, operator: Operator) -> None:
        widths = self._constants[operator.inputs[1]].astype(np.int64)[[0, 3, 1, 2]]
        name = self._constant(widths.T.reshape(-1), f"{self._label(operator.outputs[0])}_pads")
        self._finish(operator, "Pad", [self._label(operator.inputs[0]), name])

    def _prelu(self, operator: Operator) -> None:
        """What is negative times its channel's slope: `slope * x + (1 - slope) * relu(x)`.

        onnxruntime's own PRelu takes as long as all convolutions together, and keeps the
        convolutions around it from the layout they are fastest in.
        """
        data, output = self._label(operator.inputs[0]), self._label(operator.outputs[0])
        slope = self._constants[operator.inputs[1]].reshape(-1, 1, 1, 1)
        self._node("Relu", [data], f"{output}_positive")
        self._scale(data, slope, f"{output}_bent")
        self._scale(f"{output}_positive", 1 - slope.astype(np.float32), f"{output}_rest")
        self._finish(operator, "Add", [f"{output}_bent", f"{output}_rest"])

    def _scale(self, data: str, factors: NDArray[Any], output: str) -> None:
        """Multiply each channel by its factor (C x 1 x 1 x 1): a depthwise convolution."""
        name = self._constant(factors, f"{output}_factors")
        self._node("Conv", [data, name], output, kernel_shape=[1, 1], group=len(factors))

    def _reshape(self, operator: Operator) -> None:
        output = operator.outputs[0]
        shape = np.array([-1, *self.graph.tensors[output].shape[1:]], dtype=np.int64)
        name = self._constant(shape, f"{self._label(output)}_shape")
        self._finish(operator, "Reshape", [self._in_nhwc(operator.inputs[0]), name])

    def _concatenate(self, operator: Operator) -> None:
        if any(self._is_picture(i) for i in operator.inputs):
            raise ValueError("concatenation of pictures is not supported")
        labels = [self._label(i) for i in operator.inputs]
        self._finish(operator, "Concat", labels, axis=operator.options["axis"])

    def _drop_unused(self, wanted: set[str]) -> None:
        """Remove what only outputs that are not kept needed."""
        kept: list[onnx.NodeProto] = []
        for node in reversed(self.nodes):
            if wanted.intersection(node.output):
                wanted.update(node.input)
                kept.append(node)
        self.nodes = kept[::-1]
        self.initializers = [tensor for tensor in self.initializers if tensor.name in wanted]
