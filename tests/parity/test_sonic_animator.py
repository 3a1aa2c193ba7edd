"""The diffusion animator behind the seam that every animator shares, with tiny networks."""

import threading
from dataclasses import replace
from fractions import Fraction
from threading import Event

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

import soundfile  # noqa: E402

from engine.animators.animator import Scene  # noqa: E402
from engine.animators.sonic.animator import SonicAnimator  # noqa: E402
from engine.animators.sonic.options import SonicOptions  # noqa: E402
from engine.animators.sonic.schedule import WindowPlan  # noqa: E402
from engine.errors import Canceled, EngineError, ErrorCode, InputError  # noqa: E402
from engine.face.geometry import NUM_LANDMARKS, Face  # noqa: E402
from engine.lipsync.curves import VISEMES, MouthCurves  # noqa: E402
from tests.parity.tiny_networks import write_weights_folder  # noqa: E402

OPTIONS = SonicOptions(num_inference_steps=2, windows=WindowPlan(5, 0, 2), decode_chunk=3)
WIDTH, HEIGHT = 56, 60


@pytest.fixture(scope="module")
def folder(fixtures, tmp_path_factory):
    return write_weights_folder(fixtures, tmp_path_factory.mktemp("weights"))


def still_curves(num_frames):
    zeros = np.zeros(num_frames, np.float32)
    return MouthCurves(np.zeros((num_frames, len(VISEMES)), np.float32), *[zeros] * 9)


def sound(tmp_path, duration_s, pitch_hz=150.0):
    times = np.arange(round(duration_s * 48_000)) / 48_000
    wave = 0.3 * np.sin(2 * np.pi * pitch_hz * times) * (np.sin(9 * times) > 0)
    path = tmp_path / f"speech_{pitch_hz}.wav"
    soundfile.write(path, wave.astype(np.float32), 48_000)
    return path


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    canvas = np.stack([x * 4, y * 4, 255 - x * 2], axis=2).astype(np.uint8)
    face = Face(np.zeros((NUM_LANDMARKS, 3), np.float32), 1.0, (14.0, 8.0, 28.0, 40.0), 0, 0, 0)
    return Scene(
        canvas=canvas,
        face=face,
        curves=still_curves(11),
        speech_wav=sound(tmp_path_factory.mktemp("speech"), 0.44),
        fps=Fraction(25),
        seed=7,
    )


def draw(folder, scene, **changes):
    animator = SonicAnimator(folder, replace(OPTIONS, **changes))
    return np.stack(list(animator.animate(scene, Event())))


@pytest.fixture(scope="module")
def frames(folder, scene):
    return draw(folder, scene)


def test_every_frame_of_the_scene_is_drawn_at_its_size(frames):
    assert frames.shape == (11, HEIGHT, WIDTH, 3)
    assert frames.dtype == np.uint8
    assert frames.std() > 1
    assert np.abs(np.diff(frames.astype(int), axis=0)).max() > 0


def test_the_same_seed_draws_the_same_frames(folder, scene, frames):
    assert np.array_equal(draw(folder, scene), frames)


@pytest.mark.parametrize(
    "change",
    [{"seed": 8}, {"dynamic_scale": 1.5}, {"motion_scale": 1.5}, {"pitch_hz": 300.0}],
    ids=lambda change: next(iter(change)),
)
def test_what_the_scene_says_is_heard(folder, scene, frames, change, tmp_path):
    if "pitch_hz" in change:
        change = {"speech_wav": sound(tmp_path, 0.44, **change)}

    assert not np.array_equal(draw(folder, replace(scene, **change)), frames)


@pytest.mark.parametrize("fps", [24, 30, 50])
def test_other_rates_give_as_many_frames_as_asked(folder, scene, fps):
    num_frames = round(0.44 * fps)

    drawn = draw(folder, replace(scene, fps=Fraction(fps), curves=still_curves(num_frames)))

    assert len(drawn) == num_frames


def test_a_video_longer_than_its_sound_is_filled_with_silence(folder, scene):
    assert len(draw(folder, replace(scene, curves=still_curves(23)))) == 23


def test_a_shift_shows_every_frame_earlier_or_later(folder, scene, frames):
    earlier = draw(folder, replace(scene, shift_s=0.04))
    later = draw(folder, replace(scene, shift_s=-0.04))

    assert np.array_equal(earlier[:-1], frames[1:])
    assert np.array_equal(later[1:], frames[:-1])
    assert np.array_equal(later[0], frames[0])


def test_progress_grows_to_one_with_the_last_frame(folder, scene):
    shares = []
    animator = SonicAnimator(folder, OPTIONS, on_progress=shares.append)

    stream = animator.animate(scene, Event())
    next(stream)
    before_the_second = shares[-1]
    list(stream)

    assert 0 < before_the_second < 1
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_a_canceled_scene_stops_between_layers(folder, scene):
    canceled = Event()
    animator = SonicAnimator(folder, OPTIONS, on_progress=lambda _share: canceled.set())

    with pytest.raises(Canceled):
        next(animator.animate(scene, canceled))


def test_a_scene_canceled_while_frames_flow_stops(folder, scene):
    canceled = Event()
    stream = SonicAnimator(folder, OPTIONS).animate(scene, canceled)
    next(stream)
    canceled.set()

    with pytest.raises(Canceled):
        next(stream)


def test_leaving_in_the_middle_ends_the_thread_that_draws(folder, scene):
    before = threading.active_count()
    stream = SonicAnimator(folder, OPTIONS).animate(scene, Event())
    next(stream)

    stream.close()

    assert threading.active_count() == before


def test_frames_after_the_last_keyframe_hold_it(folder, scene):
    """Ten frames end half-way after the fifth keyframe; a sixth would take a second window."""
    drawn = draw(folder, replace(scene, curves=still_curves(10)))

    assert len(drawn) == 10
    assert np.array_equal(drawn[9], drawn[8])
    assert not np.array_equal(drawn[8], drawn[7])


def test_missing_weights_are_told_before_any_work(tmp_path, scene):
    with pytest.raises(InputError) as caught:
        next(SonicAnimator(tmp_path / "none", OPTIONS).animate(scene, Event()))

    assert caught.value.code is ErrorCode.WEIGHTS_MISSING


def test_a_lack_of_memory_while_decoding_is_explained(folder, scene, monkeypatch):
    from engine.animators.sonic import pipeline  # noqa: PLC0415 - needs torch

    def no_room(*_inputs):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(pipeline, "unit_range", no_room)

    with pytest.raises(EngineError) as caught:
        next(SonicAnimator(folder, OPTIONS).animate(scene, Event()))

    assert caught.value.code is ErrorCode.GPU_MEMORY


def test_need_grows_with_size_and_knows_the_card(folder):
    without = SonicAnimator(folder).need(512, 512, 250)
    with_card = SonicAnimator(folder, free_vram_mb=lambda: 24 * 1024.0)

    assert without.vram_mb == 0
    assert without.rss_mb > 6000
    small, large = with_card.need(512, 512, 250), with_card.need(1024, 1024, 250)
    assert 4000 < small.vram_mb < large.vram_mb < 24 * 1024
    assert with_card.need(1024, 1024, 2500).rss_mb > large.rss_mb
