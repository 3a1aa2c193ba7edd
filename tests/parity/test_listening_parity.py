"""From a recording to tokens and motion buckets, against the published program's numbers."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

import soundfile  # noqa: E402

from engine.animators.sonic import listening  # noqa: E402
from engine.animators.sonic.listening import PIECE_SAMPLES, hear  # noqa: E402

HEADS_TOLERANCE = 1e-5
MEL_TOLERANCE = 1e-4
STATES_TOLERANCE = 1e-5
TOKENS_TOLERANCE = 2e-5
BUCKETS_TOLERANCE = 1e-4


def difference(made, expected):
    assert made.shape == expected.shape
    return (made - expected).abs().max().item()


@pytest.fixture(scope="module", params=["short", "long"])
def case(request, fixtures):
    settings = fixtures.meta["audio_cases"][request.param]
    samples, rate = soundfile.read(fixtures.root / settings["file"], dtype="float32")
    assert (len(samples), rate) == (settings["samples"], 16_000)
    return request.param, settings, samples


@pytest.fixture(scope="module")
def states(case, networks):
    return networks.ears.states(case[2])


@pytest.fixture(scope="module")
def heard(states, networks, fixtures):
    embed = fixtures.tensors("audio")["clip_embeds"]
    return hear(states, networks.token_head, networks.bucket_head, embed)


def test_heads_give_the_same_numbers(networks, fixtures):
    given = fixtures.tensors("audio_heads")

    tokens = networks.token_head(given["token_in"][0])
    silent = networks.token_head(torch.zeros_like(given["token_in"][0]))
    buckets = networks.bucket_head(given["bucket_in"][0, :, :, 0], given["bucket_clip"])

    assert difference(tokens, given["token_out"][0]) <= HEADS_TOLERANCE
    assert difference(silent, given["token_out_zero"][0]) <= HEADS_TOLERANCE
    assert difference(buckets, given["bucket_out"][0, :, :, 0]) <= HEADS_TOLERANCE


def test_mel_columns_are_the_same(case, networks, fixtures):
    name, settings, samples = case
    pieces = [
        networks.ears.mel(samples[start : start + PIECE_SAMPLES])
        for start in range(0, len(samples), PIECE_SAMPLES)
    ]

    mel = torch.cat(pieces, dim=2)

    assert list(mel.shape) == settings["mel_shape"]
    expected = fixtures.tensors("audio")[f"{name}_mel_cols"]
    assert difference(mel[0][:, settings["mel_cols"]], expected) <= MEL_TOLERANCE


def test_whisper_states_are_the_same(case, states, fixtures):
    name, settings, _ = case
    assert len(states) == 2 * settings["frames25"]
    expected = fixtures.tensors("audio")
    if f"{name}_hidden" not in expected:
        pytest.skip("this set keeps no states of the long recording")

    assert difference(states[None], expected[f"{name}_hidden"]) <= STATES_TOLERANCE
    assert difference(states[None, :, -1], expected[f"{name}_last"]) <= STATES_TOLERANCE


def test_tokens_of_every_keyframe_are_the_same(case, heard, fixtures):
    name, settings, samples = case
    expected = fixtures.tensors("audio")

    assert len(heard) == settings["frames"] == listening.num_keyframes(len(samples))
    chosen = heard.tokens[settings["token_frames"]]
    assert difference(chosen, expected[f"{name}_tokens"]) <= TOKENS_TOLERANCE
    assert difference(heard.silent_tokens, expected[f"{name}_uncond"]) <= TOKENS_TOLERANCE


def test_motion_buckets_of_every_keyframe_are_the_same(case, heard, fixtures):
    expected = fixtures.tensors("audio")[f"{case[0]}_buckets"]

    assert difference(heard.motion_buckets, expected) <= BUCKETS_TOLERANCE


def test_batches_of_keyframes_change_nothing(states, heard, networks, fixtures, monkeypatch):
    monkeypatch.setattr(listening, "FRAMES_AT_ONCE", 7)
    embed = fixtures.tensors("audio")["clip_embeds"]

    again = hear(states, networks.token_head, networks.bucket_head, embed)

    assert difference(again.tokens, heard.tokens) <= TOKENS_TOLERANCE
    assert difference(again.motion_buckets, heard.motion_buckets) <= BUCKETS_TOLERANCE


MISTAKES = {
    "tokens from one state later": ("TOKEN_PADDING", (3, 7)),
    "tokens without looking ahead": ("TOKEN_PADDING", (10, 0)),
    "buckets without looking back": ("BUCKET_PADDING", (0, 50)),
    "keyframes at 25 frames a second": ("STATES_PER_KEYFRAME", 2),
    "pieces of 15 s": ("PIECE_SAMPLES", 240_000),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_noticed(mistake, case, networks, fixtures, monkeypatch):
    name, settings, samples = case
    constant, value = MISTAKES[mistake]
    if constant == "PIECE_SAMPLES" and name == "short":
        pytest.skip("shorter than a piece")
    monkeypatch.setattr(listening, constant, value)
    expected = fixtures.tensors("audio")

    states = networks.ears.states(samples)
    heard = hear(states, networks.token_head, networks.bucket_head, expected["clip_embeds"])

    chosen = heard.tokens[settings["token_frames"]]
    tokens = difference(chosen, expected[f"{name}_tokens"])
    buckets = heard.motion_buckets[: settings["frames"]]
    moved = difference(buckets, expected[f"{name}_buckets"])
    assert tokens > 10 * TOKENS_TOLERANCE or moved > 10 * BUCKETS_TOLERANCE
