"""Make an inner tensor of an ONNX graph an output, without the `onnx` package.

In protobuf's wire format a message given twice is merged field by field, so a second, tiny
`graph` appended to a model adds to the first. What is appended reads::

    ModelProto { graph (field 7) { output (field 12) { name (field 1): "..." } } }

onnxruntime infers the type and shape of such an output by itself.
"""

from engine.speech.onnx_wire import GRAPH_OUTPUT, MODEL_GRAPH, VALUE_NAME, bytes_field


def with_output(model: bytes, name: str) -> bytes:
    """Return the serialized `model` with the tensor `name` as one more output, the last one."""
    value = bytes_field(VALUE_NAME, name.encode())
    return model + bytes_field(MODEL_GRAPH, bytes_field(GRAPH_OUTPUT, value))
