"""The languages and voices that can be chosen, by the names the browser has for them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from engine.contracts import VoiceInfo
from studio.context import Studio
from studio.failures import guarded
from studio.locales import current_locale, language_name, say
from studio.locales.en import LANGUAGE_NAMES
from studio.parts.quiet import QUIET

DEFAULT_LANGUAGE = "en"
BEST_VOICE = ""

_OTHER_TAGS = {"zh": "cmn"}
"""Voices name Chinese by its spoken language."""


@dataclass(frozen=True)
class VoicePair:
    """A language and one of its voices.

    Attributes:
        language, voice: the choices.
        wanted: the voice to choose where the language has it.
        offered: the event that fills the choice of languages, for what comes after it.
    """

    language: gr.Dropdown
    voice: gr.Dropdown
    wanted: gr.Textbox
    offered: Any


def create_voice_pair(studio: Studio, name: str, own_tab: gr.Tab | None = None) -> VoicePair:
    """Build the two choices, filled once: with what is here when they are first seen.

    Args:
        studio: knows the voices.
        name: how the ids of the elements begin.
        own_tab: of their page, which is opened later; None = when the page is loaded.
    """
    with gr.Row(elem_classes="pair"):
        language = gr.Dropdown(label=say("voice.language"), elem_id=f"{name}-language")
        voice = gr.Dropdown(label=say("voice.voice"), elem_id=f"{name}-voice")
    wanted = gr.Textbox(BEST_VOICE, visible=False)
    names = gr.Textbox("", visible="hidden", elem_id=f"{name}-language-names")

    @guarded
    def offer(known: str | None) -> Any:  # noqa: ANN401 - a Gradio update
        if not known:  # offered before
            return gr.skip()
        voices = studio.engine.voices()
        choices = language_choices(voices, json.loads(known))
        tags = [tag for _, tag in choices]
        wished = (language_of_page(voices), DEFAULT_LANGUAGE, *tags)
        return gr.update(choices=choices, value=next((tag for tag in wished if tag in tags), None))

    @guarded
    def offer_voices(tongue: str | None, known: str | None) -> Any:  # noqa: ANN401 - a Gradio update
        choices = voice_choices(studio.engine.voices(tongue))
        is_there = known in {voice_id for _, voice_id in choices}
        return gr.update(choices=choices, value=known if is_there else BEST_VOICE)

    js = _language_names_js(name)
    if own_tab is not None:
        offered = own_tab.select(offer, names, language, js=js, **QUIET)
    else:
        offered = gr.on(None, offer, names, language, js=js, **QUIET)
    language.change(offer_voices, [language, wanted], voice, **QUIET)
    return VoicePair(language, voice, wanted, offered)


def _language_names_js(name: str) -> str:
    """Browser code that names every language we know of in the page's language, once a pair."""
    return f"""() => {{
      const offered = (window.studioOffered ||= new Set());
      if (offered.has('{name}')) return [''];
      offered.add('{name}');
      const tags = {json.dumps(sorted(LANGUAGE_NAMES))};
      const named = tags.map((tag) => [tag, window.studioLanguageName(tag)]);
      return [JSON.stringify(Object.fromEntries(named))];
    }}"""


def language_of_page(voices: Sequence[VoiceInfo]) -> str | None:
    """The language the page is in, as the voices name it; None when none of them speaks it."""
    own = _base(current_locale().tag)
    spoken = {_base(tag) for voice in voices for tag in voice.languages}
    return next((tag for tag in (own, _OTHER_TAGS.get(own)) if tag in spoken), None)


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
