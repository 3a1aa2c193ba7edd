"""Inputs that hand our own decoders the file exactly as it was uploaded.

Gradio's own image input opens the picture before any handler runs, so that a HEIC, damaged or
huge file ends in a raw error. Here nothing is opened in the page's process, and an address in
place of an upload is refused, whoever sends it. Boxes for files take every type: Gradio would
refuse the others in English, we say in the visitor's language what fits.
"""

import urllib.parse
from abc import ABCMeta
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block
from gradio.component_meta import ComponentMeta
from gradio.route_utils import API_PREFIX
from gradio.utils import get_upload_folder

from engine.errors import ErrorCode
from studio.failures import toast
from studio.locales import explain


class _WithoutStub(ComponentMeta):
    """Gradio's metaclass writes a .pyi file beside every component; ours add no events."""

    def __new__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> "_WithoutStub":
        return ABCMeta.__new__(cls, name, bases, attrs)


def _as_uploaded(self: Block, payload: Any) -> str | None:  # noqa: ANN401 - Gradio's file model and method signature
    """The path of the uploaded file, unopened; Gradio has checked that it is an upload."""
    return payload.path if payload is not None else None


async def _uploads_only(self: Block, url_or_file_path: Any) -> str | None:  # noqa: ANN401 - Gradio's signature
    """Leave files to Gradio; of addresses take those of our own uploads, and fetch none."""
    address = str(url_or_file_path)
    if not address.lower().startswith(("http:", "https:")):
        return await Block.async_move_resource_to_block_cache(self, url_or_file_path)
    upload = _upload_at(address)
    if upload is None:
        raise toast(explain(ErrorCode.FILE_NOT_FOUND, {"name": address}))
    return str(upload)


def _upload_at(address: str) -> Path | None:
    """The uploaded file that an address of this studio names; programs over MCP send such."""
    _, _, path = urllib.parse.unquote(address).partition(f"{API_PREFIX}/file=")
    uploads = Path(get_upload_folder()).resolve()
    upload = Path(path).resolve()
    return upload if path and upload.is_relative_to(uploads) and upload.is_file() else None


# `is_template` makes Gradio draw a class with the front end of its parent.


class PortraitUpload(gr.Image, metaclass=_WithoutStub):
    """A picture by upload, paste, drop or camera."""

    is_template = True
    preprocess = _as_uploaded
    async_move_resource_to_block_cache = _uploads_only


class MicrophoneRecording(gr.Audio, metaclass=_WithoutStub):
    """A recording made in the browser."""

    is_template = True
    preprocess = _as_uploaded
    async_move_resource_to_block_cache = _uploads_only


class FileUpload(gr.File, metaclass=_WithoutStub):
    """Any file."""

    is_template = True
    preprocess = _as_uploaded
    async_move_resource_to_block_cache = _uploads_only


class RecipeUpload(gr.UploadButton, metaclass=_WithoutStub):
    """A small file with settings."""

    is_template = True
    preprocess = _as_uploaded
    async_move_resource_to_block_cache = _uploads_only


class FilesUpload(gr.File, metaclass=_WithoutStub):
    """Any files, in the order in which they were given."""

    is_template = True
    async_move_resource_to_block_cache = _uploads_only

    def preprocess(self, payload: Any) -> list[str]:  # noqa: ANN401 - Gradio's file models
        """The paths of the uploaded files, unopened."""
        if payload is None:
            return []
        files = payload.root if hasattr(payload, "root") else [payload]
        return [file.path for file in files]


class OptionsInput(gr.JSON, metaclass=_WithoutStub):
    """An object of options, with a schema that programs over MCP accept."""

    is_template = True

    def api_info(self) -> dict[str, Any]:
        """The JSON schema; Gradio's own says `type: {}`, which is not one."""
        return {"type": "object", "additionalProperties": True}


class AnswerOutput(gr.JSON, metaclass=_WithoutStub):
    """The answer of an endpoint; Gradio's own reaches programs over MCP inside a wrapper."""

    is_template = True

    def postprocess(self, value: dict[Any, Any] | list[Any] | str | None) -> Any:  # noqa: ANN401 - Gradio's signature
        """The answer as it is."""
        return value
