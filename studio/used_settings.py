"""The settings a video was made with, in words. Pure, no Gradio."""

from engine.contracts import JobRecord
from engine.lecture.options import LectureSpec
from studio.locales import decimal, say

_ASPECTS = {"source": "source", "1:1": "square", "9:16": "tall", "16:9": "wide"}


def settings_rows(record: JobRecord) -> list[tuple[str, str]]:
    """What was chosen for a video: pairs of a name and a value."""
    if record.spec.lecture is not None:
        return _lecture_rows(record.spec.lecture)
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
    switches = {
        "voice.highlight": options.highlight_words,
        "sound.keep": not options.level_sound,
        "sound.clean": options.reduce_noise,
        "sound.trim": options.trim_silence,
    }
    rows += [(say(name), say("settings.yes")) for name, is_on in switches.items() if is_on]
    if speech is not None:
        rows.append((say("voice.voice"), speech.voice or say("voice.best")))
        rows.append((say("voice.speed"), decimal(speech.speed)))
        rows.append((say("library.said"), speech.text))
    if record.spec.script:
        rows.append((say("library.said"), record.spec.script))
    return rows


def _lecture_rows(lecture: LectureSpec) -> list[tuple[str, str]]:
    """What was chosen for a lecture."""
    look = lecture.options
    rows = [
        (say("lecture.layout"), say(f"lecture.layout_{look.layout}")),
        (say("lecture.size"), f"{look.size_px}p"),
        (say("lecture.aspect"), look.aspect),
        (say("lecture.captions"), say(f"lecture.captions_{look.captions}")),
        (say("lecture.background"), say(f"lecture.background_{look.background}")),
        (say("voice.voice"), lecture.voice.voice or say("voice.best")),
    ]
    said = [(section.heading, section.text) for section in lecture.sections if section.text]
    return [*rows, *said]
