"""A Space's tree started as a Space starts it: `python app.py`, the port from the environment."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from brokers import answers, free_port
from polling import wait_until

from engine.worker.environment import PROJECT_ROOT


@pytest.mark.timeout(180)
def test_the_tree_of_a_space_starts_for_strangers_and_ends_politely(tmp_path: Path) -> None:
    tree, home, port = tmp_path / "space", tmp_path / "home", free_port()
    home.mkdir()
    lay = [sys.executable, str(PROJECT_ROOT / "deploy" / "space" / "lay.py"), "cpu", str(tree)]
    subprocess.run(lay, check=True, capture_output=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "SPACE_ID": "somebody/sonic-studio",
        "SYSTEM": "spaces",
        "GRADIO_SERVER_NAME": "127.0.0.1",  # 0.0.0.0 there; the decision is the same
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_NUM_PORTS": "1",
        "GRADIO_THEME": "huggingface",
    }
    with (tmp_path / "log").open("wb") as log:
        app = subprocess.Popen(
            [sys.executable, "app.py"], cwd=tree, env=environment, stdout=log, stderr=log
        )
    try:

        def is_up() -> bool:
            assert app.poll() is None, (tmp_path / "log").read_text()
            return answers(port)

        wait_until(is_up, 120)
        page = httpx.get(f"http://127.0.0.1:{port}/", timeout=60)
        told = (tmp_path / "log").read_text()

        app.send_signal(signal.SIGTERM)
        code = app.wait(60)
    finally:
        if app.poll() is None:
            app.kill()

    assert page.status_code == 200
    assert "sonic_studio_visitor" in page.cookies
    assert f":{port}" in told
    assert code == 0
    assert list(home.rglob("store.sqlite3"))
    assert not (tree / "jobs").exists()
