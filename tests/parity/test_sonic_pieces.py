"""Speech that is longer than one piece: cut, continued, kept for another attempt."""

from dataclasses import replace
from threading import Event

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from engine.animators.sonic import pieces as rules  # noqa: E402
from engine.animators.sonic.animator import SonicAnimator  # noqa: E402
from engine.animators.sonic.memory import MODES, MemoryPlan  # noqa: E402
from engine.animators.sonic.models import SonicModels  # noqa: E402
from engine.animators.sonic.picture import pad_picture  # noqa: E402
from engine.animators.sonic.pipeline import SonicPipeline, SonicRun  # noqa: E402
from engine.animators.sonic.weight_files import SonicFolder  # noqa: E402
from engine.errors import Canceled  # noqa: E402
from tests.parity.test_sonic_animator import (  # noqa: E402, F401 - fixtures
    OPTIONS,
    folder,
    scene,
    sound,
    still_curves,
)

DURATION_S, NUM_FRAMES = 1.6, 40
PIECEWISE = replace(OPTIONS, longest_piece=12)


@pytest.fixture(scope="module")
def long_scene(scene, tmp_path_factory):  # noqa: F811
    wav = sound(tmp_path_factory.mktemp("long"), DURATION_S)
    return replace(scene, speech_wav=wav, curves=still_curves(NUM_FRAMES))


@pytest.fixture(scope="module")
def whole_run(folder, long_scene):  # noqa: F811
    return drawn(SonicAnimator(folder, PIECEWISE), long_scene)


@pytest.fixture
def denoised(monkeypatch):
    """Numbers of keyframes of every piece that is denoised."""
    lengths = []
    original = SonicPipeline.denoise_piece

    def noted(self, seen, speech, run, before=None):
        lengths.append(len(speech))
        return original(self, seen, speech, run, before)

    monkeypatch.setattr(SonicPipeline, "denoise_piece", noted)
    return lengths


def drawn(animator, scene, canceled=None):  # noqa: F811
    return np.stack(list(animator.animate(scene, canceled or Event())))


def test_no_piece_is_longer_than_asked(folder, long_scene, denoised):  # noqa: F811
    frames = drawn(SonicAnimator(folder, PIECEWISE), long_scene)

    assert len(frames) == NUM_FRAMES
    assert len(denoised) == 2
    assert all(length <= 12 + rules.CONTEXT for length in denoised)


def test_progress_of_all_pieces_grows_to_one(folder, long_scene):  # noqa: F811
    shares = []

    drawn(SonicAnimator(folder, PIECEWISE, on_progress=shares.append), long_scene)

    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_a_second_attempt_goes_on_after_the_finished_pieces(
    folder, long_scene, whole_run, tmp_path, denoised  # noqa: F811
):  # fmt: skip
    keep, canceled = tmp_path / "pieces", Event()
    first = SonicAnimator(folder, PIECEWISE, keep_dir=keep).animate(long_scene, canceled)
    next(first)
    canceled.set()
    with pytest.raises(Canceled):
        list(first)

    again = drawn(SonicAnimator(folder, PIECEWISE, keep_dir=keep), long_scene)

    assert len(denoised) == 2
    assert np.array_equal(again, whole_run)


def test_a_damaged_kept_piece_is_made_again(
    folder, long_scene, whole_run, tmp_path, denoised  # noqa: F811
):  # fmt: skip
    (tmp_path / "piece-0000.npy").write_bytes(b"half a file")

    again = drawn(SonicAnimator(folder, PIECEWISE, keep_dir=tmp_path), long_scene)

    assert len(denoised) == 2
    assert np.array_equal(again, whole_run)


def test_a_piece_goes_on_from_the_keyframes_before_it(folder, long_scene):  # noqa: F811
    pipeline = SonicPipeline(SonicModels(SonicFolder(folder), torch.device("cpu"), torch.float32))
    run = SonicRun(OPTIONS, MemoryPlan(MODES[0], 3, False, 0.0, fits=True))
    picture, _ = pad_picture(long_scene.canvas, long_scene.face.box)
    seen = pipeline.see(picture, run)
    samples = np.random.default_rng(3).normal(0, 0.1, 9 * 1280).astype(np.float32)
    speech = pipeline.hear(samples, seen, run)
    alone = pipeline.denoise_piece(seen, speech, run)
    before = torch.roll(alone[:4], 1, dims=0) + 0.5

    continued = pipeline.denoise_piece(seen, speech, run, before)

    assert torch.equal(continued[:4], before)
    assert (continued[4:] - alone[4:]).abs().max() > 0.01
