"""One call of the denoising network against the published program's numbers."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from torch.nn import functional  # noqa: E402

from benchmarks.sonic_plain import predict_plainly  # noqa: E402
from engine.animators.sonic import attention  # noqa: E402
from engine.animators.sonic.attention import AudioContext, mask_levels, reduce_mask  # noqa: E402
from engine.animators.sonic.memory import GroupSizes  # noqa: E402

OUTPUT_TOLERANCE = 5e-5
MASK_TOLERANCE = 1e-6
# The smallest of the mistakes below moves the output of the own set by 0.04.
NOTICED = 10 * OUTPUT_TOLERANCE

CPU = torch.device("cpu")


class Case:
    """Inputs of the call in the form the network takes them."""

    def __init__(self, fixtures, num_levels):
        given, settings = fixtures.tensors("unet"), fixtures.meta["unet_case"]
        self.given, self.frames = given, settings["frames"]
        self.rows = len(given["sample"])
        self.sample, self.time_ids = given["sample"], given["added_time_ids"]
        self.timestep = float(given["t"])
        self.audio = given["audio"].unflatten(0, (self.rows, self.frames))
        self.scale = settings["ip_scale"]
        self.num_levels = num_levels
        self.masks = mask_levels(given["mask"], num_levels, CPU, torch.float32)

    def context(self, clip="clip"):
        tokens = self.given[clip].unflatten(0, (self.rows, self.frames))[:, :, 0]
        return AudioContext(tokens, self.audio, self.masks, self.scale)


@pytest.fixture(scope="module")
def case(fixtures, networks):
    return Case(fixtures, networks.unet.num_levels)


@pytest.fixture
def unet(networks):
    yield networks.unet
    networks.unet.sizes = GroupSizes()


def difference(made, expected):
    assert made.shape == expected.shape
    return (made - expected).abs().max().item()


def predict(unet, case, **changes):
    given = {
        "sample": case.sample,
        "timestep": case.timestep,
        "time_ids": case.time_ids,
        "context": case.context(),
    }
    return unet.predict(**(given | changes))


GROUPINGS = [GroupSizes(), GroupSizes(2, 7), GroupSizes(frames=1), GroupSizes(pixels=5)]


@pytest.mark.parametrize("sizes", GROUPINGS, ids=str)
@pytest.mark.parametrize("clip", ["clip", "clip_varying"])
def test_output_is_the_same_in_every_grouping(unet, case, sizes, clip):
    unet.sizes = sizes

    out = predict(unet, case, context=case.context(clip))

    expected = case.given["out" if clip == "clip" else "out_clip_varying"]
    assert difference(out, expected) <= OUTPUT_TOLERANCE


def test_rows_one_by_one_are_the_same(unet, case):
    context = case.context()
    parts = [
        predict(
            unet,
            case,
            sample=case.sample[row : row + 1],
            time_ids=case.time_ids[row : row + 1],
            context=context.rows(slice(row, row + 1)),
        )
        for row in range(case.rows)
    ]

    assert difference(torch.cat(parts), case.given["out"]) <= OUTPUT_TOLERANCE


TAPS = {
    "tap_conv_in": "conv_in",
    "tap_down0_attn0": "down_blocks.0.attentions.0",
    "tap_down0_spatial_attn2": "down_blocks.0.attentions.0.transformer_blocks.0.attn2",
    "tap_down0_temporal_attn2": "down_blocks.0.attentions.0.temporal_transformer_blocks.0.attn2",
    "tap_down3": "down_blocks.3",
    "tap_mid": "mid_block",
    "tap_up1": "up_blocks.1",
}


def test_stock_forward_agrees_at_every_tap(unet, case):
    """The definition of the attention alone, under diffusers' own forward pass."""
    seen, hooks = {}, []
    for tap, name in TAPS.items():

        def keep(_module, _inputs, output, tap=tap):
            seen.setdefault(tap, output[0] if isinstance(output, tuple) else output)

        hooks.append(unet.network.get_submodule(name).register_forward_hook(keep))
    out = predict_plainly(unet, case.sample, case.timestep, case.time_ids, case.context())
    for hook in hooks:
        hook.remove()

    assert difference(out, case.given["out"]) <= OUTPUT_TOLERANCE
    for tap, output in seen.items():
        assert difference(output, case.given[tap]) <= OUTPUT_TOLERANCE, tap
    assert set(seen) == set(TAPS)


def test_weights_have_the_public_names(networks, fixtures):
    assert set(networks.unet.network.state_dict()) == set(fixtures.recipes["unet"]["keys"])


def test_masks_are_reduced_the_same_way(fixtures):
    given = fixtures.tensors("mask_down")
    for name, expected in given.items():
        if "_div" not in name:
            continue
        reduced = reduce_mask(given[name.split("_")[0]], *expected.shape)
        assert difference(reduced, expected) <= MASK_TOLERANCE, name


def test_a_mask_of_nothing_leaves_the_picture_alone(unet, case):
    """No face box at all is the same as attention to speech with weight zero in space."""
    empty = mask_levels(torch.zeros_like(case.given["mask"]), case.num_levels, CPU, torch.float32)
    zero = {
        pixels: replace(
            level, weights=torch.zeros(1, pixels, 1), rows=slice(None), columns=slice(None)
        )
        for pixels, level in empty.items()
    }

    without = predict(unet, case, context=replace(case.context(), masks=empty))
    weightless = predict(unet, case, context=replace(case.context(), masks=zero))

    assert difference(without, weightless) <= OUTPUT_TOLERANCE
    assert difference(without, case.given["out"]) > NOTICED


def masks_reduced_by(case, monkeypatch, reduce):
    with monkeypatch.context() as patch:
        patch.setattr(attention, "reduce_mask", reduce)
        return mask_levels(case.given["mask"], case.num_levels, CPU, torch.float32)


MASK_MISTAKES = {
    "no face mask": lambda _mask, height, width: torch.ones(height, width),
    "nearest": lambda mask, *size: functional.interpolate(mask, size, mode="nearest")[0, 0],
    "bilinear": lambda mask, *size: functional.interpolate(mask, size, mode="bilinear")[0, 0],
    "clamped": lambda mask, *size: reduce_mask(mask, *size).clamp(0, 1),
    "antialiased": lambda mask, *size: functional.interpolate(
        mask, size, mode="bicubic", antialias=True
    )[0, 0],
}


@pytest.mark.parametrize("mistake", MASK_MISTAKES)
def test_mistakes_about_the_mask_are_noticed(mistake, unet, case, monkeypatch):
    masks = masks_reduced_by(case, monkeypatch, MASK_MISTAKES[mistake])

    out = predict(unet, case, context=replace(case.context(), masks=masks))

    assert difference(out, case.given["out"]) > NOTICED


ID_MISTAKES = {
    "frame rate minus one": lambda ids: ids - torch.tensor([1.0, 0.0, 0.0]),
    "buckets exchanged": lambda ids: ids[:, [0, 2, 1]],
    "third id zero": lambda ids: ids * torch.tensor([1.0, 1.0, 0.0]),
}


@pytest.mark.parametrize("mistake", ID_MISTAKES)
def test_mistakes_about_the_time_ids_are_noticed(mistake, unet, case):
    out = predict(unet, case, time_ids=ID_MISTAKES[mistake](case.time_ids))

    assert difference(out, case.given["out"]) > NOTICED


CONTEXT_MISTAKES = {
    "audio_mean": lambda context: context.audio_tokens[:, 0],
    "image_mean": lambda context: context.image_tokens[:, :1],
    "audio_frames": lambda context: context.audio_mean.repeat_interleave(
        context.audio_tokens.shape[1], dim=0
    ),
}


@pytest.mark.parametrize("part", CONTEXT_MISTAKES)
def test_mistakes_about_the_mean_over_frames_are_noticed(part, unet, case):
    """First frame instead of the mean along time; the mean instead of each frame in space."""
    clip = "clip_varying" if part == "image_mean" else "clip"
    context = case.context(clip)
    context.__dict__[part] = CONTEXT_MISTAKES[part](context)

    out = predict(unet, case, context=context)

    expected = case.given["out" if clip == "clip" else "out_clip_varying"]
    assert difference(out, expected) > NOTICED


def test_temporal_layers_without_speech_are_noticed(unet, case, monkeypatch):
    monkeypatch.setattr(
        attention.TemporalAudioAttention,
        "look",
        lambda _self, _attn, x, _tokens: torch.zeros_like(x),
    )

    out = predict(unet, case)

    assert difference(out, case.given["out"]) > NOTICED


def test_a_masked_temporal_layer_is_noticed(unet, case, monkeypatch):
    plain = attention.TemporalAudioAttention.look
    monkeypatch.setattr(
        attention.TemporalAudioAttention,
        "look",
        lambda *inputs: 0.5 * plain(*inputs),
    )

    out = predict(unet, case)

    assert difference(out, case.given["out"]) > NOTICED


def test_a_call_can_be_stopped_between_layers(unet, case):
    class Stopped(Exception):
        pass

    calls = []

    def check():
        calls.append(None)
        if len(calls) > 20:
            raise Stopped

    with pytest.raises(Stopped):
        predict(unet, case, check=check)

    assert difference(predict(unet, case), case.given["out"]) <= OUTPUT_TOLERANCE
