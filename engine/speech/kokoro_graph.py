"""Kokoro's network made faster: same weights, other operators. Pure.

Two thirds of its time went into the convolutions that make sound out of its spectrum. As it comes
they are one-dimensional and of 8-bit integers, for which onnxruntime has no kernel of its own; as
two-dimensional ones of 32 bits, whose second dimension is 1, they run on its blocked kernels. The
weights stay the same, rounded to 8 bits; onnxruntime widens them when it loads the network. What
comes in between is no longer rounded.

Texts that end without a mark end with half a second of silence, which costs as much as speech and
is cut off behind the network. How long each letter may last is therefore an input.
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

LONGEST = "longest"
"""Input, float, 1 x N: most steps, whole ones, that each letter may last, paddings included."""
DURATIONS = "/encoder/Clip_output_0"
"""Steps that each letter lasts, at least one."""
_WISHED = "/encoder/Round_output_0"  # before least and most are applied
_ALLOWED = "allowed_steps"
_SLOW = ("/resblocks.", "/noise_res.")  # in the names of the convolutions that take long
_AXIS = "height_axis"


def faster(model: bytes) -> bytes:
    """The network as its makers published it, with quicker convolutions and the input `LONGEST`."""
    onnx: Any = import_module("onnx")  # only who speaks with this voice needs it
    changed = onnx.load_from_string(model)
    graph = changed.graph
    rounded = {
        node.output[0]: node.input[0]
        for node in graph.node
        if node.op_type == "DynamicQuantizeLinear"
    }
    new = [
        onnx.helper.make_node("Min", [_WISHED, LONGEST], [_ALLOWED]),
        onnx.helper.make_node("Constant", [], [_AXIS], value_ints=[2]),
    ]
    for node in graph.node:
        if _WISHED in node.input:  # what gives every letter its least steps
            node.input[list(node.input).index(_WISHED)] = _ALLOWED
        if node.op_type == "ConvInteger" and any(part in node.output[0] for part in _SLOW):
            new += _widened(onnx, node, rounded[node.input[0]])
    made = {output for node in new for output in node.output}
    nodes = [*new, *(node for node in graph.node if made.isdisjoint(node.output))]
    needed = _needed(nodes, [DURATIONS, *(value.name for value in graph.output)])
    graph.ClearField("node")
    graph.node.extend(needed)
    number = onnx.TensorProto.FLOAT
    graph.input.append(onnx.helper.make_tensor_value_info(LONGEST, number, [1, None]))
    return bytes(changed.SerializeToString())


def _widened(onnx: Any, convolution: Any, given: str) -> list[Any]:  # noqa: ANN401 - untyped
    """A convolution of 32 bits with a height of 1 in the place of one of 8 bits.

    The names are those that onnxruntime's quantiser gives to what it puts around a convolution.

    Args:
        onnx: the package.
        convolution: a node, of integers.
        given: what was rounded for it.
    """
    rows = {
        name: [1, *onnx.helper.get_node_attr_value(convolution, name)]
        for name in ("kernel_shape", "dilations", "strides")
    }
    before, behind = onnx.helper.get_node_attr_value(convolution, "pads")
    weights = convolution.input[1].removesuffix("_quantized")
    result = convolution.output[0].removesuffix("_output_quantized")
    bias = result.removeprefix("/").removesuffix("/Conv_output_0").replace("/", ".") + ".bias"
    wide, zero, centred, scaled, kernel, sound_in, sound = (f"{result}:{n}" for n in range(7))
    node, number = onnx.helper.make_node, onnx.TensorProto.FLOAT
    return [
        node("Cast", [convolution.input[1]], [wide], to=number),
        node("Cast", [convolution.input[3]], [zero], to=number),
        node("Sub", [wide, zero], [centred]),
        node("Mul", [centred, f"{weights}_scale"], [scaled]),
        node("Unsqueeze", [scaled, _AXIS], [kernel]),
        node("Unsqueeze", [given, _AXIS], [sound_in]),
        node("Conv", [sound_in, kernel, bias], [sound], pads=[0, before, 0, behind], **rows),
        node("Squeeze", [sound, _AXIS], [result]),
    ]


def _needed(nodes: Sequence[Any], wanted: Iterable[str]) -> list[Any]:
    """The nodes without which `wanted` would not come out; onnxruntime would run the others too."""
    makers = {output: index for index, node in enumerate(nodes) for output in node.output}
    open_names = list(wanted)
    kept: set[int] = set()
    while open_names:
        index = makers.get(open_names.pop())
        if index is not None and index not in kept:
            kept.add(index)
            open_names += nodes[index].input
    return [nodes[index] for index in sorted(kept)]
