"""Pictures from strangers become the same upright pixels whatever they were stored as."""

import io
import struct
import warnings
import zlib

import numpy as np
import pillow_heif
import pytest
from PIL import Image, ImageCms

from engine.errors import ErrorCode, InputError
from engine.media.image import WORKING_SIDE_PX, parse_background, read_portrait
from engine.settings import EngineSettings
from tests.media_files import PORTRAIT, icc_profile, png_with_size, webp_with_canvas

pillow_heif.register_heif_opener()

LIMITS = EngineSettings()

TURNED_BY = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


@pytest.fixture(scope="module")
def photo():
    return Image.open(PORTRAIT).convert("RGB").resize((160, 160))


def saved(folder, image, pillow_format, **options):
    path = folder / "upload.bin"
    image.save(path, pillow_format, **options)
    return path


def four_colours():
    pixels = np.zeros((90, 120, 3), np.uint8)
    pixels[:45, :60] = (200, 30, 30)
    pixels[:45, 60:] = (30, 200, 30)
    pixels[45:, :60] = (30, 30, 200)
    pixels[45:, 60:] = (200, 200, 30)
    return pixels


def code_of(path, limits=LIMITS, background="white"):
    with pytest.raises(InputError) as caught:
        read_portrait(path, limits, background)
    return caught.value


@pytest.mark.parametrize("pillow_format", ["JPEG", "PNG", "WEBP", "TIFF", "HEIF", "AVIF"])
def test_every_orientation_of_every_format_comes_out_upright(pillow_format, tmp_path):
    upright = four_colours()
    for orientation in range(1, 9):
        stored = Image.fromarray(upright)
        if orientation in TURNED_BY:
            stored = stored.transpose(TURNED_BY[orientation])
        exif = Image.Exif()
        exif[0x0112] = orientation
        options = {"exif": exif if pillow_format == "TIFF" else exif.tobytes()}
        if pillow_format not in ("PNG", "TIFF"):
            options["quality"] = 95
        path = saved(tmp_path, stored, pillow_format, **options)

        portrait = read_portrait(path, LIMITS)

        assert portrait.pixels.shape == upright.shape, orientation
        assert (portrait.source_width_px, portrait.source_height_px) == (120, 90), orientation
        inner = np.s_[10:80:15, 10:110:20]
        difference = np.abs(portrait.pixels[inner].astype(int) - upright[inner])
        assert difference.max() < 30, orientation


def test_broken_exif_does_not_refuse_the_picture(photo, tmp_path):
    path = saved(tmp_path, photo, "JPEG", exif=b"Exif\x00\x00II*\x00\xff\xff\xff\x7f\x01\x02")

    assert read_portrait(path, LIMITS).pixels.shape == (160, 160, 3)


@pytest.mark.parametrize(
    ("mode", "pillow_format"),
    [
        ("L", "PNG"), ("LA", "PNG"), ("P", "PNG"), ("P", "GIF"), ("P", "BMP"), ("1", "PNG"),
        ("RGBA", "PNG"), ("CMYK", "JPEG"), ("CMYK", "TIFF"), ("LAB", "TIFF"),
    ],
)  # fmt: skip
def test_every_pixel_mode_keeps_its_colours(mode, pillow_format, photo, tmp_path):
    if mode == "LAB":
        lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
        stored = ImageCms.profileToProfile(photo, srgb, lab, outputMode="LAB")
    else:
        stored = photo.convert(mode)
    is_grey = mode in ("L", "LA", "1")

    portrait = read_portrait(saved(tmp_path, stored, pillow_format), LIMITS)

    wanted = np.asarray(photo.convert("L").convert("RGB") if is_grey else photo, float)
    assert np.abs(portrait.pixels.mean((0, 1)) - wanted.mean((0, 1))).max() < 2.5
    assert portrait.is_grey is is_grey


@pytest.mark.parametrize(
    ("dtype", "scale", "pillow_format"),
    [(np.uint16, 257, "PNG"), (np.uint16, 257, "TIFF"), (np.int32, 257, "TIFF"),
     (np.float32, 1 / 255, "TIFF")],
)  # fmt: skip
def test_deep_grey_keeps_its_brightness(dtype, scale, pillow_format, photo, tmp_path):
    grey = np.asarray(photo.convert("L"))
    stored = Image.fromarray((grey.astype(float) * scale).astype(dtype))

    portrait = read_portrait(saved(tmp_path, stored, pillow_format), LIMITS)

    assert np.abs(portrait.pixels[..., 0].astype(int) - grey).max() <= 1
    assert portrait.is_grey
    assert portrait.bit_depth >= 16


def test_sixteen_bits_a_channel_keep_their_brightness(photo, tmp_path):
    wide = (np.asarray(photo).astype(">u2") * 257).tobytes()
    rows = b"".join(b"\0" + wide[i : i + 160 * 6] for i in range(0, len(wide), 160 * 6))

    def chunk(name, data):
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    path = tmp_path / "upload.bin"
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", 160, 160, 16, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )

    portrait = read_portrait(path, LIMITS)

    assert np.abs(portrait.pixels.astype(int) - np.asarray(photo)).max() <= 1
    assert portrait.bit_depth == 16


def test_colour_profile_is_applied(photo, tmp_path):
    # sRGB's own primaries with red and blue exchanged: a viewer that obeys shows them swapped.
    srgb_red, srgb_green, srgb_blue = (
        (0.4361, 0.2225, 0.0139),
        (0.3851, 0.7169, 0.0971),
        (0.1431, 0.0606, 0.7141),
    )
    profile = icc_profile(srgb_blue, srgb_green, srgb_red)
    swapped = Image.fromarray(np.ascontiguousarray(np.asarray(photo)[..., ::-1]))

    portrait = read_portrait(saved(tmp_path, swapped, "PNG", icc_profile=profile), LIMITS)

    assert np.abs(portrait.pixels.astype(int) - np.asarray(photo)).mean() < 4


@pytest.mark.parametrize(
    "profile", [b"no profile at all", icc_profile((1, 1, 1), (0, 0, 0), (0, 0, 0))[:200]]
)
def test_broken_colour_profile_is_ignored(profile, photo, tmp_path):
    portrait = read_portrait(saved(tmp_path, photo, "PNG", icc_profile=profile), LIMITS)

    assert np.array_equal(portrait.pixels, np.asarray(photo))


def soft_cut_out(photo):
    """A round cut-out with an edge of several half-transparent pixels."""
    rows, columns = np.mgrid[0:160, 0:160]
    distance = np.hypot(columns - 80, rows - 80)
    return np.asarray(photo, float), np.clip((60 - distance) / 8 + 0.5, 0, 1)[..., None]


@pytest.mark.parametrize("background", ["white", "#102030", "DarkSeaGreen"])
@pytest.mark.parametrize("stored_as", ["clean", "black below", "black matte", "white matte"])
def test_cut_out_lies_on_the_background_without_a_fringe(stored_as, background, photo, tmp_path):
    colour, cover = soft_cut_out(photo)
    stored = {
        "clean": colour,
        "black below": np.where(cover > 0, colour, 0),
        "black matte": colour * cover,
        "white matte": colour * cover + 255 * (1 - cover),
    }[stored_as]
    rgba = np.dstack([stored, cover * 255]).round().astype(np.uint8)

    portrait = read_portrait(saved(tmp_path, Image.fromarray(rgba), "PNG"), LIMITS, background)

    ideal = colour * cover + np.array(parse_background(background)) * (1 - cover)
    is_edge = (cover[..., 0] > 0) & (cover[..., 0] < 1)
    assert np.abs(portrait.pixels - ideal)[is_edge].mean() < 1.5
    assert tuple(portrait.pixels[0, 0]) == parse_background(background)
    assert ("edges_cleaned" in portrait.notes) is stored_as.endswith("matte")
    assert "had_transparency" in portrait.notes


def test_black_outline_of_a_drawing_is_not_taken_for_a_fringe(tmp_path):
    rows, columns = np.mgrid[0:160, 0:160]
    distance = np.hypot(columns - 80, rows - 80)
    cover = np.clip(60 - distance + 0.5, 0, 1)
    fill = np.clip(56 - distance + 0.5, 0, 1)[..., None] * np.array([230, 180, 60])
    rgba = np.dstack([fill, cover * 255]).round().astype(np.uint8)

    portrait = read_portrait(saved(tmp_path, Image.fromarray(rgba), "PNG"), LIMITS)

    assert "edges_cleaned" not in portrait.notes


def test_opaque_alpha_is_no_transparency(photo, tmp_path):
    portrait = read_portrait(saved(tmp_path, photo.convert("RGBA"), "PNG"), LIMITS)

    assert portrait.notes == ()


@pytest.mark.parametrize("pillow_format", ["GIF", "WEBP", "PNG", "TIFF"])
def test_first_frame_of_several_is_used_and_said(pillow_format, photo, tmp_path):
    black = Image.new("RGB", photo.size)
    path = saved(tmp_path, photo, pillow_format, save_all=True, append_images=[black, black])

    portrait = read_portrait(path, LIMITS)

    assert portrait.notes == (ErrorCode.FIRST_FRAME_USED.value,)
    assert np.abs(portrait.pixels.mean() - np.asarray(photo).mean()) < 2


def test_second_picture_inside_a_jpeg_is_not_mentioned(photo, tmp_path):
    path = saved(tmp_path, photo, "MPO", save_all=True, append_images=[photo])

    assert read_portrait(path, LIMITS).notes == ()


@pytest.mark.parametrize(
    "pillow_format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "HEIF", "AVIF"]
)
@pytest.mark.parametrize("share", [0.6, 0.95])
def test_truncated_picture_is_damaged_not_half_grey(pillow_format, share, photo, tmp_path):
    path = saved(tmp_path, photo, pillow_format)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])

    assert code_of(path).code is ErrorCode.DAMAGED_IMAGE


@pytest.mark.parametrize("pillow_format", ["JPEG", "PNG", "WEBP", "HEIF", "AVIF"])
def test_half_filled_download_is_damaged(pillow_format, photo, tmp_path):
    path = saved(tmp_path, photo.resize((640, 640)), pillow_format)
    whole = path.read_bytes()
    kept = int(len(whole) * 0.6)
    path.write_bytes(whole[:kept] + bytes(len(whole) - kept))

    assert code_of(path).code is ErrorCode.DAMAGED_IMAGE


def test_pixel_bomb_is_refused_from_its_header(tmp_path):
    path = tmp_path / "bomb.png"
    path.write_bytes(png_with_size(20000, 20000))

    error = code_of(path)

    assert error.code is ErrorCode.IMAGE_TOO_LARGE
    assert error.values == {"megapixels": 400.0, "limit_megapixels": 80.0}


def test_animated_bomb_is_refused_from_its_canvas(tmp_path):
    still = io.BytesIO()
    Image.new("RGB", (64, 64)).save(still, "WEBP")
    path = tmp_path / "bomb.webp"
    path.write_bytes(webp_with_canvas(20000, 20000, still.getvalue()))

    assert code_of(path).code is ErrorCode.IMAGE_TOO_LARGE


def test_limit_of_the_settings_goes_above_pillows_own(tmp_path):
    path = tmp_path / "large.png"
    path.write_bytes(png_with_size(15000, 15000))
    limits = EngineSettings(max_image_megapixels=300)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The header passes; the data behind it is missing.
        assert code_of(path, limits).code is ErrorCode.DAMAGED_IMAGE


@pytest.mark.parametrize("size", [(1, 1), (47, 500), (60000, 60)])
def test_picture_with_a_tiny_side_is_refused(size, tmp_path):
    path = tmp_path / "small.png"
    path.write_bytes(png_with_size(*size))

    error = code_of(path)

    assert error.code is ErrorCode.IMAGE_TOO_SMALL
    assert error.values == {"width_px": size[0], "height_px": size[1], "need_px": 48}


def test_very_large_picture_is_scaled_to_the_working_size(tmp_path):
    large = Image.new("RGB", (6000, 4500), "white")
    large.paste("navy", (0, 0, 3000, 4500))

    portrait = read_portrait(saved(tmp_path, large, "JPEG"), LIMITS)

    assert portrait.pixels.shape == (3072, WORKING_SIDE_PX, 3)
    assert portrait.notes == ("scaled_down",)
    assert (portrait.source_width_px, portrait.source_height_px) == (6000, 4500)
    assert portrait.pixels[1000, 1000, 2] > 100
    assert portrait.pixels[1000, 3000].min() > 250


def test_scaling_a_cut_out_down_brings_no_dark_edge(tmp_path):
    limits = EngineSettings()
    pixels = np.zeros((100, 5000, 4), np.uint8)
    pixels[:, 2500:] = (250, 240, 230, 255)

    portrait = read_portrait(saved(tmp_path, Image.fromarray(pixels), "PNG"), limits)

    assert portrait.pixels.min() > 225


def test_text_is_not_a_picture(tmp_path):
    path = tmp_path / "photo.jpg"
    path.write_text("<!doctype html><p>not found</p>")

    assert code_of(path).code is ErrorCode.NOT_AN_IMAGE


def test_vector_picture_is_named_and_refused(tmp_path):
    path = tmp_path / "photo.png"
    path.write_text('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')

    error = code_of(path)

    assert error.code is ErrorCode.IMAGE_FORMAT_UNSUPPORTED
    assert error.values == {"format": "SVG"}


def test_file_size_limit_holds(photo, tmp_path):
    path = saved(tmp_path, photo, "BMP")

    assert code_of(path, EngineSettings(max_image_bytes=1000)).code is ErrorCode.FILE_TOO_LARGE


@pytest.mark.parametrize("background", ["#12345", "#12345g", "notacolour", "", "hsl(0,0%,0%)"])
def test_unknown_background_is_refused_before_the_file_is_read(background, tmp_path):
    error = code_of(tmp_path / "missing.png", background=background)

    assert error.code is ErrorCode.BAD_OPTION
    assert error.values["option"] == "background"


def test_background_takes_hex_and_names_in_any_case():
    assert parse_background(" #33669F ") == (0x33, 0x66, 0x9F)
    assert parse_background("DarkBlue") == (0, 0, 139)


def test_colour_photo_is_not_grey_and_a_grey_one_saved_in_colour_is(photo, tmp_path):
    assert not read_portrait(PORTRAIT, LIMITS).is_grey

    grey = saved(tmp_path, photo.convert("L").convert("RGB"), "JPEG")
    assert read_portrait(grey, LIMITS).is_grey


def test_a_motion_photo_with_a_film_behind_it_is_read(tmp_path):
    path = tmp_path / "motion.jpg"
    film = np.random.default_rng(1).bytes(40_000_000)
    assert film.count(b"\xff\xda") > 500

    path.write_bytes(PORTRAIT.read_bytes() + film)

    assert read_portrait(path, LIMITS).pixels.shape[2] == 3
