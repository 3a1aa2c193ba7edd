"""Crop rule, face mask, sizes and CLIP pixels against the published program's."""

import json

import numpy as np
import pytest
from PIL import Image

from engine.animators.sonic.picture import clip_pixels, crop_square, resize_picture


@pytest.fixture(scope="module")
def geometry(fixture_dir):
    return json.loads((fixture_dir / "geometry.json").read_text("utf-8"))


def read(fixture_dir, name):
    return np.asarray(Image.open(fixture_dir / name))


def test_crops_are_the_same_pixels(geometry):
    for case in geometry["crop"]:
        x1, y1, x2, y2 = case["box_xyxy"]
        box = (x1, y1, x2 - x1, y2 - y1)

        crop = crop_square(box, case["width"], case["height"], case["expand"])

        assert list(crop) == case["crop_xyxy"], case


def test_pictures_and_masks_are_the_same_pixels(geometry, fixture_dir):
    for case in geometry["prepare"]:
        pixels = read(fixture_dir, case["image"])[..., :3]

        picture = resize_picture(pixels, tuple(case["box_xywh"]), case["target"])

        assert picture.mask.shape == (case["out_height"], case["out_width"])
        for made, name in ((picture.pixels, "ref"), (picture.mask, "mask")):
            expected = read(fixture_dir, case[name]).astype(int)
            assert np.abs(made.astype(int) - expected).max() <= 1, (case["image"], name)
        assert picture.mask.sum() / 255 == pytest.approx(case["mask_sum"], abs=0.5)
        scaled = picture.pixels / 127.5 - 1
        assert scaled.mean() == pytest.approx(case["ref_mean"], abs=1e-3)


def test_clip_sees_the_same_colours(geometry, fixture_dir):
    for case in geometry["prepare"]:
        pixels = read(fixture_dir, case["image"])[..., :3]
        picture = resize_picture(pixels, tuple(case["box_xywh"]), case["target"])

        seen = clip_pixels(picture.pixels)

        assert seen.mean(axis=(1, 2)) == pytest.approx(case["clip_mean"], abs=2e-3)
        assert seen.std(axis=(1, 2)) == pytest.approx(case["clip_std"], abs=2e-3)


def test_clip_pixels_are_the_same(geometry, fixture_dir):
    safetensors = pytest.importorskip("safetensors.numpy")
    expected = safetensors.load_file(fixture_dir / "clip_pixels.safetensors")["clip_pixels"]
    case = geometry["prepare"][0]
    pixels = read(fixture_dir, case["image"])[..., :3]

    seen = clip_pixels(resize_picture(pixels, tuple(case["box_xywh"]), case["target"]).pixels)

    assert np.abs(seen[:, ::2, ::2] - expected).max() <= 2e-3
