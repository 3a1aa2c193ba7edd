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
from dataclasses import replace

from engine.speech.onnx_wire import (
    GRAPH_INPUT,
    GRAPH_NODE,
    GRAPH_OUTPUT,
    MODEL_GRAPH,
    VALUE_NAME,
    VALUE_TYPE,
    Node,
    bytes_field,
    fields,
    node_field,
    number_field,
    read_node,
)

LONGEST = "longest"
"""Input, float, 1 x N: most steps, whole ones, that each letter may last, paddings included."""
DURATIONS = "/encoder/Clip_output_0"
"""Steps that each letter lasts, at least one."""
_WISHED = "/encoder/Round_output_0"  # before least and most are applied
_ALLOWED = "allowed_steps"
_SLOW = ("/resblocks.", "/noise_res.")  # in the names of the convolutions that take long
_AXIS = "height_axis"
_FLOAT = 1  # ONNX's number of the type of 32 bits


def faster(model: bytes) -> bytes:
    """The network as its makers published it, with quicker convolutions and the input `LONGEST`.

    Raises:
        ValueError: it is no ONNX model.
    """
    return b"".join(
        bytes_field(MODEL_GRAPH, _faster_graph(value))
        if number == MODEL_GRAPH and not isinstance(value, int)
        else raw
        for number, value, raw in fields(memoryview(model))
    )


def _faster_graph(graph: memoryview) -> bytes:
    nodes: list[tuple[Node, bytes | memoryview]] = []
    others: list[memoryview] = []
    wanted = [DURATIONS]
    for number, value, raw in fields(graph):
        if number == GRAPH_NODE and not isinstance(value, int):
            nodes.append((read_node(value), raw))
            continue
        others.append(raw)
        if number == GRAPH_OUTPUT and not isinstance(value, int):
            wanted.append(_name_of(value))
    rounded = {
        node.outputs[0]: node.inputs[0]
        for node, _ in nodes
        if node.operator == "DynamicQuantizeLinear"
    }
    new = [_limited(node) for node, _ in nodes if _WISHED in node.inputs]
    for node, _ in nodes:
        if _is_slow(node):
            new += _widened(node, rounded[node.inputs[0]])
    new += [
        Node("Min", (_WISHED, LONGEST), (_ALLOWED,)),
        Node("Constant", (), (_AXIS,), {"value_ints": [2]}),
    ]
    made = {output for node in new for output in node.outputs}
    nodes = [each for each in nodes if made.isdisjoint(each[0].outputs)]
    nodes += [(node, node_field(node)) for node in new]
    return b"".join(
        (*_needed(nodes, wanted), *others, bytes_field(GRAPH_INPUT, _float_value(LONGEST)))
    )


def _is_slow(node: Node) -> bool:
    return node.operator == "ConvInteger" and any(part in node.outputs[0] for part in _SLOW)


def _limited(clip: Node) -> Node:
    """What gives every letter its least steps, after the most were applied."""
    return replace(
        clip, inputs=tuple(_ALLOWED if name == _WISHED else name for name in clip.inputs)
    )


def _widened(convolution: Node, given: str) -> list[Node]:
    """A convolution of 32 bits with a height of 1 in the place of one of 8 bits.

    The names are those that onnxruntime's quantiser gives to what it puts around a convolution.

    Args:
        convolution: of integers.
        given: what was rounded for it.
    """
    heights = {"kernel_shape": 1, "dilations": 1, "strides": 1}
    integers: dict[str, int | list[int]] = {
        name: [height, *_listed(convolution, name)] for name, height in heights.items()
    }
    before, behind = _listed(convolution, "pads")
    integers["pads"] = [0, before, 0, behind]
    weights = convolution.inputs[1].removesuffix("_quantized")
    result = convolution.outputs[0].removesuffix("_output_quantized")
    bias = result.removeprefix("/").removesuffix("/Conv_output_0").replace("/", ".") + ".bias"
    names = {
        part: f"{result}:{part}"
        for part in ("weights", "zero", "centred", "scaled", "kernel", "row", "sound")
    }
    return [
        Node("Cast", (convolution.inputs[1],), (names["weights"],), {"to": _FLOAT}),
        Node("Cast", (convolution.inputs[3],), (names["zero"],), {"to": _FLOAT}),
        Node("Sub", (names["weights"], names["zero"]), (names["centred"],)),
        Node("Mul", (names["centred"], f"{weights}_scale"), (names["scaled"],)),
        Node("Unsqueeze", (names["scaled"], _AXIS), (names["kernel"],)),
        Node("Unsqueeze", (given, _AXIS), (names["row"],)),
        Node("Conv", (names["row"], names["kernel"], bias), (names["sound"],), integers),
        Node("Squeeze", (names["sound"], _AXIS), (result,)),
    ]


def _listed(node: Node, name: str) -> list[int]:
    value = node.integers[name]
    return value if isinstance(value, list) else [value]


def _needed(
    nodes: Sequence[tuple[Node, bytes | memoryview]], wanted: Iterable[str]
) -> list[bytes | memoryview]:
    """The nodes without which `wanted` would not come out; onnxruntime would run the others too."""
    makers = {output: index for index, (node, _) in enumerate(nodes) for output in node.outputs}
    open_names = list(wanted)
    kept: set[int] = set()
    while open_names:
        index = makers.get(open_names.pop())
        if index is not None and index not in kept:
            kept.add(index)
            open_names += nodes[index][0].inputs
    return [nodes[index][1] for index in sorted(kept)]


def _name_of(value: memoryview) -> str:
    """The name in a `ValueInfoProto`."""
    return "".join(
        str(name, "utf-8")
        for number, name, _ in fields(value)
        if number == VALUE_NAME and not isinstance(name, int)
    )


def _float_value(name: str) -> bytes:
    """An input of floats: `ValueInfoProto { name, type { tensor_type { elem_type } } }`."""
    kind = bytes_field(1, number_field(1, _FLOAT))
    return bytes_field(VALUE_NAME, name.encode()) + bytes_field(VALUE_TYPE, kind)
