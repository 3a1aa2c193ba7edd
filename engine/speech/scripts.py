"""Which writing system a text uses, and which languages are written in it. Pure.

A script is the first word of its characters' Unicode names (LATIN, CYRILLIC, CJK, ...): that
needs no table and knows every script Python's Unicode knows.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

_LATIN = frozenset({"LATIN"})
_JAPANESE = frozenset({"HIRAGANA", "KATAKANA", "CJK"})
_CYRILLIC_LANGUAGES = "ru uk be bg mk kk ky tt ba cv nog"
_ARABIC_LANGUAGES = "ar fa ur ug sd"
_DEVANAGARI_LANGUAGES = "hi mr ne kok"
_ONE_SCRIPT = {
    "el": "GREEK", "grc": "GREEK", "he": "HEBREW", "ko": "HANGUL", "th": "THAI",
    "bn": "BENGALI", "as": "BENGALI", "bpy": "BENGALI", "pa": "GURMUKHI", "gu": "GUJARATI",
    "or": "ORIYA", "ta": "TAMIL", "te": "TELUGU", "kn": "KANNADA", "ml": "MALAYALAM",
    "si": "SINHALA", "my": "MYANMAR", "shn": "MYANMAR", "ka": "GEORGIAN", "hy": "ARMENIAN",
    "hyw": "ARMENIAN", "am": "ETHIOPIC", "ti": "ETHIOPIC", "chr": "CHEROKEE",
    "cmn": "CJK", "yue": "CJK", "hak": "CJK",
}  # fmt: skip
_SCRIPTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {language: frozenset({script}) for language, script in _ONE_SCRIPT.items()}
    | dict.fromkeys(_CYRILLIC_LANGUAGES.split(), frozenset({"CYRILLIC"}))
    | dict.fromkeys(_ARABIC_LANGUAGES.split(), frozenset({"ARABIC"}))
    | dict.fromkeys(_DEVANAGARI_LANGUAGES.split(), frozenset({"DEVANAGARI"}))
    | {"sr": frozenset({"CYRILLIC", "LATIN"}), "ja": _JAPANESE}
)
# What a text is taken for when nobody says its language: the most spoken one of its script.
_USUAL_LANGUAGE = {
    "LATIN": "en", "CYRILLIC": "ru", "ARABIC": "ar", "DEVANAGARI": "hi", "GREEK": "el",
    "HEBREW": "he", "HANGUL": "ko", "THAI": "th", "BENGALI": "bn", "GURMUKHI": "pa",
    "GUJARATI": "gu", "ORIYA": "or", "TAMIL": "ta", "TELUGU": "te", "KANNADA": "kn",
    "MALAYALAM": "ml", "SINHALA": "si", "MYANMAR": "my", "GEORGIAN": "ka", "ARMENIAN": "hy",
    "ETHIOPIC": "am", "CHEROKEE": "chr-us-qaaa-x-west", "CJK": "cmn", "HIRAGANA": "ja",
    "KATAKANA": "ja",
}  # fmt: skip
# Letters that tell the less usual languages of a script; the first language that fits is taken.
_TELLING_LETTERS = (
    ("uk", frozenset("іїєґІЇЄҐ")),
    ("ur", frozenset("ٹڈڑںے")),
    ("fa", frozenset("پچژگ")),
)


def script_of(character: str) -> str | None:
    """Name of the script, or None for digits, signs and marks that every script uses."""
    if unicodedata.category(character)[0] not in "LM":
        return None
    script = unicodedata.name(character, "").partition(" ")[0]
    if script == "IDEOGRAPHIC":  # the repetition mark of Chinese and Japanese
        return "CJK"
    return script if script in _USUAL_LANGUAGE else None


def scripts_of(language: str) -> frozenset[str]:
    """Scripts in which a language is written; Latin for all that are not known otherwise."""
    if "latn" in language or "piqd" in language:
        return _LATIN
    return _SCRIPTS.get(language.partition("-")[0], _LATIN)


def guess_language(text: str) -> str:
    """The usual language of the script most of the text is in; English when it has no letters."""
    counts = Counter(script for character in text if (script := script_of(character)))
    if counts["HIRAGANA"] or counts["KATAKANA"]:
        counts["HIRAGANA"] += counts.pop("CJK", 0)  # Chinese has no kana, Japanese has both
    if not counts:
        return "en"
    script = counts.most_common(1)[0][0]
    if script in ("CYRILLIC", "ARABIC"):
        for language, letters in _TELLING_LETTERS:
            if script in scripts_of(language) and not letters.isdisjoint(text):
                return language
    return _USUAL_LANGUAGE[script]


def split_by_script(text: str, readable: frozenset[str]) -> list[tuple[int, int, bool]]:
    """Cut a text into stretches that a voice can read and stretches that it cannot.

    Args:
        text: one sentence.
        readable: scripts the voice reads.

    Returns:
        Start, end, whether it is readable; digits, signs and spaces go with what stands before
        them, at the start with what follows.
    """
    runs: list[tuple[int, int, bool]] = []
    start, state = 0, None
    for index, character in enumerate(text):
        script = script_of(character)
        if script is None:
            continue
        is_readable = script in readable
        if state is not None and is_readable != state:
            runs.append((start, index, state))
            start = index
        state = is_readable
    return [*runs, (start, len(text), state is not False)]
