import pytest

from engine.cli.verify import NO_LABEL
from engine.contracts import LabelCheck
from engine.provenance.facts import BUILT_IN_VOICE
from studio.locales import LOCALES, say, speaking
from studio.pages.verify import check_html

MISSING = ("visible_label_missing", "aigc_missing", "xmp_missing", "manifest_missing")


@pytest.mark.parametrize("tag", list(LOCALES))
def test_a_file_without_any_label_is_no_alarm(tag):
    with speaking(tag):
        shown = check_html(LabelCheck(ok=False, problems=MISSING, watermark=False))

        assert say("verify.none").replace("'", "&#x27;") in shown
    assert "is-bad" not in shown
    assert "✗" not in shown
    assert LOCALES["en"].text["verify.none"] == NO_LABEL


@pytest.mark.parametrize(
    "left",
    [
        {"visible_label": "en"}, {"aigc": {"Label": "1"}}, {"xmp_says_ai": True},
        {"manifest": "broken"}, {"watermark": True},
    ],
)  # fmt: skip
def test_a_file_that_lost_some_labels_is(left):
    shown = check_html(LabelCheck(ok=False, problems=MISSING[1:], **left))

    assert say("verify.not_ok") in shown
    assert "✗" in shown


def test_the_voice_that_was_chosen_by_the_program_is_named_in_the_language_of_the_page():
    facts = {"models": ["sonic-studio/lite", BUILT_IN_VOICE]}

    with speaking("fr"):
        shown = check_html(LabelCheck(ok=True, manifest="valid", facts=facts))

    assert "sonic-studio/lite, voix intégrée" in shown
