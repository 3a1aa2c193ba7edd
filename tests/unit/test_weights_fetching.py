"""Downloads of weights in the background, as the page starts and watches them."""

import time

import pytest

from engine.errors import EngineError, ErrorCode
from engine.settings import EngineSettings
from engine.weights.fetching import WeightsFetcher

NOBODY_LISTENS = "http://127.0.0.1:9"
LIMIT_S = 60


def test_a_download_that_cannot_be_ends_with_the_reason(tmp_path):
    settings = EngineSettings(data_dir=tmp_path, hub_endpoint=NOBODY_LISTENS)
    ended = []
    fetcher = WeightsFetcher(settings, lambda: ended.append(True))
    [before] = [state for state in fetcher.states() if state.name == "sonic"]
    assert not before.is_running
    assert not before.is_complete
    assert before.missing_mb > 1000

    fetcher.start("sonic")
    deadline = time.monotonic() + LIMIT_S
    while (state := fetcher.states()[0]).is_running and time.monotonic() < deadline:
        time.sleep(0.05)

    assert state.error is not None
    assert state.error.code is ErrorCode.WEIGHTS_UNREACHABLE
    assert ended == [True]


def test_everything_lists_voices_of_which_nothing_is_here(tmp_path):
    fetcher = WeightsFetcher(EngineSettings(data_dir=tmp_path))

    assert [state.name for state in fetcher.states()] == ["sonic"]
    names = {state.name for state in fetcher.states(everything=True)}
    assert {"sonic", "recogniser", "supertonic", "piper-de_DE-thorsten-medium"} <= names


def test_only_known_sets_are_fetched(tmp_path):
    fetcher = WeightsFetcher(EngineSettings(data_dir=tmp_path))

    with pytest.raises(EngineError) as refusal:
        fetcher.start("../../etc")

    assert refusal.value.code is ErrorCode.WEIGHTS_UNKNOWN
