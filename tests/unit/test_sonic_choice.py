"""When Sonic draws a video, with which numbers, and what it is shown of the photo."""

from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from engine.contracts import JobSpec, PortraitVerdict, RenderOptions
from engine.errors import ErrorCode, InputError
from engine.face.framing import expected_shape
from engine.face.geometry import NUM_LANDMARKS, Face
from engine.jobs.limits import job_limits
from engine.pipeline import sonic
from engine.pipeline.animate import frame_photo
from engine.pipeline.intake import JudgedPortrait
from engine.pipeline.sonic import sonic_for, takes_sonic
from engine.pipeline.tools import Tools
from engine.settings import EngineSettings

PHOTO = (600, 800)


@pytest.fixture
def settings(tmp_path: Path) -> EngineSettings:
    return EngineSettings(data_dir=tmp_path)


@pytest.fixture
def card(monkeypatch):
    """Pretend a card with so much free memory, and that libraries and weights are here."""

    def make(free_mb, *, ready=True, torch_sees_it=True):
        monkeypatch.setattr(sonic, "free_vram_mb", lambda: free_mb)
        monkeypatch.setattr(sonic, "is_ready", lambda *_: ready)
        monkeypatch.setattr(sonic, "_torch_sees_the_card", lambda: torch_sees_it)

    return make


class TestAuto:
    def test_sonic_where_the_card_has_room(self, settings, card):
        card(12_000)

        assert takes_sonic(RenderOptions(), settings, PHOTO)

    @pytest.mark.parametrize(
        "lack",
        [
            {"free_mb": None},
            {"free_mb": 2_000},
            {"free_mb": 12_000, "ready": False},
            {"free_mb": 12_000, "torch_sees_it": False},
        ],
        ids=["no card", "full card", "no weights", "processor build of torch"],
    )
    def test_lite_where_anything_lacks(self, settings, card, lack):
        card(**lack)

        assert not takes_sonic(RenderOptions(), settings, PHOTO)

    def test_a_large_video_needs_a_large_card(self, settings, card):
        card(4_000)

        assert takes_sonic(RenderOptions(preset="quick"), settings, PHOTO)
        assert not takes_sonic(RenderOptions(preset="hd"), settings, PHOTO)

    def test_what_was_asked_for_is_taken(self, settings, card):
        card(80_000)

        assert not takes_sonic(RenderOptions(animator="lite"), settings, PHOTO)
        assert takes_sonic(RenderOptions(animator="sonic"), settings, PHOTO)


def test_sonic_without_weights_is_refused_before_any_work(settings):
    with pytest.raises(InputError) as caught:
        Tools().require_animator(RenderOptions(animator="sonic"), settings)

    assert caught.value.code in (ErrorCode.ANIMATOR_UNAVAILABLE, ErrorCode.WEIGHTS_MISSING)
    Tools().require_animator(RenderOptions(animator="auto"), settings)


def test_every_choice_reaches_the_networks(settings):
    options = RenderOptions(
        preset="hd", guidance=(1.5, 6.0), dtype="bf16", decode_chunk=4, segment_seconds=10
    )

    numbers = sonic_for(options, settings)._options

    assert numbers.num_inference_steps == 30
    assert (numbers.appearance_guidance, numbers.audio_guidance) == (1.5, 6.0)
    assert (numbers.dtype, numbers.decode_chunk, numbers.longest_piece) == ("bf16", 4, 125)


class TestOptions:
    def test_guidance_may_be_text(self):
        assert RenderOptions(guidance="1.5,6").guidance == (1.5, 6.0)

    def test_options_survive_the_wire(self):
        options = RenderOptions(guidance=(1.0, 3.0), dtype="fp32", segment_seconds=12)

        assert RenderOptions.model_validate_json(options.model_dump_json()) == options

    @pytest.mark.parametrize(
        "wrong",
        [
            {"guidance": "3"},
            {"guidance": "a,b"},
            {"guidance": (1, 21)},
            {"guidance": 5},
            {"dtype": "int8"},
            {"decode_chunk": 0},
            {"segment_seconds": 31},
        ],
        ids=str,
    )
    def test_others_are_refused(self, wrong):
        with pytest.raises(ValidationError):
            RenderOptions(**wrong)


class TestView:
    @pytest.fixture
    def judged(self):
        y, x = np.mgrid[0:800, 0:600]
        pixels = np.stack([x // 4, y // 4, 0 * x], axis=2).astype(np.uint8)
        landmarks = np.zeros((NUM_LANDMARKS, 3), np.float32)
        corners = np.array([(200, 250), (400, 250), (200, 500), (400, 500)])
        landmarks[:, :2] = corners[np.arange(NUM_LANDMARKS) % 4]
        face = Face(landmarks, 1.0, (200, 250, 200, 250), 0, 0, 0)
        return JudgedPortrait(pixels, (face,), PortraitVerdict(chosen=0))

    def test_the_close_view_is_the_square_sonic_was_shown(self, judged):
        canvas, face = frame_photo(RenderOptions(framing="face", size_px=400), judged, "sonic")

        # 200 x 250 with half a face on every side is 400 x 500, its square 400 in the middle.
        assert canvas.shape == (400, 400, 3)
        assert face.box == pytest.approx((100, 75, 200, 250), abs=1)
        assert canvas[0, 0].tolist() == pytest.approx([25, 43, 0], abs=2)

    def test_less_room_makes_the_face_larger(self, judged):
        wide, tight = (
            frame_photo(RenderOptions(size_px=400, expand_ratio=ratio), judged, "sonic")[1]
            for ratio in (0.5, 0.2)
        )

        assert tight.box[2] == pytest.approx(wide.box[2] * 2.0 / 1.4, abs=1)

    def test_the_whole_photo_keeps_its_shape(self, judged):
        options = RenderOptions(size_px=300)

        canvas, _ = frame_photo(options, judged, "sonic")

        assert canvas.shape == (400, 300, 3)
        assert expected_shape(options, *PHOTO) == (300, 400)

    @pytest.mark.parametrize("aspect", ["1:1", "9:16", "16:9"])
    def test_other_shapes_show_more_of_the_photo(self, judged, aspect):
        options = RenderOptions(size_px=288, expand_ratio=0.5, aspect=aspect)

        canvas, face = frame_photo(options, judged, "sonic")

        assert expected_shape(options, *PHOTO) == (canvas.shape[1], canvas.shape[0])
        assert face.box[3] / face.box[2] == pytest.approx(1.25, abs=0.02)

    def test_lite_has_its_own_close_view(self, judged):
        plain, given = (
            frame_photo(RenderOptions(expand_ratio=ratio), judged, "lite")[0]
            for ratio in (None, 0.1)
        )

        assert np.array_equal(plain, given)


def test_an_unmeasured_sonic_video_is_not_taken_for_hung(settings):
    def limits(animator, rates):
        options = RenderOptions(animator=animator)
        spec = JobSpec(job_id="a", portrait_name="p", options=options)
        return job_limits(spec, 30.0, rates, settings)

    assert limits("sonic", {}).total_s > 100 * limits("lite", {}).total_s
    assert limits("sonic", {}).stall_s > limits("lite", {}).stall_s
    assert limits("auto", {("lite", 512): 1.0}) == limits("lite", {("lite", 512): 1.0})
    settings.sonic_dir.mkdir(parents=True)
    assert limits("auto", {("lite", 512): 1.0}).total_s == limits("sonic", {}).total_s
    assert limits("sonic", {("sonic", 512): 5.0}).total_s < 10_000
