"""Start Sonic Studio: settings, engine, page. `python app.py --help` lists the options."""

import argparse
import contextlib
import os
import sys

from pydantic import ValidationError

from engine.accounts import Accounts
from engine.errors import EngineError
from engine.messages import describe
from engine.settings import EngineSettings
from studio.exposure import CannotStart, Exposure, Wish, decide_exposure
from studio.locales import say
from studio.process import StopRequest, parse_arguments, prepare_process
from studio.settings import StudioSettings


def main() -> int:
    """Run the studio until it is stopped.

    Returns:
        0 after a clean stop, 2 when it cannot start, with one sentence on stderr.
    """
    try:
        _run(parse_arguments())
    except CannotStart as reason:
        return _refuse(str(reason))
    except ValidationError as error:
        fault = error.errors()[0]
        name = fault["loc"][0] if fault["loc"] else "STUDIO_..."
        return _refuse(say("start.bad_setting", name=name, reason=fault["msg"]))
    except EngineError as error:
        message = describe(error.code, error.values)
        return _refuse(f"{message.sentence} {message.hint}")
    sys.stdout.write(say("start.stopped") + "\n")
    return 0


def _run(given: argparse.Namespace) -> None:
    fixed = {"data_dir": given.data_dir} if given.data_dir else {}
    settings = EngineSettings(**fixed)
    where = {"host": given.host, "port": given.port}
    studio = StudioSettings(**{name: value for name, value in where.items() if value is not None})
    exposure = _exposure(settings, studio, share=given.share)
    if exposure.mode != settings.public or exposure.is_unsafe:
        settings = EngineSettings(**fixed, public=exposure.mode, visible_label=True)
    from engine.api import StudioEngine  # noqa: PLC0415 - a refusal needs no engine

    stop = StopRequest()
    with StudioEngine(settings, exclusive=True) as engine:
        prepare_process(engine.settings, os.environ)
        # Gradio reads the environment just prepared.
        from studio.app import serve  # noqa: PLC0415
        from studio.entrance import Entrance  # noqa: PLC0415

        entrance = Entrance.of(engine.settings, studio, exposure)
        serve(engine, engine.settings, studio, stop.wait, entrance)
        if stop.is_patient and engine.health().job_id is not None:
            sys.stdout.write(
                say("start.finishing", seconds=round(settings.shutdown_grace_s)) + "\n"
            )
            sys.stdout.flush()
            with contextlib.suppress(KeyboardInterrupt):
                engine.finish()


def _exposure(settings: EngineSettings, studio: StudioSettings, *, share: bool) -> Exposure:
    """Who may reach the page.

    Raises:
        CannotStart: strangers could, and nothing would hold them.
    """
    accounts = Accounts(settings.data_dir.expanduser().absolute())
    wish = Wish(
        host=studio.host,
        share=share,
        public=settings.public if "public" in settings.model_fields_set else None,
        has_login=bool(studio.auth_dependency or studio.auth_header or accounts.all()),
        mcp=studio.mcp,
        without_auth=studio.unsafe_public_without_auth,
    )
    return decide_exposure(wish, os.environ)


def _refuse(sentence: str) -> int:
    sys.stderr.write(sentence + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
