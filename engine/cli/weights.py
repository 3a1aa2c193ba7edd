"""`weights list`, `get NAME`, `verify` and `convert NAME` of the command line."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from engine.api import StudioEngine
from engine.cli.options import EXIT_OK, EXIT_USER
from engine.weights.catalog import find_set
from engine.weights.convert import convert_set, convertible
from engine.weights.download import DownloadProgress
from engine.weights.service import folder_of, get_weights, list_weights, verify_weights
from engine.weights.store import FileStatus
from engine.weights.weight_files import WeightSet

Statuses = dict[str, list[FileStatus]]


def add_weights_commands(commands: Any) -> None:  # noqa: ANN401 - argparse has no public type for sub-parsers
    """Add `weights` and the commands below it."""
    summary = "list, download and verify the weights of the diffusion animator"
    parser = commands.add_parser("weights", help=summary, description=summary)
    actions = parser.add_subparsers(
        title="commands", required=True, metavar="list|get|verify|convert"
    )
    for name, run, summary in (
        ("list", _list, "say which files are here and where they belong"),
        ("get", _get, "download what is missing; goes on where it broke off"),
        ("verify", _verify, "read every byte and compare it with what was published"),
    ):
        action = actions.add_parser(name, help=summary, description=summary)
        if name == "get":
            action.add_argument("name", metavar="NAME", help="such as sonic")
        action.add_argument("--json", action="store_true")
        action.set_defaults(run=run)
    summary = "make pickled files (.pth, .pkl) into safetensors, once"
    action = actions.add_parser("convert", help=summary, description=summary)
    action.add_argument("name", metavar="NAME", help="such as sonic")
    action.add_argument("--keep", action="store_true", help="leave the pickled files there, too")
    action.set_defaults(run=_convert)


def _list(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    statuses = list_weights(engine.settings)
    if arguments.json:
        _print_json(statuses)
        return EXIT_OK
    for known in map(find_set, statuses):
        print(f"{known.name}: {known.title}, in {folder_of(known, engine.settings)}")
        print(known.notice)
    _print_lines(statuses)
    for known in map(find_set, statuses):
        _offer_conversion(known, folder_of(known, engine.settings))
    return EXIT_OK


def _offer_conversion(weight_set: WeightSet, folder: Path) -> None:
    names = [file.name for file in convertible(weight_set, folder)]
    if names:
        command = f"python3 bootstrap.py weights convert {weight_set.name}"
        print(f"{', '.join(names)} can be made into safetensors once: `{command}`")


def _convert(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    weight_set = find_set(arguments.name)
    folder = folder_of(weight_set, engine.settings)
    done = convert_set(
        weight_set,
        folder,
        is_source_kept=arguments.keep,
        on_file=lambda file: print(f"Converting {file.path}", file=sys.stderr),
    )
    for converted in done:
        print(f"ok  {converted.target.relative_to(folder)} holds what {converted.source.name} held")
    if not done:
        print("Nothing here needs converting.")
    return EXIT_OK


def _get(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    weight_set = find_set(arguments.name)
    print(weight_set.notice, file=sys.stderr)
    with download_bar() as show:
        statuses = {weight_set.name: get_weights(weight_set.name, engine.settings, show)}
    if not arguments.json:
        _offer_conversion(weight_set, folder_of(weight_set, engine.settings))
    return _tell(statuses, as_json=arguments.json)


@contextmanager
def download_bar() -> Iterator[Callable[[DownloadProgress], None]]:
    """A bar on standard error for one download, and what tells it how far that is."""
    with _bar() as bar:
        task = bar.add_task("Asking for sizes", total=None)

        def show(progress: DownloadProgress) -> None:
            bar.update(
                task,
                description=progress.file,
                completed=progress.done_bytes,
                total=progress.total_bytes,
            )

        yield show


def _verify(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    listed = [status for rows in list_weights(engine.settings).values() for status in rows]
    total = sum(row.place.stat().st_size for row in listed if row.place.is_file())
    with _bar() as bar:
        task = bar.add_task("Reading", total=total)
        statuses = verify_weights(engine.settings, lambda count: bar.advance(task, count))
    if not statuses and not arguments.json:
        print("No weights are here.")
    return _tell(statuses, as_json=arguments.json)


def _tell(statuses: Statuses, *, as_json: bool) -> int:
    """Print every file; 2 when one of them cannot be used."""
    if as_json:
        _print_json(statuses)
    else:
        _print_lines(statuses)
    is_whole = all(row.is_usable for rows in statuses.values() for row in rows)
    return EXIT_OK if is_whole else EXIT_USER


def _print_lines(statuses: Statuses) -> None:
    for rows in statuses.values():
        for row in rows:
            print(f"{'ok ' if row.is_usable else '-- '} {row.sentence}")


def _print_json(statuses: Statuses) -> None:
    sets = {
        name: {
            "complete": all(row.is_usable for row in rows),
            "notice": find_set(name).notice,
            "command": find_set(name).command,
            "files": [_as_json(row) for row in rows],
        }
        for name, rows in statuses.items()
    }
    print(json.dumps({"weights": sets}, ensure_ascii=False))


def _as_json(row: FileStatus) -> dict[str, Any]:
    return {
        "file": row.file.path,
        "state": row.state,
        "place": str(row.place),
        "size_bytes_at_most": row.file.max_bytes,
        "licence": row.file.licence,
        "source": row.file.repo,
        "detail": row.detail,
    }


def _bar() -> Progress:
    """On standard error; silent when that is not a terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )
