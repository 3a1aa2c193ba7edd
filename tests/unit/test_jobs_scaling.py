"""Rules of several cards and several machines that need no server."""

from pathlib import Path

import pytest

from engine.errors import ErrorCode, InputError
from engine.jobs.backend import busiest
from engine.jobs.counts import JobCounts
from engine.metrics import Figures, serve_metrics
from engine.settings import EngineSettings
from engine.worker import cards
from engine.worker.environment import child_environment
from engine.worker.plan import settings_in_full
from engine.worker.supervisor import ChildState


def test_gpus_are_read_from_a_list_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUDIO_GPUS", "0, 1,GPU-12ab")

    assert EngineSettings().gpus == ("0", "1", "GPU-12ab")


@pytest.mark.parametrize(
    ("gpus", "visible", "chosen"),
    [
        ((), None, ()),
        (("1",), None, ("1",)),
        (("all",), None, ("0", "1")),
        (("all",), "1", ("1",)),
        (("GPU-12ab", "MIG-7"), None, ("GPU-12ab", "MIG-7")),
    ],
)
def test_cards_are_chosen_by_the_setting(
    gpus: tuple[str, ...],
    visible: str | None,
    chosen: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cards, "read_cards", lambda: [object(), object()])
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    assert cards.chosen_cards(gpus) == chosen


@pytest.mark.parametrize("gpus", [("2",), ("0", "0")])
def test_a_card_that_is_not_there_or_named_twice_is_refused(
    gpus: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cards, "read_cards", lambda: [object(), object()])

    with pytest.raises(InputError) as caught:
        cards.chosen_cards(gpus)

    assert caught.value.code is ErrorCode.BAD_OPTION
    assert caught.value.values["option"] == "gpus"


def test_several_children_are_told_in_one_word() -> None:
    dead, ready, busy = ChildState.DEAD, ChildState.READY, ChildState.BUSY

    assert busiest([dead, ready, busy]) is busy
    assert busiest([dead, ready]) is ready
    assert busiest([]) is dead


def test_children_get_no_keys_of_broker_and_storage(tmp_path: Path) -> None:
    settings = EngineSettings(
        data_dir=tmp_path,
        broker_url="redis://:secret@host/0",
        storage_url="s3://key:secret@bucket/x",
        hub_token="needed",
    )
    base = {
        "STUDIO_BROKER_URL": "redis://:secret@host/0",
        "STUDIO_STORAGE_URL": "s3://bucket",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "PATH": "/bin",
    }

    environment = child_environment("decode", settings, tmp_path, base)
    told = settings_in_full(settings)

    assert environment["PATH"] == "/bin"
    assert "secret" not in " ".join([*environment.values(), *map(str, told.values())])
    assert told["hub_token"] == "needed"
    assert EngineSettings(**told).backend == "local"


def test_metrics_are_off_by_default_and_hold_numbers_only(tmp_path: Path) -> None:
    assert EngineSettings(data_dir=tmp_path).metrics_port is None
    figures = Figures(JobCounts().read(), {}, 1, 0, None)

    with serve_metrics(EngineSettings(data_dir=tmp_path), lambda: figures):
        pass
