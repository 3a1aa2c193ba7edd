"""The page's own fonts over HTTP; they hold nothing of anybody and change with a release only."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

FONTS_DIR = Path(__file__).with_name("fonts")
_NAMES = frozenset(path.name for path in FONTS_DIR.glob("*.woff2"))
_HEADERS = {"Cache-Control": "public, max-age=604800", "X-Content-Type-Options": "nosniff"}


def create_font_route() -> Route:
    """The route `/fonts/<name>`."""

    def serve(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _NAMES:
            return PlainTextResponse("Not found", status_code=404)
        return FileResponse(FONTS_DIR / name, media_type="font/woff2", headers=_HEADERS)

    return Route("/fonts/{name}", serve, methods=["GET", "HEAD"])
