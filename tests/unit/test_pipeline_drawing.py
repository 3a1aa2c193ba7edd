"""Drawing when the memory does not suffice: each rung is climbed, and the report tells it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from lite_scenes import scene_of, speech_like

from engine.animators.animator import Animator, MemoryNeed, Scene, ThriftyAnimator
from engine.animators.lite.animator import LiteAnimator
from engine.animators.sonic.animator import SonicAnimator
from engine.animators.sonic.memory import MODES
from engine.contracts import RenderOptions
from engine.errors import EngineError, ErrorCode
from engine.gpu.ladder import Step, WorkMode
from engine.media.audio import write_wav
from engine.media.video import probe_video
from engine.pipeline.animate import VIDEO_NAME, render_scene
from engine.pipeline.drawing import draw_within_memory, recall_drawing

NUM_FRAMES = 4
OPTIONS = RenderOptions(size_px=512)


class Hungry:
    """Draws with the built-in animator, but only in the modes and sizes that it has memory for."""

    name = "hungry"

    def __init__(self, enough: set[tuple[str, int]], mode: str = "usual") -> None:
        self.enough = enough
        self.mode = mode

    @property
    def thriftier_modes(self) -> tuple[WorkMode, ...]:
        return (
            WorkMode("halves", Step.SMALLER_CHUNKS),
            WorkMode("tiles", Step.TILED_DECODE),
        )

    def in_mode(self, name: str) -> "Hungry":
        return Hungry(self.enough, name)

    def need(self, width_px: int, height_px: int, num_frames: int) -> MemoryNeed:
        return MemoryNeed(0, 0)

    def animate(self, scene: Scene, canceled: Event) -> Iterator[np.ndarray]:
        frames = LiteAnimator().animate(scene, canceled)
        yield next(frames)
        if (self.mode, min(scene.canvas.shape[:2])) not in self.enough:
            raise EngineError(ErrorCode.GPU_MEMORY)
        yield from frames


@pytest.fixture
def draw_with(astronaut, tmp_path: Path):
    """Draw a short clip with an animator; the options decide the size."""
    canvas, face = astronaut
    wav = tmp_path / "speech.wav"
    write_wav(wav, np.zeros(round(NUM_FRAMES / 25 * 48000), np.float32), 48000)

    def scene_at(size_px: int) -> Scene:
        scene = scene_of((canvas[:size_px, :size_px], face), speech_like(NUM_FRAMES))
        return replace(scene, speech_wav=wav)

    def draw(scene: Scene, way: Animator) -> None:
        render_scene(scene, way, tmp_path, Event(), lambda _done: None)

    def run(animator: Animator, options: RenderOptions = OPTIONS):
        return draw_within_memory(options, animator, scene_at, draw, tmp_path)

    return run


def test_the_way_that_works_is_told_and_the_video_is_whole(draw_with, tmp_path: Path) -> None:
    drawing = draw_with(Hungry({("tiles", 512)}))

    assert [step["step"] for step in drawing.steps] == ["again", "smaller_chunks", "tiled_decode"]
    assert drawing.size_px == 512
    assert probe_video(tmp_path / VIDEO_NAME).num_frames == NUM_FRAMES
    assert recall_drawing(tmp_path, OPTIONS).steps == drawing.steps


def test_a_smaller_video_is_made_only_if_it_was_allowed(draw_with, tmp_path: Path) -> None:
    hungry = Hungry({("tiles", 384)})

    with pytest.raises(EngineError) as caught:
        draw_with(hungry)
    left = {path.name for path in tmp_path.iterdir()} - {"speech.wav", "poster.jpg"}
    drawing = draw_with(hungry, OPTIONS.model_copy(update={"allow_smaller": True}))

    assert caught.value.code is ErrorCode.GPU_MEMORY
    assert left == set()
    assert drawing.size_px == 384
    assert drawing.steps[-1] == {"step": "smaller_size", "mode": "tiles", "size_px": 384}
    assert probe_video(tmp_path / VIDEO_NAME).width_px == 384
    assert recall_drawing(tmp_path, OPTIONS).size_px == 384


def test_an_animator_without_modes_is_tried_once_more(draw_with) -> None:
    class Once(LiteAnimator):
        tries = 0

        def animate(self, scene: Scene, canceled: Event) -> Iterator[np.ndarray]:
            self.tries += 1
            if self.tries == 1:
                raise MemoryError
            return super().animate(scene, canceled)

    once = Once()

    drawing = draw_with(once)

    assert not isinstance(once, ThriftyAnimator)
    assert [step["step"] for step in drawing.steps] == ["again"]


def test_what_fits_is_drawn_once_and_leaves_no_note(draw_with, tmp_path: Path) -> None:
    drawing = draw_with(LiteAnimator())

    assert (drawing.size_px, drawing.steps) == (512, ())
    assert not (tmp_path / "drawing.json").exists()
    assert recall_drawing(tmp_path, OPTIONS) == drawing


def test_sonic_offers_smaller_groups_than_it_used_last(tmp_path: Path) -> None:
    sonic = SonicAnimator(tmp_path, free_vram_mb=lambda: 141_000.0)
    assert isinstance(sonic, ThriftyAnimator)

    offered = [mode.name for mode in sonic.thriftier_modes]
    held = sonic.in_mode("grouped")
    plenty, little = sonic.need(1024, 1024, 50), held.need(1024, 1024, 50)

    assert offered == [mode.name for mode in MODES[1:]]
    assert held._plan(1024, 1024, 141_000.0, on_card=True).mode.name == "grouped"
    assert held._plan(1024, 1024, 141_000.0, on_card=True).decode_chunk == 2
    assert little.vram_mb <= plenty.vram_mb
