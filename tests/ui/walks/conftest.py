"""Pictures of the walks: kept where STUDIO_WALK_PICTURES names a folder, so that people look."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

See = Callable[[Page, str], None]


@pytest.fixture
def see(request, tmp_path) -> See:
    """Take a picture of the whole page as it is, under the name of the walk and of the moment."""
    folder = Path(os.environ.get("STUDIO_WALK_PICTURES") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    walk = request.node.name.removeprefix("test_")

    def take(page: Page, moment: str) -> None:
        page.wait_for_timeout(300)  # what fades in is there
        page.screenshot(path=folder / f"{walk}.{moment}.png", full_page=True)

    return take
