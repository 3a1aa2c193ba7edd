# ruff: noqa: RUF001 - IPA letters look like others by nature
"""Tiny voices in the file formats of large ones, made on the spot: real graphs, real sound."""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HOP = 256
STEPS_A_LETTER = 12  # of the durations: 140 ms at 22.05 kHz
PIPER_LETTERS = "_^$ abdefhijklmnopstuvwzæðŋɐɑɔəɛɜɡɪɹʃʊʌʒθˈˌː.,!?"


def _constant(name: str, values: object, kind: type) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, kind), name)


def _save(path: Path, nodes, inputs, outputs, constants) -> None:
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))


def make_piper(
    folder: Path, name: str = "xx_XX-tiny-low", *, voice: str = "en-us", kind: str = "espeak"
) -> Path:
    """A voice in Piper's layout: every letter but the marks hums, its duration times the scale."""
    letters = PIPER_LETTERS if kind == "espeak" else "_^$ абвгдежзиклмнопрстуяі.,"
    steps = [0.0 if letter in "_^$" else STEPS_A_LETTER - 0.5 for letter in letters]
    hum = [0.0 if letter in "_^$ .,!?ˈˌː" else 0.3 for letter in letters]
    nodes = [
        helper.make_node("Gather", ["steps", "input"], ["raw"]),
        helper.make_node("Gather", ["scales", "one"], ["slowness"]),
        helper.make_node("Mul", ["raw", "slowness"], ["scaled"]),
        helper.make_node("Ceil", ["scaled"], ["/dp/Ceil_output_0"], name="/dp/Ceil"),
        helper.make_node("Squeeze", ["/dp/Ceil_output_0", "axis"], ["flat"]),
        helper.make_node("CumSum", ["flat", "zero"], ["ends"]),
        helper.make_node("ReduceMax", ["ends"], ["total"], keepdims=0),
        helper.make_node("Mul", ["total", "hop"], ["samples"]),
        helper.make_node("Range", ["zero_f", "samples", "one_f"], ["time"]),
        # The letter of a sample: how many letters have ended before it.
        helper.make_node("Mul", ["ends", "hop"], ["borders"]),
        helper.make_node("Unsqueeze", ["borders", "last"], ["borders_2"]),
        helper.make_node("Unsqueeze", ["time", "axis"], ["time_2"]),
        helper.make_node("GreaterOrEqual", ["time_2", "borders_2"], ["past"]),
        helper.make_node("Cast", ["past"], ["past_n"], to=TensorProto.INT64),
        helper.make_node("ReduceSum", ["past_n", "axis"], ["index"], keepdims=0),
        helper.make_node("Squeeze", ["input", "axis"], ["letters"]),
        helper.make_node("Gather", ["letters", "index"], ["letter"]),
        helper.make_node("Gather", ["hum", "letter"], ["loudness"]),
        helper.make_node("Mul", ["time", "pitch"], ["angle"]),
        helper.make_node("Sin", ["angle"], ["wave"]),
        helper.make_node("Mul", ["wave", "loudness"], ["sound"]),
        helper.make_node("Unsqueeze", ["sound", "both"], ["output"]),
    ]
    constants = [
        _constant("steps", steps, np.float32),
        _constant("hum", hum, np.float32),
        _constant("one", 1, np.int64),
        _constant("axis", [0], np.int64),
        _constant("last", [1], np.int64),
        _constant("both", [0, 1], np.int64),
        _constant("zero", 0, np.int64),
        _constant("zero_f", 0, np.float32),
        _constant("one_f", 1, np.float32),
        _constant("hop", HOP, np.float32),
        _constant("pitch", 0.06, np.float32),
    ]
    path = folder / f"{name}.onnx"
    _save(
        path,
        nodes,
        [
            helper.make_tensor_value_info("input", TensorProto.INT64, [1, "letters"]),
            helper.make_tensor_value_info("input_lengths", TensorProto.INT64, [1]),
            helper.make_tensor_value_info("scales", TensorProto.FLOAT, [3]),
        ],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, None)],
        constants,
    )
    config = {
        "audio": {"sample_rate": 22050},
        "espeak": {"voice": voice},
        "phoneme_type": kind,
        "phoneme_id_map": {letter: [number] for number, letter in enumerate(letters)},
        "inference": {"noise_scale": 0.667, "length_scale": 1.0, "noise_w": 0.8},
        "num_speakers": 1,
    }
    path.with_name(path.name + ".json").write_text(json.dumps(config, ensure_ascii=False), "utf-8")
    return path


def make_supertonic(folder: Path, styles: tuple[str, ...]) -> None:
    """Supertonic's files: .08 s a letter, every step of the estimate halves the noise, and the
    vocoder hums on it."""
    rate_hz, chunk, together, width = 44100, 512, 6, 24
    config = {
        "ae": {"sample_rate": rate_hz, "base_chunk_size": chunk},
        "ttl": {"chunk_compress_factor": together, "latent_dim": width},
    }
    known = {
        ord(letter) for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ<>/ .,!?"
    }
    indexer = [code if code in known or code == 0x301 else -1 for code in range(0x400)]
    onnx_folder = folder / "onnx"
    onnx_folder.mkdir(parents=True, exist_ok=True)
    (onnx_folder / "tts.json").write_text(json.dumps(config), "utf-8")
    (onnx_folder / "unicode_indexer.json").write_text(json.dumps(indexer), "utf-8")
    tensor = {"dims": [1, 2, 3], "data": [[[0.1] * 3] * 2]}
    for name in styles:
        path = folder / "voice_styles" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"style_ttl": tensor, "style_dp": tensor}), "utf-8")
    info = helper.make_tensor_value_info
    ids = info("text_ids", TensorProto.INT64, [1, "letters"])
    mask = info("text_mask", TensorProto.FLOAT, [1, 1, "letters"])
    style = {name: info(name, TensorProto.FLOAT, [1, 2, 3]) for name in ("style_dp", "style_ttl")}
    _save(
        onnx_folder / "duration_predictor.onnx",
        [
            helper.make_node("ReduceSum", ["text_mask"], ["count"], keepdims=0),
            helper.make_node("Mul", ["count", "letter"], ["seconds_0"]),
            helper.make_node("Unsqueeze", ["seconds_0", "axis"], ["seconds"]),
        ],
        [ids, style["style_dp"], mask],
        [info("seconds", TensorProto.FLOAT, [1])],
        [_constant("letter", 0.08, np.float32), _constant("axis", [0], np.int64)],
    )
    _save(
        onnx_folder / "text_encoder.onnx",
        [helper.make_node("Identity", ["text_mask"], ["text_emb"])],
        [ids, style["style_ttl"], mask],
        [info("text_emb", TensorProto.FLOAT, [1, 1, "letters"])],
        [],
    )
    latent = info("noisy_latent", TensorProto.FLOAT, [1, width * together, "steps"])
    _save(
        onnx_folder / "vector_estimator.onnx",
        [helper.make_node("Mul", ["noisy_latent", "half"], ["next"])],
        [
            latent,
            info("text_emb", TensorProto.FLOAT, [1, 1, "letters"]),
            style["style_ttl"],
            mask,
            info("latent_mask", TensorProto.FLOAT, [1, 1, "steps"]),
            info("current_step", TensorProto.FLOAT, [1]),
            info("total_step", TensorProto.FLOAT, [1]),
        ],
        [info("next", TensorProto.FLOAT, None)],
        [_constant("half", 0.5, np.float32)],
    )
    _save(
        onnx_folder / "vocoder.onnx",
        [
            helper.make_node("Shape", ["latent"], ["shape"]),
            helper.make_node("Gather", ["shape", "last"], ["steps"]),
            helper.make_node("Mul", ["steps", "chunk"], ["count"]),
            helper.make_node("Cast", ["count"], ["count_f"], to=TensorProto.FLOAT),
            helper.make_node("Range", ["zero_f", "count_f", "one_f"], ["time"]),
            helper.make_node("Mul", ["time", "pitch"], ["angle"]),
            helper.make_node("Sin", ["angle"], ["wave"]),
            helper.make_node("Mul", ["wave", "loud"], ["quieter"]),
            helper.make_node("Unsqueeze", ["quieter", "axis"], ["wav"]),
        ],
        [info("latent", TensorProto.FLOAT, [1, width * together, "steps"])],
        [info("wav", TensorProto.FLOAT, None)],
        [
            _constant("last", 2, np.int64),
            _constant("chunk", chunk * together, np.int64),
            _constant("zero_f", 0, np.float32),
            _constant("one_f", 1, np.float32),
            _constant("pitch", 0.03, np.float32),
            _constant("loud", 0.3, np.float32),
            _constant("axis", [0], np.int64),
        ],
    )
