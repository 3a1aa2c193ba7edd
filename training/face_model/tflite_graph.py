"""Reads the part of a tflite file that the face networks use into plain Python values."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tflite
from numpy.typing import NDArray

_DTYPES: dict[int, type[np.generic]] = {
    tflite.TensorType.FLOAT32: np.float32,
    tflite.TensorType.FLOAT16: np.float16,
    tflite.TensorType.INT32: np.int32,
}
_OPERATOR_NAMES = {
    number: name for name, number in vars(tflite.BuiltinOperator).items() if isinstance(number, int)
}
_ACTIVATIONS = {
    tflite.ActivationFunctionType.NONE: None,
    tflite.ActivationFunctionType.RELU: "Relu",
}
_OPTION_READERS: dict[str, type] = {
    "CONV_2D": tflite.Conv2DOptions,
    "DEPTHWISE_CONV_2D": tflite.DepthwiseConv2DOptions,
    "MAX_POOL_2D": tflite.Pool2DOptions,
    "CONCATENATION": tflite.ConcatenationOptions,
    "ADD": tflite.AddOptions,
}


@dataclass(frozen=True)
class Tensor:
    """One tensor; `values` is None unless it is a constant. Layout is tflite's NHWC."""

    name: str
    shape: tuple[int, ...]
    values: NDArray[Any] | None


@dataclass(frozen=True)
class Operator:
    """One operation; inputs and outputs are indices of tensors, -1 = left out."""

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    activation: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    """The only subgraph of a face network."""

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def read_graph(data: bytes) -> Graph:
    """Read a tflite flatbuffer.

    Raises:
        ValueError: for more than one subgraph, or an operator option that is not understood.
    """
    model = tflite.Model.GetRootAsModel(data, 0)
    if model.SubgraphsLength() != 1:
        raise ValueError(f"one subgraph expected, found {model.SubgraphsLength()}")
    subgraph = model.Subgraphs(0)
    return Graph(
        tensors=tuple(_read_tensor(model, subgraph, i) for i in range(subgraph.TensorsLength())),
        operators=tuple(
            _read_operator(model, subgraph.Operators(i)) for i in range(subgraph.OperatorsLength())
        ),
        inputs=tuple(int(i) for i in subgraph.InputsAsNumpy()),
        outputs=tuple(int(i) for i in subgraph.OutputsAsNumpy()),
    )


def _read_tensor(model: tflite.Model, subgraph: tflite.SubGraph, index: int) -> Tensor:
    tensor = subgraph.Tensors(index)
    shape = tuple(int(n) for n in tensor.ShapeAsNumpy())
    buffer = model.Buffers(tensor.Buffer())
    values = None
    if buffer.DataLength():
        dtype = _DTYPES[tensor.Type()]
        values = np.frombuffer(buffer.DataAsNumpy().tobytes(), dtype).reshape(shape)
    return Tensor(tensor.Name().decode(), shape, values)


def _read_operator(model: tflite.Model, operator: tflite.Operator) -> Operator:
    code = model.OperatorCodes(operator.OpcodeIndex())
    name = _OPERATOR_NAMES[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]
    options: dict[str, Any] = {}
    activation = None
    if name in _OPTION_READERS:
        reader = _OPTION_READERS[name]()
        table = operator.BuiltinOptions()
        reader.Init(table.Bytes, table.Pos)
        activation = _ACTIVATIONS[reader.FusedActivationFunction()]
        options = _read_options(name, reader)
    return Operator(
        name,
        tuple(int(i) for i in operator.InputsAsNumpy()),
        tuple(int(i) for i in operator.OutputsAsNumpy()),
        activation,
        options,
    )


def _read_options(
    name: str, reader: tflite.Conv2DOptions | tflite.Pool2DOptions | tflite.ConcatenationOptions
) -> dict[str, Any]:
    if name == "ADD":
        return {}
    if name == "CONCATENATION":
        return {"axis": reader.Axis()}
    options = {
        "strides": (reader.StrideH(), reader.StrideW()),
        "same": reader.Padding() == tflite.Padding.SAME,
    }
    if name == "MAX_POOL_2D":
        options["kernel"] = (reader.FilterHeight(), reader.FilterWidth())
    elif (reader.DilationHFactor(), reader.DilationWFactor()) != (1, 1):
        raise ValueError(f"{name}: dilation is not supported")
    return options
