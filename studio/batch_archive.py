"""The ZIP of a dub over HTTP, to its owner only; made on disk when it is asked for."""

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from engine.api import StudioEngine
from engine.contracts import JobStatus
from engine.dub.archive import TableWords
from engine.errors import EngineError, ErrorCode
from studio.locales import explain, explain_error, say
from studio.session import Visitors

_HEADERS = {"Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff"}


def create_archive_route(engine: StudioEngine, visitors: Visitors) -> Route:
    """The route `/batches/<batch id>/zip`."""

    def serve(request: Request) -> Response:
        batch_id = request.path_params["batch_id"]
        owner = visitors.owner_of_web(request)
        if owner is None:
            return PlainTextResponse("Not found", status_code=404)
        try:
            path = engine.batches.archive(batch_id, owner, table_words())
        except EngineError as error:
            message = explain_error(error)
            is_missing = error.code is ErrorCode.JOB_NOT_FOUND
            text = f"{message.sentence} {message.hint}"
            return PlainTextResponse(text, status_code=404 if is_missing else 507)
        name = f"sonic-studio-dub-{batch_id[:8]}.zip"
        return FileResponse(path, media_type="application/zip", filename=name, headers=_HEADERS)

    return Route("/batches/{batch_id}/zip", serve, methods=["GET", "HEAD"])


def table_words() -> TableWords:
    """The words of the table inside, in the language spoken now."""
    heads = ("table.name", "dub.language", "table.state", "table.files")
    name, language, state, files = map(say, heads)
    return TableWords(
        heads=(name, language, state, files),
        states={status: say(f"status.{status}") for status in JobStatus},
        gone=say("dub.gone"),
        explain=explain,
    )
