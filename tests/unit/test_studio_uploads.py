from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from studio.session import COOKIE_NAME, Visitors
from studio.upload_owners import UPLOAD_PATH, NoteUploads, UploadOwners


@pytest.fixture
def uploads() -> UploadOwners:
    return UploadOwners()


def brought(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(b"picture")
    return path


def test_removing_takes_all_files_of_an_owner_and_no_others(uploads, tmp_path):
    mine, other = brought(tmp_path, "mine.png"), brought(tmp_path, "other.png")
    uploads.note("ann", [mine])
    uploads.note("bob", [other])

    assert uploads.remove("ann") == 1

    assert not mine.exists()
    assert other.exists()


def test_a_file_that_two_brought_stays_until_both_are_gone(uploads, tmp_path):
    """Gradio keeps the same picture of two people once."""
    shared = brought(tmp_path, "class.png")
    uploads.note("ann", [shared])
    uploads.note("bob", [shared])

    assert uploads.remove("ann") == 0
    assert shared.exists()
    assert uploads.remove("bob") == 1
    assert not shared.exists()


def test_what_was_swept_meanwhile_is_no_longer_remembered(uploads, tmp_path):
    old = brought(tmp_path, "old.png")
    uploads.note("ann", [old])
    old.unlink()

    uploads.note("bob", [brought(tmp_path, "new.png")])

    assert uploads.remove("ann") == 0


@pytest.mark.parametrize(("status", "removed"), [(200, 1), (413, 0)])
def test_the_answer_to_an_upload_tells_what_was_brought(uploads, tmp_path, status, removed):
    visitors = Visitors(b"key")
    path = brought(tmp_path, "photo.png")

    def take(_request: Request) -> JSONResponse:
        return JSONResponse([str(path)], status)

    app = Starlette(
        routes=[Route(UPLOAD_PATH, take, methods=["POST"])],
        middleware=[Middleware(NoteUploads, visitors=visitors, uploads=uploads)],
    )
    cookie = visitors.new_cookie()
    with TestClient(app, cookies={COOKIE_NAME: cookie}) as visitor:
        assert visitor.post(UPLOAD_PATH).json() == [str(path)]

    assert uploads.remove(visitors.owner_of_cookie(cookie)) == removed
