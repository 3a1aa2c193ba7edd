"""The player of a preview in a real browser: it goes on by itself, piece after piece."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from engine.media.audio import write_wav
from studio.parts.heard_pieces import first_html, read_piece, so_far_html
from tests.ui.studio_page import PATIENCE

pytestmark = [pytest.mark.ui, pytest.mark.timeout(60 * PATIENCE)]

HEAD = Path(__file__).resolve().parents[2] / "studio" / "head.html"
PAGE = '<div id="voice-preview-player"></div><div id="voice-preview-so-far"></div>'
SCRIPT = next(
    script
    for script in re.findall(r"<script>(.*?)</script>", HEAD.read_text("utf-8"), re.DOTALL)
    if "voice-preview-player" in script
)
PUT = "([place, words]) => { document.querySelector(place).innerHTML = words; }"
HAS_ENDED_AT = """(at_s) => {
  const audio = document.querySelector("audio");
  return audio.ended && Math.abs(audio.currentTime - at_s) < 0.02;
}"""


def test_player_goes_on_when_more_is_there_and_when_it_had_to_wait(
    browser: Browser, tmp_path: Path
) -> None:
    wav = tmp_path / "piece.wav"
    pieces = []
    for length_s in (0.4, 0.3, 0.3):
        write_wav(wav, np.zeros(round(48_000 * length_s), np.float32), 48_000)
        pieces.append(read_piece(wav.read_bytes()))
    page = browser.new_page()
    page.set_content(PAGE)
    page.add_script_tag(content=SCRIPT)

    page.evaluate(PUT, ["#voice-preview-so-far", so_far_html(pieces[:2])])
    page.evaluate(PUT, ["#voice-preview-player", first_html(pieces[0])])
    page.locator("audio").evaluate("audio => audio.play()")
    page.wait_for_function(HAS_ENDED_AT, arg=0.7)  # and nothing more is there
    page.evaluate(PUT, ["#voice-preview-so-far", so_far_html(pieces)])
    page.wait_for_function(HAS_ENDED_AT, arg=1.0)

    page.close()
