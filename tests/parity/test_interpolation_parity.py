"""The flow network against the published program's numbers."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from torch.nn import functional  # noqa: E402

from engine.animators.sonic import rife  # noqa: E402

PICTURE_TOLERANCE = 1e-5
FLOW_TOLERANCE = 1e-4


def difference(made, expected):
    assert made.shape == expected.shape
    return (made - expected).abs().max().item()


@pytest.fixture(scope="module")
def given(fixtures):
    return fixtures.tensors("rife")


@pytest.fixture(scope="module")
def pairs(given):
    images = given["images"]
    return [
        (index, images[index][None], images[index + 1][None]) for index in range(len(images) - 1)
    ]


def test_middle_pictures_are_the_same(networks, given, pairs):
    for index, first, second in pairs:
        assert (
            difference(networks.flow_net(first, second)[0], given[f"mid{index}"])
            <= PICTURE_TOLERANCE
        )


def test_flow_and_mask_are_the_same(networks, given, pairs):
    for index, first, second in pairs:
        flow, weight = networks.flow_net.flow(first, second)

        assert difference(flow[0], given[f"flow{index}"]) <= FLOW_TOLERANCE
        assert difference(weight[0], given[f"mask{index}"]) <= PICTURE_TOLERANCE


def test_several_pairs_at_once_are_the_same(networks, given, pairs):
    first = torch.cat([pair[1] for pair in pairs])
    second = torch.cat([pair[2] for pair in pairs])

    middles = networks.flow_net(first, second)

    for index, middle in enumerate(middles):
        assert difference(middle, given[f"mid{index}"]) <= PICTURE_TOLERANCE


def test_a_plain_average_is_noticed(given, pairs):
    for index, first, second in pairs:
        assert difference((first + second)[0] / 2, given[f"mid{index}"]) > 100 * PICTURE_TOLERANCE


def test_one_direction_alone_is_noticed(networks, given, pairs, monkeypatch):
    monkeypatch.setattr(rife, "_swapped", lambda flow: flow)

    middle = networks.flow_net(*pairs[0][1:])[0]

    assert difference(middle, given["mid0"]) > 10 * PICTURE_TOLERANCE


def test_corners_left_unaligned_are_noticed(networks, given, pairs, monkeypatch):
    plain = functional.grid_sample

    def grid_sample(picture, places, **options):
        return plain(picture, places, **(options | {"align_corners": False}))

    monkeypatch.setattr(rife.functional, "grid_sample", grid_sample)

    middle = networks.flow_net(*pairs[0][1:])[0]

    assert difference(middle, given["mid0"]) > 10 * PICTURE_TOLERANCE


def test_places_beyond_the_border_take_the_border():
    """The same as grid_sample's border padding, which some devices lack."""
    picture = torch.arange(48.0).view(1, 1, 6, 8)
    flow = 6 * torch.sin(torch.arange(96.0)).view(1, 2, 6, 8)
    y, x = torch.meshgrid(torch.linspace(-1, 1, 6), torch.linspace(-1, 1, 8), indexing="ij")
    places = torch.stack([x + flow[:, 0] / 3.5, y + flow[:, 1] / 2.5], dim=3)
    expected = functional.grid_sample(
        picture, places, mode="bilinear", padding_mode="border", align_corners=True
    )

    assert difference(rife.warp(picture, flow), expected) <= 1e-5
