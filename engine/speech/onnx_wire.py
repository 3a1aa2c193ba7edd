"""Protobuf's wire format, as far as ONNX graphs are changed here without the `onnx` package. Pure.

Numbers of fields are those of `onnx.proto`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INPUT, GRAPH_OUTPUT = 1, 11, 12
VALUE_NAME, VALUE_TYPE = 1, 2
_INPUT, _OUTPUT, _OPERATOR, _ATTRIBUTE = 1, 2, 4, 5  # of a node
_ATTRIBUTE_NAME, _ATTRIBUTE_INT, _ATTRIBUTE_INTS, _ATTRIBUTE_TYPE = 1, 3, 8, 20
_TYPE_INT, _TYPE_INTS = 2, 7
_VARINT, _FIXED_64, _LENGTH_DELIMITED, _FIXED_32 = 0, 1, 2, 5  # types on the wire


@dataclass(frozen=True)
class Node:
    """One operator; tensors by name.

    Attributes:
        integers: its attributes that are an integer or a list of them.
    """

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    integers: Mapping[str, int | list[int]] = field(default_factory=dict)


def bytes_field(number: int, payload: bytes) -> bytes:
    """A string or message as a field."""
    return varint(number << 3 | _LENGTH_DELIMITED) + varint(len(payload)) + payload


def number_field(number: int, value: int) -> bytes:
    """An integer, 0 or more, as a field."""
    return varint(number << 3 | _VARINT) + varint(value)


def varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; the top bit says that more follow."""
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview, memoryview]]:
    """Number, value and all bytes of every field; strings and messages are not copied.

    Raises:
        ValueError: it is no message, or uses groups, which ONNX does not.
    """
    at = 0
    while at < len(message):
        began = at
        tag, at = _read_varint(message, at)
        number, kind = tag >> 3, tag & 7
        value: int | memoryview
        if kind == _VARINT:
            value, at = _read_varint(message, at)
        elif kind == _LENGTH_DELIMITED:
            length, at = _read_varint(message, at)
            value, at = message[at : at + length], at + length
        elif kind in (_FIXED_32, _FIXED_64):
            length = 4 if kind == _FIXED_32 else 8
            value, at = message[at : at + length], at + length
        else:
            raise ValueError("no message of protobuf")
        yield number, value, message[began:at]


def read_node(message: memoryview) -> Node:
    """A node out of its message."""
    texts: dict[int, list[str]] = {}
    integers: dict[str, int | list[int]] = {}
    for number, value, _ in fields(message):
        if isinstance(value, int):
            continue
        if number == _ATTRIBUTE:
            integers.update(_read_integers(value))
        else:
            texts.setdefault(number, []).append(str(value, "utf-8"))
    return Node(
        operator="".join(texts.get(_OPERATOR, ())),
        inputs=tuple(texts.get(_INPUT, ())),
        outputs=tuple(texts.get(_OUTPUT, ())),
        integers=integers,
    )


def node_field(node: Node) -> bytes:
    """A node as a field of a graph."""
    texts = (
        *((_INPUT, name) for name in node.inputs),
        *((_OUTPUT, name) for name in node.outputs),
        (_OPERATOR, node.operator),
    )
    message = b"".join(bytes_field(number, text.encode()) for number, text in texts)
    for name, values in node.integers.items():
        message += bytes_field(_ATTRIBUTE, _integers_message(name, values))
    return bytes_field(GRAPH_NODE, message)


def _integers_message(name: str, values: int | list[int]) -> bytes:
    if isinstance(values, int):
        numbers, kind = number_field(_ATTRIBUTE_INT, values), _TYPE_INT
    else:
        numbers = b"".join(number_field(_ATTRIBUTE_INTS, value) for value in values)
        kind = _TYPE_INTS
    typed = number_field(_ATTRIBUTE_TYPE, kind)
    return bytes_field(_ATTRIBUTE_NAME, name.encode()) + numbers + typed


def _read_integers(attribute: memoryview) -> dict[str, int | list[int]]:
    """Name and integers of an attribute; nothing when it has none."""
    name = ""
    several: list[int] = []
    for number, value, _ in fields(attribute):
        if number == _ATTRIBUTE_NAME and not isinstance(value, int):
            name = str(value, "utf-8")
        elif number == _ATTRIBUTE_INT and isinstance(value, int):
            return {name: value}
        elif number == _ATTRIBUTE_INTS and isinstance(value, int):
            several.append(value)
    return {name: several} if several else {}


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    """The number at a position, and the position behind it."""
    value = shift = 0
    while True:
        if at >= len(message):
            raise ValueError("no message of protobuf")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
