"""Below the choice of the voice: voices that a download would bring to the language chosen."""

import html
from typing import Any

import gradio as gr

from engine.contracts import VoiceDownload
from studio.context import Studio
from studio.failures import guarded
from studio.locales import say
from studio.parts.action_html import action_data, create_action_html
from studio.parts.download_state import download_html
from studio.parts.quiet import QUIET
from studio.parts.voice_choices import voice_choices
from studio.parts.weights_list import weights_title

TICK_S = 1.0


def create_voice_downloads(studio: Studio, language: gr.Dropdown, voice: gr.Dropdown) -> None:
    """Build the list, for whoever runs this installation; a voice that came is chosen.

    Args:
        studio: the engine and who is asking.
        language: for which voices are offered.
        voice: the choice that grows.
    """
    with gr.Accordion(say("fetch.title"), open=False, visible=False, elem_id="voice-fetch") as fold:
        gr.Markdown(say("fetch.hint"), elem_classes="hint")
        listing = create_action_html("voice-fetch-list")
    fetched = gr.Textbox("", visible=False)
    timer = gr.Timer(TICK_S, active=False)
    shown = [fold, listing, fetched, timer, voice]

    @guarded
    def look(tongue: str | None, awaited: str | None, request: gr.Request) -> tuple[Any, ...]:
        """The list as it is now; what was awaited and has come is told and chosen."""
        if not tongue or not studio.may_manage(request):
            return gr.update(visible=False), "", awaited, gr.update(active=False), gr.skip()
        downloads = studio.engine.voice_downloads(tongue)
        name, _, wanted = (awaited or "").partition(" ")
        state = next((each for each in studio.engine.weights() if each.name == name), None)
        is_running = state is not None and state.is_running
        chosen: Any = gr.skip()
        if state is not None and not is_running and state.is_complete:
            found = {voice.voice_id: voice for voice in studio.engine.voices(tongue)}
            if wanted in found:
                chosen = gr.update(choices=voice_choices([*found.values()]), value=wanted)
            gr.Success(say("fetch.done", name=weights_title(state)), title=say("fetch.title"))
        return (
            gr.update(visible=bool(downloads)),
            downloads_html(downloads, is_busy=is_running),
            awaited if is_running else "",
            gr.update(active=is_running),
            chosen,
        )

    @guarded
    def act(
        event: gr.EventData, tongue: str | None, awaited: str | None, request: gr.Request
    ) -> tuple[Any, ...]:
        data = action_data(event) if studio.may_manage(request) else {}
        if data.get("action") == "fetch":
            name = data.get("job", "")
            offered = studio.engine.voice_downloads(tongue)
            first = [each.voices[0].voice_id for each in offered if each.files.name == name]
            studio.engine.fetch_weights(name)
            awaited = " ".join([name, *first])
        if data.get("action") == "stop":
            studio.engine.stop_fetching()
        return look(tongue, awaited, request)

    asked = [language, fetched]
    listing.action(act, asked, shown, **QUIET)
    timer.tick(look, asked, shown, trigger_mode="once", **QUIET)
    language.change(look, asked, shown, **QUIET)


def downloads_html(downloads: list[VoiceDownload], *, is_busy: bool) -> str:
    """Each download with its voices, size, licence and what can be done."""
    return "".join(_download_html(each, is_busy=is_busy) for each in downloads)


def _download_html(download: VoiceDownload, *, is_busy: bool) -> str:
    is_one = len(download.voices) == 1
    names = download.voices[0].name if is_one else weights_title(download.files)
    return (
        f'<section class="weights"><h3 dir="auto">{html.escape(names)}</h3>'
        f'<p lang="en" dir="ltr">{html.escape(download.voices[0].licence)}</p>'
        f"{download_html(download.files, names, is_busy=is_busy)}</section>"
    )
