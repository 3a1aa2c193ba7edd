"""Makes the files in `assets/face` from MediaPipe's `face_landmarker.task` (Apache-2.0).

    python training/face_model/convert.py face_landmarker.task assets/face

Needs `training/requirements.txt`. The result is the same byte for byte on every run. With
`--verify` the converted networks are run beside the tflite interpreter (`ai-edge-litert`) on
random pictures, and the largest difference is printed.
"""

import argparse
import hashlib
import json
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import onnxruntime

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from training.face_model.canonical_mesh import read_canonical_mesh
from training.face_model.onnx_writer import to_onnx
from training.face_model.tflite_graph import Graph, read_graph

DETECTOR = ("face_detector.tflite", "face_detector.onnx")
LANDMARKS = ("face_landmarks_detector.tflite", "face_landmarks.onnx")
MESH = ("geometry_pipeline_metadata_landmarks.binarypb", "canonical_mesh.npz")
# The landmark network's third output is about the tongue and not needed.
OUTPUTS = {
    "regressors": "boxes",
    "classificators": "scores",
    "Identity": "landmarks",
    "Identity_1": "presence",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", type=Path, help="face_landmarker.task as published")
    parser.add_argument("folder", type=Path, help="where the results go, e.g. assets/face")
    parser.add_argument("--verify", action="store_true", help="compare with the tflite interpreter")
    arguments = parser.parse_args()
    convert(arguments.task, arguments.folder)
    if arguments.verify:
        verify(arguments.task, arguments.folder)


def convert(task: Path, folder: Path) -> None:
    """Write both networks, the mesh, and `source.json`, which says what they were made from."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(task) as archive:
        for source, target in (DETECTOR, LANDMARKS):
            graph = read_graph(archive.read(source))
            model = to_onnx(graph, wanted_outputs(graph), Path(target).stem)
            (folder / target).write_bytes(model.SerializeToString(deterministic=True))
        write_mesh(archive.read(MESH[0]), folder / MESH[1])
    files = [folder / target for _, target in (DETECTOR, LANDMARKS, MESH)]
    source_record = {
        "source": "MediaPipe face_landmarker.task (float16, version 1), Google",
        "licence": "Apache-2.0",
        "source_sha256": sha256(task),
        "made_by": "training/face_model/convert.py",
        "files": {path.name: sha256(path) for path in files},
    }
    (folder / "source.json").write_text(json.dumps(source_record, indent=2) + "\n")
    for path in files:
        print(f"{path.name}: {path.stat().st_size} bytes")


def wanted_outputs(graph: Graph) -> dict[int, str]:
    names = {index: graph.tensors[index].name for index in graph.outputs}
    return {index: OUTPUTS[name] for index, name in names.items() if name in OUTPUTS}


def write_mesh(data: bytes, target: Path) -> None:
    """Write a compressed npz whose bytes do not depend on the time of day."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in read_canonical_mesh(data).items():
            buffer = BytesIO()
            np.save(buffer, values, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, buffer.getvalue())


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def verify(task: Path, folder: Path, rounds: int = 8) -> None:
    """Print the largest difference between tflite and ONNX for every output kept."""
    from ai_edge_litert.interpreter import Interpreter  # noqa: PLC0415 - only --verify needs it

    rng = np.random.default_rng(0)
    for source, target in (DETECTOR, LANDMARKS):
        with zipfile.ZipFile(task) as archive:
            content = archive.read(source)
        graph = read_graph(content)
        interpreter = Interpreter(model_content=content)
        interpreter.allocate_tensors()
        session = onnxruntime.InferenceSession(folder / target, providers=["CPUExecutionProvider"])
        details = {entry["name"]: entry["index"] for entry in interpreter.get_output_details()}
        worst: dict[str, float] = {}
        for _ in range(rounds):
            picture = rng.random(graph.tensors[graph.inputs[0]].shape, dtype=np.float32)
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], picture)
            interpreter.invoke()
            for index, label in wanted_outputs(graph).items():
                expected = interpreter.get_tensor(details[graph.tensors[index].name])
                (actual,) = session.run([label], {"picture": picture})
                difference = float(np.abs(expected - actual).max())
                worst[label] = max(worst.get(label, 0.0), difference)
        print(target, {label: f"{value:.2e}" for label, value in worst.items()})


if __name__ == "__main__":
    main()
