"""Step 2: the voice, by upload, microphone or typed text."""

import html
import urllib.parse
from dataclasses import dataclass
from typing import Any

import gradio as gr

from studio.context import Studio
from studio.failures import guarded
from studio.locales import say
from studio.parts.captions_input import create_captions_input
from studio.parts.level_meter import level_html
from studio.parts.quiet import QUIET
from studio.parts.typing_pause import when_typing_pauses
from studio.parts.uploads import FileUpload, MicrophoneRecording
from studio.parts.voice_choices import VoicePair, create_voice_pair
from studio.parts.voice_downloads import create_voice_downloads
from studio.parts.voice_preview import create_voice_preview

# In the browser, at once: upload, record, type, and the words of a recording.
_SHOW_PANELS = """(source) => ['upload', 'record', 'text', source === 'text' ? '' : source]
  .map((panel) => ({__type__: 'update', visible: panel === source}))"""


@dataclass(frozen=True)
class VoiceInput:
    """The controls of step 2 that others read; `settled_text` follows `text` with a pause."""

    source: gr.Radio
    recording: gr.File
    microphone: gr.Audio
    text: gr.Textbox
    settled_text: gr.Textbox
    script: gr.Textbox
    settled_script: gr.Textbox
    hear_words: gr.Checkbox
    burn: gr.Checkbox
    highlight_words: gr.Checkbox
    language: gr.Dropdown
    voice: gr.Dropdown
    speed: gr.Slider
    pair: VoicePair


def create_voice_input(studio: Studio) -> VoiceInput:
    """Build step 2."""
    source = gr.Radio(
        [
            (say("voice.source_upload"), "upload"),
            (say("voice.source_record"), "record"),
            (say("voice.source_text"), "text"),
        ],
        value="upload",
        label=say("voice.source"),
        show_label=False,
        elem_id="voice-source",
        elem_classes="segmented tabs",
    )
    with gr.Column(elem_id="voice-upload-panel", elem_classes="panel") as upload_panel:
        recording = FileUpload(
            label=say("voice.recording"),
            height=200,
            elem_id="voice-upload",
        )
        player = gr.HTML(visible=False, elem_id="voice-player", apply_default_css=False)
        gr.Markdown(say("voice.recording_hint"), elem_classes="hint")
    with gr.Column(visible=False, elem_classes="panel") as record_panel:
        microphone = MicrophoneRecording(
            sources=["microphone"],
            type="filepath",
            label=say("voice.microphone"),
            buttons=[],
            elem_id="voice-microphone",
        )
        gr.HTML(level_html(), elem_id="voice-level", apply_default_css=False)
        gr.Markdown(say("voice.microphone_hint"), elem_classes="hint")
        gr.HTML(
            f'<p class="note refused">{html.escape(say("voice.microphone_insecure"))}</p>',
            elem_classes="insecure-only",
            apply_default_css=False,
        )
    with gr.Column(visible=False, elem_classes="panel") as text_panel:
        text = gr.Textbox(
            label=say("voice.text"),
            placeholder=say("voice.text_placeholder"),
            lines=5,
            max_lines=9,
            max_length=studio.settings.max_text_characters,
            elem_id="voice-text",
        )
        pair = create_voice_pair(studio, "voice")
        create_voice_downloads(studio, pair.language, pair.voice)
        speed = gr.Slider(
            0.5, 2.0, 1.0, step=0.05, label=say("voice.speed"), info=say("voice.speed_hint")
        )
        create_voice_preview(studio, text, pair, speed)
    captions = create_captions_input(studio, source)

    @guarded
    def show_player(path: str | None) -> Any:  # noqa: ANN401 - a Gradio update
        return gr.update(value=_player_html(path) if path else "", visible=path is not None)

    settled_text = gr.Textbox(visible="hidden", elem_id="settled-text")
    text.change(
        None, text, settled_text, js=when_typing_pauses("Text"), trigger_mode="multiple", **QUIET
    )
    panels = [upload_panel, record_panel, text_panel, captions.panel]
    source.change(None, source, panels, js=_SHOW_PANELS, show_progress="hidden")
    recording.change(show_player, recording, player, **QUIET)
    return VoiceInput(
        source=source,
        recording=recording,
        microphone=microphone,
        text=text,
        settled_text=settled_text,
        script=captions.script,
        settled_script=captions.settled_script,
        hear_words=captions.hear_words,
        burn=captions.burn,
        highlight_words=captions.highlight_words,
        language=pair.language,
        voice=pair.voice,
        speed=speed,
        pair=pair,
    )


def _player_html(path: str) -> str:
    address = html.escape("/gradio_api/file=" + urllib.parse.quote(path))
    label = html.escape(say("voice.listen"))
    return (
        f'<audio class="player" controls preload="metadata" src="{address}" '
        f'aria-label="{label}"></audio>'
    )
