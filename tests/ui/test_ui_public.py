"""A studio that others can reach, in the browser: log in, what an account sees, check a file."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from engine.accounts import Accounts
from tests.labelled_video import sealed_sound, sealed_video
from tests.ui.axe import serious_faults
from tests.ui.conftest import ROOT, STOP_LIMIT_S, _wait_until_up
from tests.ui.studio_page import CHECK_LIMIT_MS

pytestmark = [pytest.mark.ui, pytest.mark.timeout(300)]

PASSWORDS = {"eva": "correct horse battery", "bob": "another long word"}


def start(folder: Path, *options: str, **variables: str) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(ROOT / "app.py"), "--port", str(port), *options]
    with (folder / "studio.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--data-dir", str(folder / "data")],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, **variables},
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(f"{address}/gradio_api/startup-events", process, folder / "studio.log")
        yield address
    finally:
        process.terminate()
        process.wait(STOP_LIMIT_S)


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("public")
    (folder / "data").mkdir()
    accounts = Accounts(folder / "data")
    for name, password in PASSWORDS.items():
        accounts.add(name, password)
    yield from start(folder, STUDIO_PUBLIC="accounts")


def logged_in(browser: Browser, address: str, name: str) -> Page:
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(f"{address}/?job=none")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORDS[name])
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#account")).to_contain_text(name, timeout=CHECK_LIMIT_MS)
    return page


def test_the_login_is_readable_by_everyone_and_says_what_is_wrong(browser, address):
    context = browser.new_context(locale="fr", viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(address)
    expect(page.get_by_role("button", name="Se connecter")).to_be_visible()
    page.get_by_label("Nom").fill("eva")
    page.get_by_label("Mot de passe").fill("not this one")
    page.keyboard.press("Enter")

    expect(page.get_by_role("status")).to_contain_text("ne vont pas ensemble")
    assert serious_faults(page) == []
    context.close()


def test_an_account_sees_its_own_and_the_owner_sees_the_machine(browser, address):
    bob, eva = logged_in(browser, address, "bob"), logged_in(browser, address, "eva")

    expect(eva.locator("[data-tab-id=system]")).to_be_visible(timeout=CHECK_LIMIT_MS)
    expect(bob.locator("[data-tab-id=create]")).to_be_visible(timeout=CHECK_LIMIT_MS)
    expect(bob.locator("[data-tab-id=system]")).to_be_hidden()
    expect(bob.locator("#brand")).to_contain_text("24 hours")
    assert bob.url.endswith("/?job=none")
    bob.get_by_role("button", name="Log out").click()
    expect(bob.get_by_role("button", name="Log in")).to_be_visible(timeout=CHECK_LIMIT_MS)
    for page in (bob, eva):
        page.context.close()


@pytest.fixture(scope="module")
def labelled(tmp_path_factory) -> Path:
    """A video as a job makes it, sealed by another installation."""
    folder = tmp_path_factory.mktemp("labelled")
    return sealed_video(folder / "video.mp4", folder)


def test_a_video_is_checked_and_one_changed_byte_is_told(browser, address, labelled, tmp_path):
    page = logged_in(browser, address, "bob")
    page.locator("[data-tab-id=verify]").click()
    upload = page.locator("#verify-upload input[type=file]")
    words = page.locator("#verify-upload [data-testid=upload-text]")
    shown = words.evaluate("element => getComputedStyle(element, '::after').content")
    assert shown.startswith('"Drop a file here'), "Gradio's own words are others"
    upload.set_input_files(labelled)
    result = page.locator("#verify-result")

    expect(result).to_contain_text("Every label is there", timeout=CHECK_LIMIT_MS)
    expect(result).to_contain_text("on no list this studio knows")
    assert serious_faults(page) == []

    content = bytearray(labelled.read_bytes())
    content[len(content) // 2] ^= 1
    changed = tmp_path / "changed.mp4"
    changed.write_bytes(content)
    page.get_by_label("Clear").first.click()
    expect(result).not_to_contain_text("Every label")
    page.locator("#verify-upload input[type=file]").set_input_files(changed)
    expect(result).to_contain_text("changed after signing", timeout=CHECK_LIMIT_MS)
    page.context.close()


def test_a_spoken_sound_is_checked_on_the_same_page(browser, address, tmp_path):
    page = logged_in(browser, address, "bob")
    page.locator("[data-tab-id=verify]").click()
    expect(page.locator("#verify")).to_contain_text("a video or a sound")
    upload = page.locator("#verify-upload input[type=file]")
    upload.set_input_files(sealed_sound(tmp_path / "speech.wav", tmp_path))

    result = page.locator("#verify-result")
    expect(result).to_contain_text("Every label is there", timeout=CHECK_LIMIT_MS)
    expect(result).to_contain_text("Made with: hibari:heart")
    expect(result).not_to_contain_text("picture")
    page.context.close()


def test_a_studio_open_to_everybody_says_so_in_red_and_needs_no_link(browser, tmp_path):
    """The link cannot be made here, whatever the network: its server is not there."""
    nowhere = {"GRADIO_SHARE_SERVER_ADDRESS": "127.0.0.1:1"}

    for address in start(tmp_path, "--share", STUDIO_UNSAFE_PUBLIC_WITHOUT_AUTH="1", **nowhere):
        page = browser.new_context().new_page()
        page.goto(address)
        expect(page.get_by_role("alert")).to_contain_text(
            "Anybody who reaches this address", timeout=CHECK_LIMIT_MS
        )
        expect(page.locator("[data-tab-id=create]")).to_be_visible(timeout=CHECK_LIMIT_MS)
        expect(page.locator("[data-tab-id=system]")).to_be_hidden()
        page.context.close()
    said = (tmp_path / "studio.log").read_text("utf-8")
    assert "No public link could be made" in said
    assert "WARNING: anybody" in said
