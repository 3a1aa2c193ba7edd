"""The quicker network says the same: a tiny one with the names of the real one."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import quantize_dynamic

from engine.speech.kokoro_graph import DURATIONS, LONGEST, faster
from engine.speech.onnx_outputs import with_output

SLOW, OTHER = "/generator/resblocks.0/convs1.0", "/generator/other"
CHANNELS, TAPS = 16, 3


def weights(path: str, rng: np.random.Generator) -> list[TensorProto]:
    name = path.removeprefix("/").replace("/", ".")
    return [
        numpy_helper.from_array(values.astype(np.float32), f"{name}.{part}")
        for part, values in (
            ("weight", rng.standard_normal((CHANNELS, CHANNELS, TAPS)) / 5),
            ("bias", rng.standard_normal(CHANNELS)),
        )
    ]


@pytest.fixture(scope="module")
def networks(tmp_path_factory) -> tuple[bytes, bytes]:
    """Two convolutions and a duration for each letter: with 32 bits, and quantised like Kokoro."""
    rng = np.random.default_rng(5)
    nodes = [helper.make_node("Round", ["wish"], ["/encoder/Round_output_0"])]
    nodes.append(helper.make_node("Clip", ["/encoder/Round_output_0", "one"], [DURATIONS]))
    given = "x"
    for path, dilation in ((SLOW, 2), (OTHER, 1)):
        name = path.removeprefix("/").replace("/", ".")
        result = f"{path}/Conv_output_0"
        nodes.append(
            helper.make_node(
                "Conv",
                [given, f"{name}.weight", f"{name}.bias"],
                [result],
                name=f"{path}/Conv",
                kernel_shape=[TAPS],
                dilations=[dilation],
                pads=[dilation, dilation],
                strides=[1],
            )
        )
        given = result
    nodes.append(helper.make_node("Add", [given, DURATIONS], ["y"]))
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, CHANNELS, None]),
            helper.make_tensor_value_info("wish", TensorProto.FLOAT, [1, None]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            *weights(SLOW, rng),
            *weights(OTHER, rng),
            numpy_helper.from_array(np.array(1, np.float32), "one"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    folder = tmp_path_factory.mktemp("network")
    onnx.save(model, folder / "whole.onnx")
    quantize_dynamic(folder / "whole.onnx", folder / "small.onnx")
    return (folder / "whole.onnx").read_bytes(), (folder / "small.onnx").read_bytes()


def run(model: bytes, longest: list[float] | None = None) -> list[np.ndarray]:
    """Sound and durations of three letters that would like 9, 0 and 4 steps."""
    session = onnxruntime.InferenceSession(
        with_output(model, DURATIONS), providers=["CPUExecutionProvider"]
    )
    x = np.random.default_rng(6).standard_normal((1, CHANNELS, 3)).astype(np.float32)
    feeds = {"x": x, "wish": np.array([[9.2, 0.1, 4]], np.float32)}
    if longest is not None:
        feeds[LONGEST] = np.array([longest], np.float32)
    return session.run(None, feeds)


def operators(model: bytes) -> list[str]:
    return [node.op_type for node in onnx.load_from_string(model).graph.node]


def test_only_what_takes_long_is_widened_and_nothing_is_left_behind(networks):
    _, small = networks
    assert operators(small).count("ConvInteger") == 2

    changed = operators(faster(small))

    assert changed.count("ConvInteger") == changed.count("Conv") == 1
    assert changed.count("DynamicQuantizeLinear") == 1


def test_widened_network_comes_closer_to_the_one_that_was_quantised(networks):
    whole, small = networks
    want = run(whole)[0]

    error = np.abs(run(faster(small), [99.0] * 3)[0] - want).max()

    assert error < 0.1 * np.abs(want).max()
    assert error < np.abs(run(small)[0] - want).max()


def test_letters_last_no_longer_than_they_may_and_one_step_at_least(networks):
    changed = faster(networks[1])

    assert run(changed, [np.inf] * 3)[1].tolist() == [[9.0, 1.0, 4.0]]
    assert run(changed, [5.0, np.inf, 3.0])[1].tolist() == [[5.0, 1.0, 3.0]]
