"""The whole denoising loop and the decoder against the published program's numbers."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from engine.animators.sonic import denoise  # noqa: E402
from engine.animators.sonic.decode import decode_chunks, encode_picture  # noqa: E402
from engine.animators.sonic.denoise import (  # noqa: E402
    Conditioning,
    Denoiser,
    Watch,
    noised_start,
)
from engine.animators.sonic.memory import MODES, GroupSizes  # noqa: E402
from engine.animators.sonic.options import SonicOptions  # noqa: E402
from engine.animators.sonic.schedule import NoiseSchedule, WindowPlan, karras_schedule  # noqa: E402
from engine.errors import EngineError, ErrorCode  # noqa: E402

LATENTS_TOLERANCE = 3e-4
FRAMES_TOLERANCE = 1e-4


def state_tolerance(state):
    """States before the last steps are as large as the noise."""
    return 1e-4 + 5e-6 * state.abs().max().item()


def difference(made, expected):
    assert made.shape == expected.shape
    return (made - expected).abs().max().item()


class Case:
    def __init__(self, name, fixtures):
        self.given, settings = fixtures.tensors(name), fixtures.meta[name]
        self.chunk = settings["chunk"]
        self.options = SonicOptions(
            num_inference_steps=settings["steps"],
            windows=WindowPlan(settings["window"], settings["overlap"], settings["shift"]),
            appearance_guidance=settings["g1"],
            audio_guidance=settings["g2"],
            dynamic_scale=settings["bucket_scale"],
        )
        self.schedule = karras_schedule(settings["steps"])
        self.conditioning = Conditioning(
            image_latent=self.given["ref_latent_mean"][0],
            image_embed=self.given["clip_embeds"],
            audio_tokens=self.given["audio_tokens"],
            silent_tokens=self.given["uncond_audio_tokens"],
            motion_buckets=self.given["motion_buckets"],
            face_mask=self.given["face_mask"],
        )

    @property
    def start(self):
        noise = self.given["noise"][0]
        return noised_start(self.conditioning.image_latent, noise, self.schedule.sigmas[0])

    def denoiser(self, unet, mode=MODES[0], **changes):
        return Denoiser(unet, self.conditioning, replace(self.options, **changes), mode)


@pytest.fixture(scope="module", params=["pipe", "pipe_short"])
def case(request, fixtures):
    return Case(request.param, fixtures)


@pytest.fixture(scope="module")
def short(fixtures):
    return Case("pipe_short", fixtures)


@pytest.fixture(scope="module")
def long(fixtures):
    return Case("pipe", fixtures)


@pytest.mark.timeout(300)
def test_every_state_of_the_loop_is_the_same(case, networks):
    denoiser, latents = case.denoiser(networks.unet), case.start
    for step in range(len(case.schedule)):
        expected = case.given[f"latents_before_step{step}"][0]
        assert difference(latents, expected) <= state_tolerance(expected), step
        latents = denoiser.step(latents, case.schedule, step)

    assert difference(latents, case.given["latents"][0]) <= LATENTS_TOLERANCE


@pytest.mark.parametrize("mode", MODES[1:], ids=lambda mode: mode.name)
def test_every_mode_ends_in_the_same_latents(mode, short, networks):
    latents = short.denoiser(networks.unet, mode).run(short.start, short.schedule)

    assert difference(latents, short.given["latents"][0]) <= LATENTS_TOLERANCE


@pytest.mark.parametrize("sizes", [GroupSizes(), GroupSizes(1, 100), GroupSizes(2, 4096)], ids=str)
def test_frames_are_the_same(case, networks, sizes):
    latents = case.given["latents"][0]
    before = latents.clone()

    chunks = list(decode_chunks(networks.vae, latents, case.chunk, sizes))

    assert torch.equal(latents, before)

    assert all(len(chunk) <= case.chunk for chunk in chunks)
    frames = torch.cat(chunks).transpose(0, 1)[None]
    assert difference(frames, case.given["frames"]) <= FRAMES_TOLERANCE


def test_the_picture_encodes_to_the_same_latent(case, networks):
    latent = encode_picture(networks.vae, case.given["ref_image"])

    assert difference(latent[None], case.given["ref_latent_mean"]) <= 1e-5


def test_clip_sees_the_same_picture(networks, fixtures):
    given = fixtures.tensors("pipe")

    embed = networks.clip(given["clip_pixels"]).image_embeds

    assert difference(embed, given["clip_embeds"]) <= 1e-5


def test_another_chunk_size_is_noticed(long, networks):
    other = long.chunk - 1
    first_chunk = long.given["latents"][0][: long.chunk]

    frames = torch.cat(list(decode_chunks(networks.vae, first_chunk, other)))

    expected = long.given["frames"][0, :, : long.chunk].transpose(0, 1)
    assert difference(frames, expected) > 100 * FRAMES_TOLERANCE


def shifted(plan, amount):
    return replace(plan, shift=plan.shift + amount)


OPTION_MISTAKES = {
    "windows that do not move": lambda o: {"windows": shifted(o.windows, -o.windows.shift)},
    "windows that move one frame more": lambda o: {"windows": shifted(o.windows, 1)},
    "windows that move forwards": lambda o: {"windows": shifted(o.windows, -2 * o.windows.shift)},
    "guidance exchanged": lambda o: {
        "appearance_guidance": o.audio_guidance,
        "audio_guidance": o.appearance_guidance,
    },
    "guidance without speech": lambda _: {"audio_guidance": 1.0},
    "other motion": lambda o: {"dynamic_scale": o.dynamic_scale * 1.2},
    "first bucket alone": lambda _: {"motion_scale": 1.2},
    "weaker speech": lambda _: {"audio_scale": 0.9},
}


@pytest.mark.parametrize("mistake", OPTION_MISTAKES)
def test_mistakes_in_the_options_are_noticed(mistake, short, networks):
    changes = OPTION_MISTAKES[mistake](short.options)

    latents = short.denoiser(networks.unet, **changes).run(short.start, short.schedule)

    assert difference(latents, short.given["latents"][0]) > 10 * LATENTS_TOLERANCE


def one_step(case, networks):
    """The error of the state after the first step."""
    latents = case.denoiser(networks.unet).step(case.start, case.schedule, 0)
    expected = case.given["latents_before_step1"][0]
    return difference(latents, expected) / state_tolerance(expected)


def test_one_step_is_within_its_tolerance(short, networks):
    assert one_step(short, networks) <= 1


CODE_MISTAKES = {
    "image latents scaled like the others": (
        "image_latent",
        lambda case: case.conditioning.image_latent * denoise.LATENT_SCALE,
    ),
    "silence that speaks": ("silent_tokens", lambda case: case.conditioning.audio_tokens[0]),
    "buckets of the first frame": (
        "motion_buckets",
        lambda case: case.conditioning.motion_buckets[:1].expand_as(
            case.conditioning.motion_buckets
        ),
    ),
}


@pytest.mark.parametrize("mistake", CODE_MISTAKES)
def test_mistakes_in_the_conditioning_are_noticed(mistake, short, networks):
    part, make = CODE_MISTAKES[mistake]
    wrong = replace(short.conditioning, **{part: make(short)})

    latents = Denoiser(networks.unet, wrong, short.options).run(short.start, short.schedule)

    assert difference(latents, short.given["latents"][0]) > 10 * LATENTS_TOLERANCE


def test_a_clean_picture_predicted_as_noise_is_noticed(short, networks, monkeypatch):
    def euler_for_noise(latents, predicted, sigma, sigma_next):
        return latents + predicted * (sigma_next - sigma)

    monkeypatch.setattr(denoise, "euler_step", euler_for_noise)

    assert one_step(short, networks) > 10


def test_an_unscaled_input_is_noticed(short, networks, monkeypatch):
    plain = networks.unet.predict

    def predict(sample, timestep, *rest):
        return plain(sample * torch.tensor([2.0] * 4 + [1.0] * 4)[:, None, None], timestep, *rest)

    monkeypatch.setattr(networks.unet, "predict", predict)

    assert one_step(short, networks) > 10


def test_a_start_scaled_as_the_stock_pipeline_does_is_noticed(long):
    """Noise times init_noise_sigma, without the picture's latent."""
    start = long.given["noise"][0] * (long.schedule.sigmas[0] ** 2 + 1) ** 0.5

    expected = long.given["latents_before_step0"][0]

    assert difference(start, expected) > 10 * state_tolerance(expected)


def test_running_out_of_memory_goes_on_in_a_smaller_mode(short, networks, monkeypatch):
    plain, calls = networks.unet.predict, []

    def predict(sample, *rest):
        calls.append(len(sample))
        if len(sample) > 1:
            raise torch.OutOfMemoryError
        return plain(sample, *rest)

    monkeypatch.setattr(networks.unet, "predict", predict)
    denoiser = short.denoiser(networks.unet)

    latents = denoiser.step(short.start, short.schedule, 0)

    expected = short.given["latents_before_step1"][0]
    assert difference(latents, expected) <= state_tolerance(expected)
    assert calls == [3, 1, 1, 1]
    assert denoiser.mode == MODES[1]


def test_a_card_too_small_for_every_mode_is_an_error(short, networks, monkeypatch):
    def predict(*_inputs):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(networks.unet, "predict", predict)

    with pytest.raises(EngineError) as caught:
        short.denoiser(networks.unet).step(short.start, short.schedule, 0)

    assert caught.value.code is ErrorCode.GPU_MEMORY


def test_every_call_is_counted(long, networks, monkeypatch):
    monkeypatch.setattr(
        networks.unet, "predict", lambda sample, *_rest: torch.zeros_like(sample[:, :, :4])
    )
    calls = []
    schedule = NoiseSchedule((1.0, 0.5, 0.0), (0.0, -0.1))

    long.denoiser(networks.unet).run(long.start, schedule, Watch(on_call=lambda: calls.append(1)))

    assert len(calls) == 2 * long.options.windows.count(long.conditioning.num_frames)
