"""`voices get ID` and `voices setup NAME`: voices that need a download."""

import argparse
import json
import sys

from engine.api import StudioEngine
from engine.cli.options import EXIT_OK, EXIT_USER
from engine.cli.weights import download_bar
from engine.errors import ErrorCode, InputError
from engine.weights.environments import QWEN, find_environment, make_environment
from engine.weights.service import get_weights
from engine.weights.voices import QWEN_LARGE, QWEN_SMALL, set_of_voice


def add_voice_actions(parser: argparse.ArgumentParser) -> None:
    """Add the two commands below `voices`."""
    actions = parser.add_subparsers(title="commands", metavar="get|setup")
    summary = "download what a voice needs; goes on where it broke off"
    get = actions.add_parser("get", help=summary, description=summary)
    get.add_argument("voice", metavar="ID", help="see `voices --all`")
    get.add_argument("--json", action="store_true")
    get.set_defaults(run=_get)
    summary = "make the environment that a voice needs beside the product's own"
    setup = actions.add_parser("setup", help=summary, description=summary)
    setup.add_argument("name", metavar="NAME", help="such as qwen")
    setup.add_argument(
        "--index-url", metavar="URL", help="where pip finds packages, such as a mirror"
    )
    setup.set_defaults(run=_setup)


def _get(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    needed = set_of_voice(arguments.voice)
    listed = {voice.voice_id: voice for voice in engine.voices(with_missing=True)}
    voice = listed.get(arguments.voice)
    if voice is None:
        raise InputError(ErrorCode.VOICE_UNKNOWN, voice=arguments.voice)
    if needed is None:
        print(f"{voice.voice_id} needs no download.")
        return EXIT_OK
    print(needed.notice, file=sys.stderr)
    with download_bar() as show:
        statuses = get_weights(needed.name, engine.settings, show)
    is_whole = all(row.is_usable for row in statuses)
    fetched = {found.voice_id: found for found in engine.voices(refresh=True, with_missing=True)}
    is_ready = is_whole and fetched[voice.voice_id].installed
    if arguments.json:
        print(json.dumps({"voice": voice.voice_id, "installed": is_ready}))
    elif is_ready:
        print(f"{voice.voice_id} is ready.")
    elif is_whole and needed in (QWEN_LARGE, QWEN_SMALL):
        print(f"Downloaded. It also needs `python3 bootstrap.py voices setup {QWEN.name}`.")
    return EXIT_OK if is_whole else EXIT_USER


def _setup(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    environment = find_environment(arguments.name)
    folder = engine.settings.qwen_env_dir
    print(f"Installing {environment.title} ({environment.size_words}) into {folder}")
    extra = ["--index-url", arguments.index_url] if arguments.index_url else []
    make_environment(environment, folder, extra)
    print(f"{environment.title} is set up. `voices --all` lists its voices, `voices get` them.")
    return EXIT_OK
