"""Start Sonic Studio: settings, engine, page. `python app.py --help` lists the options."""

import argparse
import contextlib
import os
import sys

from pydantic import ValidationError

from engine.errors import EngineError
from engine.messages import describe
from engine.settings import EngineSettings
from studio.locales import say
from studio.process import StopRequest, parse_arguments, prepare_process
from studio.settings import CannotStart, StudioSettings, refuse_exposure


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
        return _refuse(say("start.bad_setting", name=fault["loc"][0], reason=fault["msg"]))
    except EngineError as error:
        message = describe(error.code, error.values)
        return _refuse(f"{message.sentence} {message.hint}")
    sys.stdout.write(say("start.stopped") + "\n")
    return 0


def _run(given: argparse.Namespace) -> None:
    settings = EngineSettings(**({"data_dir": given.data_dir} if given.data_dir else {}))
    where = {"host": given.host, "port": given.port}
    studio = StudioSettings(**{name: value for name, value in where.items() if value is not None})
    refuse_exposure(studio.host, share=given.share, environment=os.environ)
    from engine.api import StudioEngine  # noqa: PLC0415 - a refusal needs no engine

    stop = StopRequest()
    with StudioEngine(settings, exclusive=True) as engine:
        prepare_process(engine.settings, os.environ)
        from studio.app import serve  # noqa: PLC0415 - Gradio reads the environment just prepared

        serve(engine, engine.settings, studio, stop.wait)
        if stop.is_patient and engine.health().job_id is not None:
            sys.stdout.write(
                say("start.finishing", seconds=round(settings.shutdown_grace_s)) + "\n"
            )
            sys.stdout.flush()
            with contextlib.suppress(KeyboardInterrupt):
                engine.finish()


def _refuse(sentence: str) -> int:
    sys.stderr.write(sentence + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
