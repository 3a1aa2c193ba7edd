"""The correction of a picture that comes late: when it is made, and which video is kept."""

import pytest

from engine.contracts import RenderOptions
from engine.errors import Canceled, EngineError, ErrorCode
from engine.lipsync.score import SyncReport
from engine.pipeline.calibrate import calibrate, correction_s, fixed_shift_s


def report(lag_ms, peak_corr=0.8):
    return SyncReport(
        measured_s=4.0, face_found_share=1.0, open_range=0.2, by_flow=False, asks_for_motion=True,
        corr_jaw=0.7, lag_ms=lag_ms, peak_corr=peak_corr, closure_hit=None, num_closures=0,
        closure_f1=None, sil_open=None, jitter=None, blinks_per_min=None, is_sure=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lag_ms", "expected_s"), [(40, 0.04), (-60, -0.06), (80, 0.08), (10, 0), (-19, 0), (120, 0)]
)
def test_sonic_is_corrected_between_what_is_seen_and_what_is_a_delay(lag_ms, expected_s):
    assert correction_s(RenderOptions(), "sonic", report(lag_ms)) == pytest.approx(expected_s)


@pytest.mark.parametrize("choice", ["off", 40])
def test_whoever_chose_is_obeyed(choice):
    assert correction_s(RenderOptions(calibrate=choice), "sonic", report(60)) == 0


def test_an_unsure_measurement_and_the_lite_animator_change_nothing():
    assert correction_s(RenderOptions(), "sonic", report(60, peak_corr=0.3)) == 0
    assert correction_s(RenderOptions(), "lite", report(60)) == 0


def test_a_number_is_a_fixed_shift():
    assert fixed_shift_s(RenderOptions(calibrate="-40")) == -0.04
    assert fixed_shift_s(RenderOptions()) == 0
    with pytest.raises(ValueError, match="calibrate"):
        RenderOptions(calibrate=500)
    with pytest.raises(ValueError, match="calibrate"):
        RenderOptions(calibrate="soon")


@pytest.fixture
def video(tmp_path):
    path = tmp_path / "video.mp4"
    path.write_text("first")
    return path


@pytest.mark.parametrize(
    ("after_ms", "kept", "shift_s"), [(0, "again", 0.06), (70, "first", 0), (None, "first", 0)]
)
def test_the_video_in_better_step_is_kept(video, after_ms, kept, shift_s):
    made = report(after_ms)

    got, shift = calibrate(
        video, report(60), 0.06, lambda _shift: video.write_text("again"), lambda: made
    )

    assert video.read_text() == kept
    assert (got.lag_ms, shift) == ((after_ms, shift_s) if kept == "again" else (60, 0))
    assert [path.name for path in video.parent.iterdir()] == ["video.mp4"]


def test_a_lack_of_memory_keeps_the_first_video(video):
    def redraw(_shift):
        raise EngineError(ErrorCode.GPU_MEMORY)

    got, shift = calibrate(video, report(60), 0.06, redraw, lambda: report(0))

    assert (got.lag_ms, shift, video.read_text()) == (60, 0, "first")


def test_a_canceled_correction_leaves_the_first_video(video):
    def redraw(_shift):
        raise Canceled

    with pytest.raises(Canceled):
        calibrate(video, report(60), 0.06, redraw, lambda: report(0))

    assert video.read_text() == "first"
