"""One more output for a model, without the onnx package."""

import numpy as np
import onnxruntime
import pytest

from engine.speech.onnx_outputs import _field, with_output


@pytest.fixture(scope="module")
def model():
    """y = -(-x), written as protobuf by hand: the inner tensor is called `inner`."""

    def value(name):  # float tensor of shape [3]
        shape = _field(2, _field(1, b"\x08\x03"))
        tensor = _field(1, b"\x08\x01" + shape)
        return _field(1, name) + _field(2, tensor)

    def negate(source, target):
        return _field(1, source) + _field(2, target) + _field(4, b"Neg")

    graph = (
        _field(1, negate(b"x", b"inner"))
        + _field(1, negate(b"inner", b"y"))
        + _field(2, b"g" * 200)
        + _field(11, value(b"x"))
        + _field(12, value(b"y"))
    )
    return b"\x08\x08" + _field(7, graph) + _field(8, b"\x10\x0d")


def test_inner_tensor_becomes_the_last_output(model):
    session = onnxruntime.InferenceSession(
        with_output(model, "inner"), providers=["CPUExecutionProvider"]
    )
    given = np.array([1, -2, 3], np.float32)

    outputs = session.run(None, {"x": given})

    assert [output.name for output in session.get_outputs()] == ["y", "inner"]
    assert np.array_equal(outputs[0], given)
    assert np.array_equal(outputs[1], -given)


def test_unknown_tensor_is_refused_by_the_runtime(model):
    with pytest.raises(Exception, match="nowhere"):
        onnxruntime.InferenceSession(
            with_output(model, "nowhere"), providers=["CPUExecutionProvider"]
        )
