"""What can be downloaded: what is here, the licence, a button, progress."""

import html
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gradio as gr

from engine.contracts import WeightsState
from studio.context import Studio
from studio.failures import guarded
from studio.locales import say
from studio.parts.action_html import action_data, create_action_html
from studio.parts.download_state import download_html
from studio.parts.quiet import QUIET

# What some sets need beside their files: a package to look for, and what installs it.
_ALSO_NEEDED = {
    "sonic": ("torch", "python3 bootstrap.py --gpu"),
    "recogniser": ("faster_whisper", "python3 bootstrap.py add captions"),
    "translator": ("ctranslate2", "python3 bootstrap.py add translate"),
    "qwen": ("", "python3 bootstrap.py voices setup qwen"),
}

# Sets whose titles are translated; `{name}` in one is that of the voice.
_TITLED = ("sonic", "recogniser", "translator", "piper", "supertonic", "qwen")

_VOICES = ("piper", "supertonic", "qwen")


@dataclass(frozen=True)
class WeightsList:
    """The list and what it shows now."""

    listing: gr.HTML
    shown: Callable[[], str]


def create_weights_list(studio: Studio) -> WeightsList:
    """Build the list and connect its buttons."""
    listing = create_action_html("system-weights")

    def shown() -> str:
        return weights_html(studio.engine.weights(everything=True))

    @guarded
    def act(event: gr.EventData, request: gr.Request) -> str:
        data = action_data(event) if studio.may_manage(request) else {}
        if data.get("action") == "fetch":
            studio.engine.fetch_weights(data.get("job", ""))
        if data.get("action") == "stop":
            studio.engine.stop_fetching()
        return shown()

    listing.action(act, None, listing, **QUIET)
    return WeightsList(listing, shown)


def weights_html(states: Sequence[WeightsState]) -> str:
    """Each set with its state and what can be done about it; voices that lack are folded."""
    heading = f"<h2>{html.escape(say('weights.title'))}</h2>"
    hint = f"<p>{html.escape(say('weights.hint'))}</p>"
    is_busy = any(state.is_running for state in states)
    folded = [state for state in states if _kind(state) in _VOICES and not _is_begun(state)]
    shown = [state for state in states if state not in folded]
    sets = "".join(_set_html(state, is_busy=is_busy) for state in shown)
    if not folded:
        return heading + hint + sets
    voices = "".join(_set_html(state, is_busy=is_busy) for state in folded)
    summary = html.escape(say("weights.voices", count=len(folded)))
    return (
        f'{heading}{hint}{sets}<details class="used"><summary>{summary}</summary>{voices}</details>'
    )


def weights_title(state: WeightsState) -> str:
    """What a set is called in the language of the page; names in it stay as they are."""
    kind = _kind(state)
    if kind not in _TITLED:
        return state.title
    name = state.title.removeprefix("Piper voice ").partition(",")[0]
    return say(f"weights.set_{kind}", name=name)


def _kind(state: WeightsState) -> str:
    return state.name.partition("-")[0]


def _is_begun(state: WeightsState) -> bool:
    return bool(state.num_usable or state.is_running or state.error)


def _set_html(state: WeightsState, *, is_busy: bool) -> str:
    here = say("weights.files", usable=state.num_usable, total=state.num_files)
    title = weights_title(state)
    return (
        f'<section class="weights"><h3 dir="auto">{html.escape(title)}</h3>'
        f'<p lang="en" dir="ltr">{html.escape(state.notice)}</p>'
        f"<p>{html.escape(here)}</p>{_also_html(state)}"
        f"{download_html(state, title, is_busy=is_busy)}</section>"
    )


def _also_html(state: WeightsState) -> str:
    """The command for what the files alone do not bring, where it is not here."""
    package, command = _ALSO_NEEDED.get(_kind(state), ("", ""))
    if not command or (package and importlib.util.find_spec(package) is not None):
        return ""
    return (
        f"<p>{html.escape(say('weights.also'))} "
        f'<code lang="en" dir="ltr">{html.escape(command)}</code></p>'
    )
