"""What was said of a file is remembered, and judged anew for other wishes."""

from pathlib import Path

import numpy as np
import pytest

from engine.contracts import AudioVerdict, PortraitVerdict, RenderOptions
from engine.errors import ErrorCode
from engine.face.detector import FaceFinder
from engine.pipeline.check import check_inputs
from engine.pipeline.intake import PORTRAIT_NAME, load_png, take_in
from engine.pipeline.tools import Tools
from engine.settings import EngineSettings
from engine.worker.known_verdicts import MAX_KNOWN, KnownVerdicts

FINE = AudioVerdict(duration_s=3.0, speech_share=0.8)
SILENT = AudioVerdict(duration_s=3.0, speech_share=0.0, verdict=ErrorCode.SILENT)


def test_the_latest_are_remembered_and_not_without_end() -> None:
    known = KnownVerdicts[AudioVerdict]()
    known.keep(None, FINE)
    names = [str(number) for number in range(MAX_KNOWN + 1)]
    for name in names:
        known.keep(name, FINE)

    assert known.find(None) is None
    assert [known.find(name) for name in names].count(FINE) == MAX_KNOWN
    assert known.find(names[0]) is None


@pytest.mark.parametrize(
    ("judged", "captions", "verdict"),
    [
        (FINE, "off", "ok"),
        (FINE, "srt", ErrorCode.CAPTIONS_NEED_TEXT),
        (SILENT, "off", ErrorCode.SILENT),
        (SILENT, "srt", ErrorCode.SILENT),
    ],
)
def test_a_known_recording_is_judged_anew_for_other_wishes(
    judged: AudioVerdict, captions: str, verdict: str
) -> None:
    payload = {
        "audio": {"judged": judged.model_dump(mode="json")},
        "options": RenderOptions(captions=captions).model_dump(mode="json"),
    }

    report = check_inputs(payload, EngineSettings(), Tools())

    assert report.audio == judged.model_copy(update={"verdict": verdict})


class NoFinder(Tools):
    """Tools that must not look for a face."""

    @property
    def finder(self) -> FaceFinder:
        raise AssertionError


def test_a_known_picture_is_not_searched_again(tmp_path: Path) -> None:
    """Its verdict is repeated, and it is kept turned as it was found to stand."""
    pixels = np.zeros((40, 60, 3), np.uint8)
    pixels[:20] = 200
    (tmp_path / "pixels").write_bytes(pixels.tobytes())
    decoded = {
        "pixels": str(tmp_path / "pixels"),
        "width_px": 60,
        "height_px": 40,
        "source_width_px": 60,
        "source_height_px": 40,
        "notes": [],
        "is_grey": True,
        "bit_depth": 8,
    }
    known = PortraitVerdict(turn_deg=90, width_px=40, height_px=60, warnings=("several_faces",))
    judged = {"judged": known.model_dump(mode="json")}
    options = RenderOptions(animator="lite").model_dump(mode="json")

    report = check_inputs({"portrait": judged, "options": options}, EngineSettings(), NoFinder())
    asked = {"portrait": {**decoded, **judged}, "audio": None, "job_dir": str(tmp_path)}
    take_in({**asked, "options": options}, EngineSettings(), NoFinder())

    assert report.portrait == known
    kept = load_png(tmp_path / PORTRAIT_NAME)
    assert kept.shape == (60, 40, 3)
    assert (kept[:, 20:] == 200).all()
    assert not kept[:, :20].any()
