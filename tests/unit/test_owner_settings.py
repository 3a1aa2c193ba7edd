"""What the owner chose on the page holds at the next start, behind arguments and environment."""

import json

import pytest

from engine.api import StudioEngine
from engine.errors import ErrorCode, InputError
from engine.owner_settings import FILE_NAME
from engine.settings import EngineSettings


def keep(folder, **values: object) -> None:
    (folder / FILE_NAME).write_text(json.dumps(values))


def test_a_kept_choice_holds_and_the_environment_wins(tmp_path, monkeypatch):
    keep(tmp_path, result_days=7, max_data_gb=12, public="anonymous", data_dir="/elsewhere")
    monkeypatch.setenv("STUDIO_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("STUDIO_MAX_DATA_GB", "9")

    settings = EngineSettings()

    assert (settings.result_days, settings.max_data_gb) == (7, 9)
    assert settings.data_dir == tmp_path
    assert settings.public == "no", "only what may be chosen on the page is read"


@pytest.mark.parametrize("content", ["", "[]", "{", '{"result_days'])
def test_a_damaged_file_counts_as_empty(tmp_path, content):
    (tmp_path / FILE_NAME).write_text(content)

    assert EngineSettings(data_dir=tmp_path).result_days == 30


def test_the_engine_keeps_good_choices_and_refuses_others(tmp_path):
    with StudioEngine(EngineSettings(data_dir=tmp_path)) as engine:
        assert engine.owner_choices()["result_days"] == 30
        engine.choose({"result_days": 3.0, "render_threads": None})
        with pytest.raises(InputError) as refusal:
            engine.choose({"result_days": -1.0})

    assert refusal.value.code is ErrorCode.BAD_OPTION
    assert refusal.value.values["option"] == "result days"
    assert EngineSettings(data_dir=tmp_path).result_days == 3
