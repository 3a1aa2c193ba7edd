"""The button that lets a voice be heard, one preview at a time in each open page."""

from collections.abc import Generator
from contextlib import closing
from typing import Any

import gradio as gr

from engine.contracts import SpeechOptions
from engine.errors import Canceled
from studio.context import Studio
from studio.failures import guarded, guarded_steps
from studio.locales import say
from studio.parts.heard_pieces import Piece, first_html, read_piece, so_far_html
from studio.parts.quiet import QUIET
from studio.parts.voice_choices import VoicePair

# Long enough to hear the voice, short enough to come at once: about ten seconds.
PREVIEW_CHARACTERS = 160

LOOK_S = 0.5
"""How often it is looked whether anybody still waits for a preview."""


def create_voice_preview(
    studio: Studio, text: gr.Textbox, pair: VoicePair, speed: gr.Slider
) -> None:
    """Build the button and its player.

    Args:
        studio: knows the voices.
        text: whose beginning is spoken.
        pair: the voice; a slow one is loaded when it is chosen.
        speed: of the voice.
    """
    preview = gr.Button(say("voice.preview"), size="sm", elem_id="voice-preview")
    preview_player = gr.HTML(visible=False, elem_id="voice-preview-player")
    preview_so_far = gr.HTML(elem_id="voice-preview-so-far", apply_default_css=False)

    @guarded_steps
    def hear(
        what: str, tongue: str | None, who: str | None, pace: float, request: gr.Request
    ) -> Generator[Any]:
        options = SpeechOptions(
            text=_first_words(what), language=tongue or None, voice=who or None, speed=pace
        )
        tab = studio.visitors.tab_of(request)
        pieces: list[Piece] = []
        with closing(studio.engine.preview_voice_pieces(options, tab)) as preview:
            try:
                while True:
                    while not preview.is_ready(LOOK_S):
                        yield gr.skip(), gr.skip()  # here a tab that was closed is noticed
                    pieces.append(read_piece(next(preview)))
                    if len(pieces) == 1:
                        yield gr.update(value=first_html(pieces[0]), visible=True), ""
                    elif not preview.is_ready(0):
                        yield gr.skip(), so_far_html(pieces)
            except StopIteration:
                yield gr.skip(), so_far_html(pieces)
            except Canceled:  # the same tab asked for another one
                return

    @guarded
    def warm(tongue: str | None, who: str | None = None) -> None:
        studio.engine.warm_voice(tongue or None, who or None)

    preview.click(
        hear,
        [text, pair.language, pair.voice, speed],
        [preview_player, preview_so_far],
        trigger_mode="multiple",  # another voice is heard at once, not after the slow one
        api_visibility="private",
    )
    pair.language.input(warm, pair.language, None, **QUIET)
    pair.voice.input(warm, [pair.language, pair.voice], None, **QUIET)


def _first_words(text: str) -> str:
    words = " ".join(text.split())
    if len(words) <= PREVIEW_CHARACTERS:
        return words
    return words[:PREVIEW_CHARACTERS].rsplit(" ", 1)[0]
