"""Settings that travel: our own files, ComfyUI's, and files that are neither."""

import dataclasses
import json

import pytest

from engine.errors import EngineError, ErrorCode
from studio.recipe import FIELDS, read_recipe, write_recipe
from tests.unit.test_studio_form import EMPTY


def comfy(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def test_what_is_written_is_read_back():
    form = dataclasses.replace(
        EMPTY,
        framing="bust",
        aspect="9:16",
        preset="hd",
        steps=30,
        expand=0.25,
        dynamic_scale=1.2,
        seed="7",
        fps=50,
        burn=True,
    )

    recipe = read_recipe(write_recipe(form).encode())

    assert recipe.values == {name: getattr(form, name) for name in FIELDS}
    assert not recipe.has_duration


def test_a_recipe_tells_nothing_about_the_person():
    form = dataclasses.replace(
        EMPTY, portrait="/u/anna.jpg", recording="/u/anna.wav", text="secret", script="secret"
    )

    written = write_recipe(form)

    assert "anna" not in written
    assert "secret" not in written


def test_fields_of_comfyui_are_taken_over_and_the_duration_is_not():
    recipe = read_recipe(
        comfy(min_resolution=512, duration=10.0, expand_ratio=0.5, inference_steps=25, seed=3)
    )

    assert recipe.values == {"size": 512, "expand": 0.5, "steps": 25, "seed": "3"}
    assert recipe.has_duration


def test_a_workflow_of_comfyui_is_searched_for_sonics_nodes():
    workflow = {
        "3": {"class_type": "LoadImage", "inputs": {"image": "me.png", "seed": 99}},
        "7": {
            "class_type": "SONIC_PreData",
            "inputs": {"min_resolution": 600, "duration": 5, "audio": ["2", 0]},
        },
        "8": {
            "class_type": "SONICSampler",
            "inputs": {"seed": ["1", 0], "dynamic_scale": 1.4, "fps": 25.0},
        },
    }

    recipe = read_recipe(json.dumps(workflow).encode())

    assert recipe.values == {"size": 576, "dynamic_scale": 1.4, "fps": 25}
    assert recipe.has_duration


def test_values_beyond_the_ranges_are_moved_into_them():
    recipe = read_recipe(comfy(min_resolution=4096, dynamic_scale=9, inference_steps=500, fps=29))

    assert recipe.values == {"size": 1024, "dynamic_scale": 2.0, "steps": 50, "fps": 30}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89PNG\r\n",
        b"[1, 2]",
        b'{"hello": "world"}',
        b'{"dynamic_scale": "big"}',
        b'{"dynamic_scale": NaN, "steps": []}',
        b'{"format": "sonic-studio-recipe", "settings": {"framing": "feet"}}',
        b'{"format": "sonic-studio-recipe", "settings": {"background": ["x"]}}',
        b'{"format": "sonic-studio-recipe", "settings": {"fps": null}}',
        b'{"format": "sonic-studio-recipe", "settings": {"burn": "yes"}}',
        b'{"min_resolution": 1e999}',
        b"[" * 100_000,
    ],
)
def test_a_file_without_usable_settings_is_refused_in_a_sentence(content):
    with pytest.raises(EngineError) as refusal:
        read_recipe(content)

    assert refusal.value.code is ErrorCode.BAD_OPTION
