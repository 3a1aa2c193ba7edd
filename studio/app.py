"""The page assembled: `build_studio` makes it, `serve` keeps it running until it is stopped."""

import io
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Any

import gradio as gr

from engine.api import StudioEngine
from engine.settings import EngineSettings
from studio.artifacts import create_artifact_route
from studio.batch_archive import create_archive_route
from studio.context import Studio
from studio.endpoints import create_endpoints
from studio.entrance import Entrance
from studio.failures import guarded
from studio.history import GaugeHistory
from studio.locales import say
from studio.open_pages import MAX_SESSIONS, lighten_sessions
from studio.page_fonts import create_font_route
from studio.pages.create import create_create_page
from studio.pages.dub import create_dub_page
from studio.pages.help import create_help_page
from studio.pages.lecture import create_lecture_page
from studio.pages.library import create_library_page
from studio.pages.system import create_system_page
from studio.pages.verify import create_verify_page
from studio.parts.head import create_head
from studio.parts.public_head import create_public_head
from studio.parts.samples import SAMPLES_DIR
from studio.settings import StudioSettings, choose_port
from studio.theme import (
    DUB_STYLES_PATH,
    FONT_STYLES_PATH,
    HEAD_PATH,
    LECTURE_STYLES_PATH,
    PUBLIC_STYLES_PATH,
    STYLES_PATH,
    create_theme,
    words_css,
)
from studio.translated import build_translated

# Handlers only read rows and write one; eight at a time are plenty and keep memory flat.
CONCURRENT_HANDLERS = 8
MAX_WAITING_HANDLERS = 64

# Uploads are copied into a job when it is submitted; what is older than a day is swept.
SWEEP_EVERY_S = 3600
UPLOAD_AGE_S = 24 * 3600

# White on red, and back.
_RED, _PLAIN = "\x1b[97;41m", "\x1b[0m"


def build_studio(
    engine: StudioEngine,
    settings: EngineSettings,
    history: GaugeHistory | None = None,
    entrance: Entrance | None = None,
) -> gr.Blocks:
    """Make the page with its endpoints; nothing is started.

    Args:
        engine: what makes the videos.
        settings: of the engine.
        history: of the memory; None shows an empty one.
        entrance: how people come in; None = only who sits at this computer.
    """
    history = history or GaugeHistory(engine.gauge)
    entrance = entrance or Entrance.of(settings)
    studio = Studio(
        engine,
        settings,
        entrance.visitors,
        history,
        entrance.exposure,
        entrance.authenticator,
        entrance.uploads,
    )

    def build(kind: type[gr.Blocks]) -> gr.Blocks:
        page: gr.Blocks
        with kind(
            title=say("page.title"),
            analytics_enabled=False,
            delete_cache=(SWEEP_EVERY_S, UPLOAD_AGE_S),
            fill_width=False,
        ) as page:
            _create_pages(studio)
            create_endpoints(studio)
        return page

    blocks = build_translated(build)
    blocks.queue(
        max_size=MAX_WAITING_HANDLERS,
        default_concurrency_limit=CONCURRENT_HANDLERS,
        api_open=False,
    )
    return blocks


def _create_pages(studio: Studio) -> None:
    """The pages as tabs, because they talk: the library fills the form and shows a job."""
    head = create_head(studio)
    create_public_head(studio)
    # On a phone they take two rows; behind three dots nobody looks for them.
    with gr.Tabs(elem_id="pages", overflow_behavior="wrap") as tabs:
        with gr.Tab(say("tab.create"), id="create") as create_tab:
            create = create_create_page(studio, head)
        with gr.Tab(say("tab.dub"), id="dub") as dub_tab:
            dub_timer = create_dub_page(studio, dub_tab)
        with gr.Tab(say("tab.lecture"), id="lecture") as lecture_tab:
            lecture_timer = create_lecture_page(studio, lecture_tab)
        with gr.Tab(say("tab.library"), id="library") as library_tab:
            library_timer = create_library_page(studio, create, tabs, library_tab)
        is_private = studio.may_manage(None)
        with gr.Tab(say("tab.system"), id="system", visible=is_private) as system_tab:
            system_timer = create_system_page(studio, system_tab)
        with gr.Tab(say("tab.verify"), id="verify") as verify_tab:
            create_verify_page(studio)
        with gr.Tab(say("tab.help"), id="help") as help_tab:
            create_help_page(studio)
    if not is_private:
        _show_owner(studio, system_tab)
    timers = [dub_timer, lecture_timer, library_timer, system_timer]
    seen_on = (
        (create_tab, None),
        (dub_tab, dub_timer),
        (lecture_tab, lecture_timer),
        (library_tab, library_timer),
        (system_tab, system_timer),
        (verify_tab, None),
        (help_tab, None),
    )
    for tab, seen in seen_on:
        # In the browser: a timer that nobody sees asks nothing.
        states = ", ".join(
            f"{{__type__: 'update', active: {str(timer is seen).lower()}}}" for timer in timers
        )
        tab.select(None, None, timers, js=f"() => [{states}]", show_progress="hidden")


def _show_owner(studio: Studio, system_tab: gr.Tab) -> None:
    """Show the System page to the owner alone; its handlers ask again who asks."""

    @guarded
    def show(request: gr.Request) -> Any:  # noqa: ANN401 - a Gradio update
        return gr.update(visible=studio.may_manage(request))

    gr.on(None, show, None, system_tab, api_visibility="private", show_progress="hidden")


def launch_options(
    engine: StudioEngine,
    settings: EngineSettings,
    studio: StudioSettings,
    entrance: Entrance | None = None,
) -> dict[str, Any]:
    """How the page is launched: safe by default, everything from this computer."""
    entrance = entrance or Entrance.of(settings, studio)
    visitors = entrance.visitors
    return {
        "server_name": studio.host,
        **entrance.launch_options(),
        "theme": create_theme(),
        "css": words_css(),
        "css_paths": [
            FONT_STYLES_PATH,
            STYLES_PATH,
            DUB_STYLES_PATH,
            LECTURE_STYLES_PATH,
            PUBLIC_STYLES_PATH,
        ],
        "head_paths": [HEAD_PATH],
        "allowed_paths": [str(SAMPLES_DIR)],  # results go out through their own, guarded route
        "max_file_size": settings.max_audio_bytes,
        "show_error": False,
        "state_session_capacity": MAX_SESSIONS,
        "run_history": False,
        "enable_monitoring": False,
        "mcp_server": studio.mcp,
        "ssr_mode": False,
        "pwa": False,
        "strict_cors": True,
        "footer_links": ["api"],
        "quiet": True,
        # Has answered Gradio once by then; asked again, a busy computer may take more than the
        # three seconds after which Gradio would give up.
        "_frontend": False,
        "app_kwargs": {
            "middleware": entrance.middleware(),
            "routes": [
                create_artifact_route(engine, visitors),
                create_archive_route(engine, visitors),
                create_font_route(),
            ],
        },
    }


def launch(blocks: gr.Blocks, port: int, options: Mapping[str, Any]) -> None:
    """Open the page to visitors; returns when it answers."""
    blocks.launch(server_port=port, prevent_thread_lock=True, **options)
    lighten_sessions(blocks)


def serve(
    engine: StudioEngine,
    settings: EngineSettings,
    studio: StudioSettings,
    wait: Callable[[], None],
    entrance: Entrance | None = None,
) -> None:
    """Run the page until `wait` returns.

    Args:
        engine: what makes the videos; the caller closes it.
        settings: of the engine.
        studio: where to listen.
        wait: returns when the page should stop.
        entrance: how people come in; None = only who sits at this computer.

    Raises:
        CannotStart: no port is free.
    """
    entrance = entrance or Entrance.of(settings, studio)
    history = GaugeHistory(engine.gauge)
    blocks = build_studio(engine, settings, history, entrance)
    port = choose_port(studio.host, studio.port)
    options = launch_options(engine, settings, studio, entrance)
    with redirect_stdout(io.StringIO()):  # Gradio's words about a link; ours follow
        launch(blocks, port, options)
    try:
        _announce(f"http://{studio.host}:{port}", blocks.share_url, entrance)
        engine.warm_up()
        with history:
            wait()
    finally:
        blocks.close(verbose=False)


def _announce(address: str, link: str | None, entrance: Entrance) -> None:
    """Say where the studio is; a link that could not be made stops nothing."""
    if entrance.exposure.is_unsafe:
        sys.stderr.write(f"{_RED}{say('start.unsafe')}{_PLAIN}\n")
    if link is not None:
        sys.stdout.write(say("start.shared", address=link) + "\n")
    elif entrance.exposure.share:
        sys.stderr.write(say("start.share_failed") + "\n")
    sys.stdout.write(say("start.ready", address=address) + "\n")
    sys.stdout.flush()
