"""Accounts: kept safely, told apart, and asked for on the command line."""

import io
import json
import stat
import sys
import threading
from functools import partial

import pytest
from argon2 import PasswordHasher

from engine.accounts import FILE_NAME, Accounts
from engine.cli.program import main
from engine.errors import EngineError, ErrorCode, InputError

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True, scope="module")
def cheap_hashes():
    """The real hash with the least work: thousands of tries in a test would take minutes."""
    with pytest.MonkeyPatch.context() as patch:
        cheap = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr("engine.accounts.PasswordHasher", cheap)
        yield


@pytest.fixture
def accounts(tmp_path):
    return Accounts(tmp_path)


def test_only_the_right_password_of_the_right_name_fits(accounts):
    accounts.add("Eva", PASSWORD)

    assert accounts.log_in("eva", PASSWORD).name == "eva"
    assert accounts.log_in(" EVA ", PASSWORD).name == "eva"
    assert accounts.log_in("eva", PASSWORD + "x") is None
    assert accounts.log_in("eva", "") is None
    assert accounts.log_in("bob", PASSWORD) is None
    assert accounts.log_in("eva", "x" * 1_000_000) is None


def test_no_password_and_no_open_file_lies_on_the_disk(accounts, tmp_path):
    accounts.add("eva", PASSWORD)
    accounts.add("bob", PASSWORD)
    stored = (tmp_path / FILE_NAME).read_text("utf-8")

    assert PASSWORD not in stored
    hashes = [entry["password_hash"] for entry in json.loads(stored)["accounts"]]
    assert all(one.startswith("$argon2id$") for one in hashes)
    assert hashes[0] != hashes[1]
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


def test_the_first_account_owns_the_installation(accounts):
    assert accounts.add("eva", PASSWORD).is_owner
    assert not accounts.add("bob", PASSWORD).is_owner
    assert accounts.add("eva", "another password").is_owner
    assert accounts.add("ann", PASSWORD, is_owner=True).is_owner


def test_a_new_password_ends_what_the_old_one_opened(accounts):
    first = accounts.add("eva", PASSWORD)
    second = accounts.add("eva", "another password")

    assert first.version != second.version
    assert accounts.log_in("eva", PASSWORD) is None
    assert accounts.log_in("eva", "another password") is not None


def test_another_process_sees_a_change_at_once(accounts, tmp_path):
    other = Accounts(tmp_path)
    accounts.add("eva", PASSWORD)
    assert other.find("eva") is not None

    accounts.remove("eva")

    assert other.find("eva") is None
    assert other.all() == []


def test_two_that_add_at_once_lose_nobody(tmp_path):
    names = [f"user{number}" for number in range(6)]
    threads = [
        threading.Thread(target=Accounts(tmp_path).add, args=(name, PASSWORD)) for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [account.name for account in Accounts(tmp_path).all()] == names


@pytest.mark.parametrize("name", ["", " ", "-x", "a b", "a/b", "../x", "ä", "x" * 65, "a:b", "a\n"])
def test_names_that_could_be_something_else_are_refused(accounts, name):
    if name == "a\n":
        assert accounts.add(name, PASSWORD).name == "a"  # spaces around a name do not count
        return
    with pytest.raises(InputError) as caught:
        accounts.add(name, PASSWORD)

    assert caught.value.code is ErrorCode.ACCOUNT_NAME_BAD


@pytest.mark.parametrize("password", ["", "short", "x" * 201])
def test_passwords_that_are_too_short_or_a_book_are_refused(accounts, password):
    with pytest.raises(InputError) as caught:
        accounts.add("eva", password)

    assert caught.value.code is ErrorCode.PASSWORD_TOO_SHORT


@pytest.mark.parametrize("content", ["", "{", "[]", '{"accounts": [{"name": 1}]}', "\0"])
def test_a_damaged_file_lets_nobody_in_and_is_named(accounts, tmp_path, content):
    (tmp_path / FILE_NAME).write_text(content, "utf-8")

    with pytest.raises(EngineError) as caught:
        accounts.all()

    assert caught.value.code is ErrorCode.ACCOUNTS_UNREADABLE


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STUDIO_DATA_DIR", str(tmp_path / "data"))

    def command(*arguments, typed=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        code = main(["user", *arguments])
        return code, capsys.readouterr()

    return command


def test_commands_add_list_and_remove(run):
    assert run("add", "Eva", "--password-stdin", typed=f"{PASSWORD}\n")[0] == 0
    assert run("add", "bob", "--password-stdin", typed=f"{PASSWORD}\n")[0] == 0

    code, said = run("list", "--json")

    assert code == 0
    assert json.loads(said.out)["accounts"] == [
        {"name": "bob", "is_owner": False},
        {"name": "eva", "is_owner": True},
    ]
    assert run("remove", "bob")[0] == 0
    assert run("list")[1].out == "eva  (owner)\n"


def test_commands_say_what_is_wrong_in_one_sentence(run):
    for arguments, typed, words in (
        (("add", "eva", "--password-stdin"), "short\n", "at least 10 characters"),
        (("add", "a b", "--password-stdin"), f"{PASSWORD}\n", "cannot be used for an account"),
        (("add", "eva"), "", "no terminal"),
        (("remove", "eva"), "", "no account eva"),
    ):
        code, said = run(*arguments, typed=typed)
        assert code == 2
        assert words in said.err
        assert said.err.count("\n") == 1
        assert PASSWORD not in said.err
