"""The settings a video was made with, in words. Pure, no Gradio."""

from engine.contracts import JobRecord
from studio.locales import decimal, say

_ASPECTS = {"source": "source", "1:1": "square", "9:16": "tall", "16:9": "wide"}


def settings_rows(record: JobRecord) -> list[tuple[str, str]]:
    """What was chosen for a video: pairs of a name and a value."""
    options, speech = record.spec.options, record.spec.speech
    preset, _, _ = say(f"quality.{options.preset}").partition("\n")
    rows = [
        (say("quality.label"), preset),
        (
            say("more.animator"),
            say(f"more.animator_{record.report.get('animator', options.animator)}"),
        ),
        (say("more.size"), f"{options.output_size_px} px"),
        (say("photo.framing"), say(f"photo.framing_{options.framing}")),
        (say("photo.aspect"), say(f"photo.aspect_{_ASPECTS[options.aspect]}")),
        (say("more.fps"), str(options.fps)),
        (say("more.mouth"), decimal(options.dynamic_scale)),
        (say("more.head"), decimal(options.motion_scale)),
        (say("more.smoothing"), decimal(options.smoothing)),
        (say("more.seed"), str(record.spec.seed)),
    ]
    if options.captions == "burn":
        rows.append((say("voice.captions"), say("voice.captions_burnt")))
    if speech is not None:
        rows.append((say("voice.voice"), speech.voice or say("voice.best")))
        rows.append((say("voice.speed"), decimal(speech.speed)))
        rows.append((say("library.said"), speech.text))
    if record.spec.script:
        rows.append((say("library.said"), record.spec.script))
    return rows
