"""Step 2: the voice, by upload, microphone or typed text."""

import base64
import html
import json
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from engine.contracts import SpeechOptions, VoiceInfo
from studio.context import Studio
from studio.failures import guarded
from studio.locales import language_name, say
from studio.locales.en import LANGUAGE_NAMES
from studio.parts.captions_input import create_captions_input
from studio.parts.level_meter import level_html
from studio.parts.typing_pause import when_typing_pauses
from studio.parts.uploads import FileUpload, MicrophoneRecording

DEFAULT_LANGUAGE = "en"
BEST_VOICE = ""

# In the browser, at once: upload, record, type, and the words of a recording.
_SHOW_PANELS = """(source) => ['upload', 'record', 'text', source === 'text' ? '' : source]
  .map((panel) => ({__type__: 'update', visible: panel === source}))"""

# Long enough to hear the voice, short enough to come at once: about ten seconds.
PREVIEW_CHARACTERS = 160


@dataclass(frozen=True)
class VoiceInput:
    """The controls of step 2 that others read; `settled_text` follows `text` with a pause.

    `wanted_voice` is chosen where the language has it.
    """

    source: gr.Radio
    recording: gr.File
    microphone: gr.Audio
    text: gr.Textbox
    settled_text: gr.Textbox
    script: gr.Textbox
    settled_script: gr.Textbox
    burn: gr.Checkbox
    language: gr.Dropdown
    voice: gr.Dropdown
    speed: gr.Slider
    wanted_voice: gr.Textbox


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
            file_types=["audio", "video"],
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
        with gr.Row(elem_classes="pair"):
            language = gr.Dropdown(label=say("voice.language"), elem_id="voice-language")
            voice = gr.Dropdown(label=say("voice.voice"), elem_id="voice-voice")
        speed = gr.Slider(
            0.5, 2.0, 1.0, step=0.05, label=say("voice.speed"), info=say("voice.speed_hint")
        )
        preview = gr.Button(say("voice.preview"), size="sm", elem_id="voice-preview")
        preview_player = gr.HTML(visible=False, elem_id="voice-preview-player")
    captions = create_captions_input(studio, source)

    @guarded
    def show_player(path: str | None) -> Any:  # noqa: ANN401 - a Gradio update
        return gr.update(value=_player_html(path) if path else "", visible=path is not None)

    @guarded
    def hear(what: str, tongue: str | None, who: str | None, pace: float) -> Any:  # noqa: ANN401 - a Gradio update
        options = SpeechOptions(
            text=_first_words(what), language=tongue or None, voice=who or None, speed=pace
        )
        spoken = studio.engine.preview_voice(options)
        sound = base64.b64encode(spoken.read_bytes()).decode()
        spoken.unlink()
        return gr.update(value=_preview_html(sound), visible=True)

    @guarded
    def offer_voices(tongue: str | None, wanted: str | None) -> Any:  # noqa: ANN401 - a Gradio update
        choices = voice_choices(studio.engine.voices(tongue))
        known = wanted in {voice_id for _, voice_id in choices}
        return gr.update(choices=choices, value=wanted if known else BEST_VOICE)

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    settled_text = gr.Textbox(visible="hidden", elem_id="settled-text")
    wanted_voice = gr.Textbox(BEST_VOICE, visible=False)
    text.change(
        None, text, settled_text, js=when_typing_pauses("Text"), trigger_mode="multiple", **quiet
    )
    panels = [upload_panel, record_panel, text_panel, captions.panel]
    source.change(None, source, panels, js=_SHOW_PANELS, show_progress="hidden")
    recording.change(show_player, recording, player, **quiet)
    language.change(offer_voices, [language, wanted_voice], voice, **quiet)
    preview.click(hear, [text, language, voice, speed], preview_player, api_visibility="private")
    return VoiceInput(
        source=source,
        recording=recording,
        microphone=microphone,
        text=text,
        settled_text=settled_text,
        script=captions.script,
        settled_script=captions.settled_script,
        burn=captions.burn,
        language=language,
        voice=voice,
        speed=speed,
        wanted_voice=wanted_voice,
    )


def language_names_js() -> str:
    """Browser code that names every language we know of in the page's language."""
    return f"""() => {{
      const tag = document.documentElement.lang || 'en';
      const names = new Intl.DisplayNames([tag], {{type: 'language', fallback: 'none'}});
      const known = {{}};
      for (const each of {json.dumps(sorted(LANGUAGE_NAMES))}) {{
        let name;
        try {{ name = names.of(each); }} catch {{ continue; }}  // a tag this browser refuses
        if (name) known[each] = name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
      }}
      return [known];
    }}"""


def language_choices(
    voices: Sequence[VoiceInfo], names: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Every language some voice speaks: those with a natural voice first, then by name.

    Regions are left to the choice of the voice, whose name tells them.

    Args:
        voices: to choose from.
        names: what the browser calls the languages; English names fill the gaps.
    """
    natural = {_base(tag) for voice in voices if voice.natural for tag in voice.languages}
    tags = {_base(tag) for voice in voices for tag in voice.languages}
    named = {tag: str(names.get(tag) or language_name(tag)) for tag in tags}
    ordered = sorted(tags, key=lambda tag: (tag not in natural, named[tag]))
    return [(named[tag], tag) for tag in ordered]


def voice_choices(voices: Sequence[VoiceInfo]) -> list[tuple[str, str]]:
    """The installed voices of a language, natural ones first, after the choice `best`."""
    usable = sorted(
        (voice for voice in voices if voice.installed), key=lambda voice: not voice.natural
    )
    named = [
        (
            say("voice.natural" if voice.natural else "voice.robotic", name=voice.name),
            voice.voice_id,
        )
        for voice in usable
    ]
    return [(say("voice.best"), BEST_VOICE), *named]


def _base(tag: str) -> str:
    return tag.partition("-")[0]


def _first_words(text: str) -> str:
    words = " ".join(text.split())
    if len(words) <= PREVIEW_CHARACTERS:
        return words
    return words[:PREVIEW_CHARACTERS].rsplit(" ", 1)[0]


def _player_html(path: str) -> str:
    address = html.escape("/gradio_api/file=" + urllib.parse.quote(path))
    label = html.escape(say("voice.listen"))
    return (
        f'<audio class="player" controls preload="metadata" src="{address}" '
        f'aria-label="{label}"></audio>'
    )


def _preview_html(sound: str) -> str:
    label = html.escape(say("voice.preview_label"))
    return (
        f'<audio class="player" controls autoplay src="data:audio/wav;base64,{sound}" '
        f'aria-label="{label}"></audio>'
    )
