"""Finished files over HTTP, to their owner only; nothing is copied into Gradio's cache.

The page is known by its cookie, a program by the ticket in the address it got from `job`.
"""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from engine.api import StudioEngine
from engine.contracts import JobRecord
from engine.dub.names import file_stems
from engine.errors import EngineError
from studio.session import Visitors

MEDIA_TYPES = {
    "video": "video/mp4",
    "poster": "image/jpeg",
    "srt": "application/x-subrip; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
    "report": "application/json",
    "speech": "audio/wav",
    "timings": "application/json",
    "contents": "text/plain; charset=utf-8",
    "clips": "application/zip",
}

# Their endings differ; the others say what they are.
_NAMED_BY_TITLE = ("video", "srt", "vtt")

_HEADERS = {
    "Cache-Control": "private, max-age=3600",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}

# A link into the bucket opens one file for ten minutes; nobody else should learn it.
_LINK_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


def create_artifact_route(engine: StudioEngine, visitors: Visitors) -> Route:
    """The route `/artifacts/<job id>/<kind>`; `?download=1` saves instead of shows."""

    def serve(request: Request) -> Response:
        job_id, kind = request.path_params["job_id"], request.path_params["kind"]
        owner = visitors.owner_of_ticket(request.query_params.get("ticket"), job_id)
        owner = owner or visitors.owner_of_web(request)
        path = _find(engine, job_id, kind, owner)
        if path is None:
            return PlainTextResponse("Not found", status_code=404)
        name = _file_name(engine.get(job_id, owner), kind) + path.suffix
        is_download = request.query_params.get("download") == "1"
        link = engine.artifact_link(job_id, kind, owner) if is_download else None
        if link is not None:
            return RedirectResponse(link, status_code=302, headers=_LINK_HEADERS)
        return FileResponse(
            path,
            media_type=MEDIA_TYPES[kind],
            filename=name,
            content_disposition_type="attachment" if is_download else "inline",
            headers=_HEADERS,
        )

    return Route("/artifacts/{job_id}/{kind}", serve, methods=["GET", "HEAD"])


def _file_name(record: JobRecord, kind: str) -> str:
    """What the browser calls a file that it saves, without the ending: by the title if any."""
    if not record.title:
        return f"sonic-studio-{record.job_id[:8]}-{kind}"
    (stem,) = file_stems([(record.title, None)])
    return stem if kind in _NAMED_BY_TITLE else f"{stem}-{kind}"


def _find(engine: StudioEngine, job_id: str, kind: str, owner: str | None) -> Path | None:
    """The file, or None when there is none or it is not the asker's."""
    if owner is None or kind not in MEDIA_TYPES:
        return None
    try:
        path = engine.artifact_path(job_id, kind, owner)
    except EngineError:
        return None
    return path if path.is_file() else None
