"""One real studio for all browser tests, and a fresh visitor for each."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.ui.studio_page import PATIENCE, StudioPage

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
MICROPHONE = ROOT / "tests/data/speech/en_librivox_austen_0880.wav"

START_LIMIT_S = 90 * PATIENCE
STOP_LIMIT_S = 20 * PATIENCE
LOOK_LIMIT_MS = 5_000 * PATIENCE

CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    f"--use-file-for-fake-audio-capture={MICROPHONE}",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def studio_address(tmp_path_factory) -> Iterator[str]:
    """The address of a studio that was started the way a person starts it."""
    folder = tmp_path_factory.mktemp("studio")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(ROOT / "app.py"), "--port", str(port)]
    with (folder / "studio.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--data-dir", str(folder / "data")],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "STUDIO_MCP": "true"},
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(address, process, folder / "studio.log")
        yield address
    finally:
        children = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        process.wait(STOP_LIMIT_S)
    assert process.returncode == 0, "a polite kill is a clean stop"
    _, alive = psutil.wait_procs(children, timeout=STOP_LIMIT_S)
    assert not alive, "the studio left processes behind"
    assert "Traceback" not in (folder / "studio.log").read_text()


def _wait_until_up(address: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            if httpx.get(address).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    pytest.fail(f"the studio did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.skip("needs Chromium; name it in CHROMIUM")
    expect.set_options(timeout=LOOK_LIMIT_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture
def desktop(browser: Browser, studio_address: str) -> Iterator[StudioPage]:
    """The page as a new visitor sees it in a window of 1280 pixels."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield from _visit(context.new_page(), studio_address)
    context.close()


@pytest.fixture
def phone(browser: Browser, studio_address: str) -> Iterator[StudioPage]:
    """The page as a new visitor sees it on a phone of 390 pixels."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True
    )
    yield from _visit(context.new_page(), studio_address)
    context.close()


def _visit(page: Page, address: str) -> Iterator[StudioPage]:
    outside: list[str] = []
    errors: list[str] = []
    known = (address, "data:", "blob:")
    page.on("request", lambda r: None if r.url.startswith(known) else outside.append(r.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield StudioPage.open(page, address)
    assert not outside, "the page asked other computers"
    assert not errors, "a script of the page failed"
