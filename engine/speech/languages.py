"""Which language tag means which voice. Pure."""

from engine.contracts import VoiceInfo

# Tags people and browsers use for what the voices list under another one.
_SAME = {
    "zh": "cmn", "zh-cn": "cmn", "zh-hans": "cmn", "zh-tw": "cmn", "zh-hant": "cmn",
    "zh-sg": "cmn", "zh-hk": "yue", "no": "nb", "nn": "nb", "iw": "he", "in": "id", "pt-pt": "pt",
    "es-mx": "es-419", "fil": "tl", "sh": "hr",
}  # fmt: skip
# What a bare tag means first when voices of several regions speak it.
_HOME = {"en": "en-us", "fr": "fr-fr"}


def language_distance(wanted: str, spoken: str) -> int | None:
    """How well a voice fits: 0 the very tag, 1 the usual region, 2 another one, None not at all.

    Args:
        wanted: BCP 47 tag as asked for, any case, `_` or `-`.
        spoken: tag of a voice.
    """
    tag = wanted.strip().lower().replace("_", "-")
    tag = _SAME.get(tag, tag)
    base = tag.partition("-")[0]
    base = _SAME.get(base, base)
    if tag == spoken:
        return 0
    if spoken.partition("-")[0] != base:
        return None
    return 1 if spoken in (base, _HOME.get(base)) else 2


def voice_distance(language: str, voice: VoiceInfo) -> int | None:
    """How far the voice is from the language; None when it does not speak it."""
    distances = [language_distance(language, spoken) for spoken in voice.languages]
    return min((distance for distance in distances if distance is not None), default=None)


def speaking(voice: VoiceInfo, language: str) -> VoiceInfo:
    """The voice with the one of its languages first that is nearest to what is wanted."""
    if len(voice.languages) == 1:
        return voice
    ranked = [(language_distance(language, spoken), spoken) for spoken in voice.languages]
    near = [(distance, spoken) for distance, spoken in ranked if distance is not None]
    nearest = min(near, key=lambda entry: entry[0])[1] if near else voice.languages[0]
    others = tuple(spoken for spoken in voice.languages if spoken != nearest)
    return voice.model_copy(update={"languages": (nearest, *others)})
