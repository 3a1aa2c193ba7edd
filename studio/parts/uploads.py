"""Components that hand our own decoders the file exactly as it was uploaded.

Gradio's own image input opens the picture before any handler runs, so that a HEIC, damaged or
huge file ends in a raw error. Here nothing is opened in the page's process, and an address in
place of an upload is refused, whoever sends it.
"""

from abc import ABCMeta
from typing import Any

import gradio as gr
from gradio.blocks import Block
from gradio.component_meta import ComponentMeta

from engine.errors import ErrorCode
from engine.messages import describe
from studio.failures import toast


class _WithoutStub(ComponentMeta):
    """Gradio's metaclass writes a .pyi file beside every component; ours add no events."""

    def __new__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> "_WithoutStub":
        return ABCMeta.__new__(cls, name, bases, attrs)


def _as_uploaded(self: Block, payload: Any) -> str | None:  # noqa: ANN401 - Gradio's file model and method signature
    """The path of the uploaded file, unopened; Gradio has checked that it is an upload."""
    return payload.path if payload is not None else None


async def _uploads_only(self: Block, url_or_file_path: Any) -> str | None:  # noqa: ANN401 - Gradio's signature
    """Refuse addresses; leave files to Gradio."""
    if str(url_or_file_path).lower().startswith(("http:", "https:")):
        raise toast(describe(ErrorCode.FILE_NOT_FOUND, {"name": str(url_or_file_path)}))
    return await Block.async_move_resource_to_block_cache(self, url_or_file_path)


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
