"""The line about where things go is true in every mode."""

import pytest

from engine.settings import EngineSettings
from studio.exposure import Exposure
from studio.privacy import privacy_words

HERE = "Everything stays on this computer."


def told(exposure: Exposure, **settings: object) -> str:
    return privacy_words(EngineSettings(**settings), exposure)


def test_a_studio_of_its_own_user_keeps_everything_here():
    assert told(Exposure()) == HERE


@pytest.mark.parametrize(
    "settings",
    [
        {"speech_server_url": "http://192.168.1.20:8880"},
        {"backend": "celery", "broker_url": "redis://10.0.0.2:6379/0"},
    ],
)
def test_other_computers_that_take_part_are_told(settings):
    assert told(Exposure(), **settings).startswith("Everything stays on this computer and those")


@pytest.mark.parametrize(
    "exposure",
    [
        Exposure("accounts"),
        Exposure("anonymous"),
        Exposure("no", is_unsafe=True),
        Exposure("no", share=True, is_unsafe=True),
        Exposure("anonymous", on_space=True),
    ],
)
def test_visitors_are_never_told_that_their_files_stay_with_them(exposure):
    words = told(exposure)

    assert "this computer" not in words
    assert "30 days" in words
    assert ("Gradio" in words) == exposure.share
    assert ("Hugging Face" in words) == exposure.on_space


def test_short_times_are_told_in_hours():
    assert "for 24 hours on" in told(Exposure("accounts"), result_days=1.0)
