"""`user add`, `user remove`, `user list`: who may use an installation that others can reach."""

import argparse
import getpass
import json
import sys
from typing import Any

from engine.accounts import MIN_PASSWORD_CHARACTERS, Accounts
from engine.cli.options import EXIT_OK
from engine.errors import EngineError, ErrorCode, InputError
from engine.settings import EngineSettings


def add_user_commands(commands: Any) -> None:  # noqa: ANN401 - argparse has no public type for sub-parsers
    """Add `user` with its three actions; they need no engine."""
    summary = "accounts for those who use this installation from elsewhere"
    user = commands.add_parser("user", help=summary, description=summary)
    actions = user.add_subparsers(title="actions", required=True, metavar="ACTION")

    add = actions.add_parser("add", help="make an account, or give it a new password")
    add.add_argument("name", metavar="NAME")
    add.add_argument("--owner", action="store_true", default=None, help="may see the System page")
    add.add_argument(
        "--password-stdin", action="store_true", help="read the password from standard input"
    )
    add.set_defaults(serve=_add)

    remove = actions.add_parser("remove", help="remove an account and end its sessions")
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(serve=_remove)

    listing = actions.add_parser("list", help="name every account")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(serve=_list)


def _accounts(settings: EngineSettings) -> Accounts:
    data_dir = settings.data_dir.expanduser().absolute()
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(ErrorCode.OUTPUT_NOT_WRITABLE) from error
    return Accounts(data_dir)


def _add(settings: EngineSettings, arguments: argparse.Namespace) -> int:
    accounts = _accounts(settings)
    account = accounts.add(
        arguments.name, _password(from_stdin=arguments.password_stdin), is_owner=arguments.owner
    )
    print(f"{account.name} may log in now{' and owns this installation' * account.is_owner}.")
    return EXIT_OK


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InputError(
            ErrorCode.BAD_OPTION, option="password", reason="there is no terminal to type it"
        )
    first = getpass.getpass(f"Password, at least {MIN_PASSWORD_CHARACTERS} characters: ")
    if getpass.getpass("Once more: ") != first:
        raise InputError(ErrorCode.BAD_OPTION, option="password", reason="the two differ")
    return first


def _remove(settings: EngineSettings, arguments: argparse.Namespace) -> int:
    _accounts(settings).remove(arguments.name)
    print(f"{arguments.name} is removed and logged out.")
    return EXIT_OK


def _list(settings: EngineSettings, arguments: argparse.Namespace) -> int:
    accounts = _accounts(settings).all()
    if arguments.json:
        listed = [{"name": one.name, "is_owner": one.is_owner} for one in accounts]
        print(json.dumps({"accounts": listed}))
        return EXIT_OK
    for one in accounts:
        print(f"{one.name}{'  (owner)' * one.is_owner}")
    if not accounts:
        print("There is no account yet; make one with `user add NAME`.")
    return EXIT_OK
