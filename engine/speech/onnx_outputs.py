"""Make an inner tensor of an ONNX graph an output, without the `onnx` package.

In protobuf's wire format a message given twice is merged field by field, so a second, tiny
`graph` appended to a model adds to the first. What is appended reads::

    ModelProto { graph (field 7) { output (field 12) { name (field 1): "..." } } }

onnxruntime infers the type and shape of such an output by itself.
"""

_LENGTH_DELIMITED = 2  # protobuf wire type of strings and messages
_MODEL_GRAPH, _GRAPH_OUTPUT, _VALUE_NAME = 7, 12, 1


def with_output(model: bytes, name: str) -> bytes:
    """Return the serialized `model` with the tensor `name` as one more output, the last one."""
    value = _field(_VALUE_NAME, name.encode())
    return model + _field(_MODEL_GRAPH, _field(_GRAPH_OUTPUT, value))


def _field(number: int, payload: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(payload)) + payload


def _varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; the top bit says that more follow."""
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
