"""From files to frames through a weights folder in the public layout."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

import soundfile  # noqa: E402
from PIL import Image  # noqa: E402

from engine.animators.sonic.denoise import draw_noise, noised_start  # noqa: E402
from engine.animators.sonic.memory import MODES, MemoryPlan  # noqa: E402
from engine.animators.sonic.models import SonicModels  # noqa: E402
from engine.animators.sonic.options import SonicOptions  # noqa: E402
from engine.animators.sonic.picture import resize_picture  # noqa: E402
from engine.animators.sonic.pipeline import SonicPipeline, SonicRun  # noqa: E402
from engine.animators.sonic.schedule import WindowPlan  # noqa: E402
from engine.animators.sonic.weight_files import SonicFolder  # noqa: E402
from tests.parity.tiny_networks import write_weights_folder  # noqa: E402

START_TOLERANCE = 1e-3
LATENTS_TOLERANCE = 3e-4
MAX_SHARE_OFF_BY_ONE = 0.005


@pytest.fixture(scope="module")
def settings(fixtures):
    return fixtures.meta["e2e"]


@pytest.fixture(scope="module")
def given(fixtures):
    return fixtures.tensors("e2e")


@pytest.fixture(scope="module")
def pipeline(fixtures, tmp_path_factory):
    root = write_weights_folder(fixtures, tmp_path_factory.mktemp("weights"))
    return SonicPipeline(SonicModels(SonicFolder(root), torch.device("cpu"), torch.float32))


@pytest.fixture(scope="module")
def run(settings):
    options = SonicOptions(
        num_inference_steps=settings["steps"],
        windows=WindowPlan(settings["window"], settings["overlap"], settings["shift"]),
        appearance_guidance=settings["g1"],
        audio_guidance=settings["g2"],
        dynamic_scale=settings["bucket_scale"],
        decode_chunk=settings["chunk"],
        seed=settings["seed"],
    )
    return SonicRun(options, MemoryPlan(MODES[0], settings["chunk"], False, 0.0, fits=True))


@pytest.fixture(scope="module")
def picture(fixtures, settings):
    pixels = np.asarray(Image.open(fixtures.root / "e2e.png").convert("RGB"))
    prepared = resize_picture(pixels, tuple(settings["box"]), settings["image_size"])
    assert list(prepared.mask.shape) == settings["out_hw"]
    return prepared


@pytest.fixture(scope="module")
def samples(fixtures):
    samples, rate = soundfile.read(fixtures.root / "e2e.wav", dtype="float32")
    assert rate == 16_000
    return samples


@pytest.fixture(scope="module")
def shares():
    return []


@pytest.fixture(scope="module")
def latents(pipeline, picture, samples, run, shares):
    return pipeline.denoise(picture, samples, replace(run, on_progress=shares.append))


def test_noise_of_a_seed_is_the_same(given, settings, pipeline, networks, picture):
    pixels = torch.from_numpy(picture.pixels.transpose(2, 0, 1).copy()).float()
    latent = networks.vae.encode(pixels[None] / 127.5 - 1).latent_dist.mode()[0]
    height, width = settings["out_hw"]
    noise = draw_noise(settings["frames"], height, width, settings["seed"])

    start = noised_start(latent, noise, pipeline._models.schedule(settings["steps"]).sigmas[0])

    assert (start - given["init_latents"][0]).abs().max().item() <= START_TOLERANCE


def test_latents_are_the_same(latents, given):
    assert latents.shape == given["latents"][0].shape
    assert (latents - given["latents"][0]).abs().max().item() <= LATENTS_TOLERANCE


def test_progress_grows_to_one(latents, shares, settings):
    assert len(shares) == settings["steps"] * -(-settings["frames"] // settings["window"])
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_frames_are_the_same(pipeline, latents, given, run):
    expected = given["video25_u8"].numpy()

    stream = pipeline.frames(latents, len(expected), Fraction(25), run)
    # The published program cuts off where the product rounds.
    frames = [(frame * 255).to(torch.uint8).permute(1, 2, 0).numpy() for frame in stream]

    off = np.abs(np.stack(frames).astype(int) - expected)
    assert off.max() <= 1
    assert (off > 0).mean() < MAX_SHARE_OFF_BY_ONE


def test_every_second_frame_at_fifty_is_a_frame_at_twenty_five(pipeline, latents, run):
    slow = list(pipeline.frames(latents, 7, Fraction(25), run))
    fast = list(pipeline.frames(latents, 13, Fraction(50), run))

    for index, frame in enumerate(slow):
        assert torch.equal(frame, fast[2 * index])


def test_another_seed_is_noticed(pipeline, picture, samples, run, given):
    other = replace(run, options=replace(run.options, seed=run.options.seed + 1))

    latents = pipeline.denoise(picture, samples, other)

    assert (latents - given["latents"][0]).abs().max().item() > 10 * LATENTS_TOLERANCE
