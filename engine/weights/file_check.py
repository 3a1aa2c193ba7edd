"""Whether a weights file is what its name says, told from its first and last bytes.

Cheap (no tensor is read) and free of torch. What it catches is what people really have: a Git
LFS pointer, a saved web page, a download cut short.
"""

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

LFS_POINTER_START = b"version https://git-lfs"
ONNX_START = b"\x08"  # a protobuf message whose first field is the version of the format
_LISTS = frozenset({"unicode_indexer.json", "shared_vocabulary.json"})
PICKLE_START = b"\x80"
SENTENCEPIECE_START = b"\x0a"  # a protobuf message that begins with a piece
CTRANSLATE2_NAME = "model.bin"

# A safetensors header is JSON behind eight bytes of length; the format allows 100 MB.
MAX_HEADER_BYTES = 100_000_000


def find_fault(path: Path) -> str | None:
    """What is wrong with the file, as the end of a sentence ("it ..."); None when nothing is.

    Args:
        path: an existing file; its suffix says what it should be.
    """
    if path.stat().st_size == 0:
        return "it is empty"
    with path.open("rb") as stream:
        start = stream.read(512)
    if start.startswith(LFS_POINTER_START):
        return "it is a Git LFS pointer, not the weights themselves"
    if start.lstrip()[:1] == b"<":
        return "it is a web page, not the weights"
    if path.name == CTRANSLATE2_NAME:
        return _fault_of_ctranslate2(path)
    if path.suffix in _FAULT_OF:
        return _FAULT_OF[path.suffix](path)
    return _fault_of_torch_file(path, start)


def _fault_of_json(path: Path) -> str | None:
    try:
        content = json.loads(path.read_text("utf-8"))
    except ValueError:
        return "it is not readable JSON"
    wanted = list if path.name in _LISTS else dict
    return None if isinstance(content, wanted) else "it is not a configuration"


def _fault_of_safetensors(path: Path) -> str | None:
    size_bytes = path.stat().st_size
    with path.open("rb") as stream:
        header_bytes = int.from_bytes(stream.read(8), "little")
        if header_bytes > MAX_HEADER_BYTES:
            return "it is not a safetensors file"
        header = stream.read(header_bytes)
    if len(header) < header_bytes:
        return "it was cut short"
    try:
        entries = json.loads(header)
        ends = [entry["data_offsets"][1] for key, entry in entries.items() if key[:2] != "__"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return "it is not a safetensors file"
    wanted = 8 + header_bytes + max(ends, default=0)
    if size_bytes < wanted:
        return f"it was cut short: {size_bytes:,} of {wanted:,} bytes are there"
    return None


def _fault_of_torch_file(path: Path, start: bytes) -> str | None:
    """Newer files are zip archives with their directory at the end, older ones plain pickles."""
    if start.startswith(b"PK"):
        return None if zipfile.is_zipfile(path) else "it was cut short"
    if not start.startswith(PICKLE_START) or start[1] > pickle.HIGHEST_PROTOCOL:
        return "it is not a weights file"
    return None


def _fault_of_onnx(path: Path) -> str | None:
    with path.open("rb") as stream:
        return None if stream.read(1) == ONNX_START else "it is not an ONNX network"


def _fault_of_text(path: Path) -> str | None:
    with path.open("rb") as stream:
        return "it is not text" if b"\0" in stream.read(512) else None


def _fault_of_ctranslate2(path: Path) -> str | None:
    """A number of the format, then the name of the architecture, such as `WhisperSpec`."""
    with path.open("rb") as stream:
        start = stream.read(64)
    version = int.from_bytes(start[:4], "little")
    is_known = 0 < version < 256 and b"Spec\0" in start
    return None if is_known else "it is not a CTranslate2 model"


def _fault_of_sentencepiece(path: Path) -> str | None:
    with path.open("rb") as stream:
        return None if stream.read(1) == SENTENCEPIECE_START else "it is not a list of word pieces"


_FAULT_OF: dict[str, Callable[[Path], str | None]] = {
    ".json": _fault_of_json,
    ".model": _fault_of_sentencepiece,
    ".onnx": _fault_of_onnx,
    ".safetensors": _fault_of_safetensors,
    ".txt": _fault_of_text,
}
