"""What was said of a recording is remembered, and judged anew for other wishes."""

import pytest

from engine.contracts import AudioVerdict, RenderOptions
from engine.errors import ErrorCode
from engine.pipeline.check import check_inputs
from engine.pipeline.tools import Tools
from engine.settings import EngineSettings
from engine.worker.known_sounds import MAX_KNOWN, KnownSounds

FINE = AudioVerdict(duration_s=3.0, speech_share=0.8)
SILENT = AudioVerdict(duration_s=3.0, speech_share=0.0, verdict=ErrorCode.SILENT)


def test_only_what_could_be_read_is_remembered_and_not_without_end() -> None:
    known = KnownSounds()
    known.keep("broken", AudioVerdict(verdict=ErrorCode.DAMAGED_AUDIO))
    names = [str(number) for number in range(MAX_KNOWN + 1)]
    for name in names:
        known.keep(name, FINE)

    assert (known.find("broken"), known.find(None)) == (None, None)
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
