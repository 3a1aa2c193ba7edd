"""Which language tag means which voice. Pure."""

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
