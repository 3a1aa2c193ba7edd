# ruff: noqa: RUF001, RUF002 - IPA letters look like others by nature
"""The sounds of kana, in the alphabet of the Kokoro family. Pure."""

import unicodedata

_HIRAGANA = dict(zip(range(0x3041, 0x3097), range(0x30A1, 0x30F7), strict=True))
_TO_HIRAGANA = {katakana: hiragana for hiragana, katakana in _HIRAGANA.items()}
_VOWELS = "アイウエオ"
_ROWS = {
    "カキクケコ": "k", "ガギグゲゴ": "ɡ", "サ・スセソ": "s", "ザ・ズゼゾ": "ʣ", "タ・・テト": "t",
    "ダ・・デド": "d", "ナニヌネノ": "n", "ハ・・ヘホ": "h", "バビブベボ": "b", "パピプペポ": "p",
    "マミムメモ": "m", "ラリルレロ": "ɾ", "ヤ・ユ・ヨ": "j", "ワヰ・ヱヲ": "β", "・・ヴ・・": "v",
}  # fmt: skip
_IPA_VOWELS = ("a", "i", "ɯ", "e", "o")
_SOFT = {"k": "kʲ", "ɡ": "ɡʲ", "n": "ɲ", "b": "bʲ", "p": "pʲ", "m": "mʲ", "ɾ": "ɾʲ", "β": ""}
_OWN = {
    "シ": "ɕi", "ジ": "ʥi", "チ": "ʨi", "ヂ": "ʥi", "ツ": "ʦɨ", "ヅ": "zɨ", "ス": "sɨ", "ズ": "zɨ",
    "ヒ": "çi", "フ": "ɸɯ", "ヲ": "o", "ヱ": "e", "ヶ": "ke", "ヵ": "ka",
}  # fmt: skip
_SMALL_Y = {"ャ": "a", "ュ": "ɯ", "ョ": "o", "ェ": "e"}
_SOFT_BEFORE_Y = {"シ": "ɕ", "ジ": "ʥ", "チ": "ʨ", "ヂ": "ʥ", "ヒ": "ç"}
_SMALL_VOWELS = dict(zip("ァィゥェォ", _IPA_VOWELS, strict=True)) | {
    "ャ": "ja",
    "ュ": "jɯ",
    "ョ": "jo",
}
_HARD_BEFORE_SMALL = {"フ": "ɸ", "ツ": "ʦ", "テ": "t", "デ": "d", "ト": "t", "ド": "d", "ウ": "β",
    "ヴ": "v", "ク": "kβ", "グ": "ɡβ", "ス": "s", "ズ": "z"}  # fmt: skip
_LONG = "ー"
# Which nasal a moraic n is: told by what follows.
_NASALS = {"m": "m", "p": "m", "b": "m", "k": "ŋ", "ɡ": "ŋ", "ɲ": "ɲ", "ʨ": "ɲ", "ʥ": "ɲ"} | (
    dict.fromkeys("ntdɾzʣʦs", "n")
)


def _moras() -> dict[str, str]:
    """Sounds of every plain kana."""
    table = dict(zip(_VOWELS, _IPA_VOWELS, strict=True))
    for row, consonant in _ROWS.items():
        for kana, vowel in zip(row, _IPA_VOWELS, strict=True):
            head = _SOFT.get(consonant, consonant) if vowel == "i" else consonant
            table[kana] = head + vowel
    return {kana: ipa for kana, ipa in table.items() if kana != "・"} | _OWN


_MORAS = _moras()


def to_katakana(text: str) -> str:
    """Hiragana and half-width katakana as katakana; everything else as it is."""
    return unicodedata.normalize("NFKC", text).translate(_HIRAGANA)


def to_hiragana(kana: str) -> str:
    """Katakana as hiragana; the long mark stays."""
    return kana.translate(_TO_HIRAGANA)


def is_kana(text: str) -> bool:
    """Whether every character is katakana, the long mark included."""
    return bool(text) and all("ァ" <= letter <= "ヺ" or letter == _LONG for letter in text)


def sounds_of(kana: str) -> str:
    """IPA of katakana as it is pronounced, such as `キョー` -> `kʲoː`."""
    sounds: list[str] = []
    at = 0
    while at < len(kana):
        two = _with_small(kana[at : at + 2])
        if two:
            sounds.append(two)
            at += 2
            continue
        sounds.append(_single(kana[at], sounds))
        at += 1
    return _with_nasals(sounds)


def _with_small(pair: str) -> str | None:
    """Sounds of a kana with a small one behind it; None when they are two moras."""
    if len(pair) < 2:
        return None
    large, small = pair[0], pair[1]
    soft = _MORAS.get(large, "")
    if small in _SMALL_Y and soft.endswith("i") and len(soft) > 1:
        return _SOFT_BEFORE_Y.get(large, soft[:-1]) + _SMALL_Y[small]
    if small in _SMALL_VOWELS and large in _HARD_BEFORE_SMALL:
        head, vowel = _HARD_BEFORE_SMALL[large], _SMALL_VOWELS[small]
        return head + vowel
    return None


def _single(letter: str, before: list[str]) -> str:
    if letter == _LONG:
        return "ː" if before and before[-1] not in ("N", "ʔ") else ""
    if letter == "ッ":
        return "ʔ"
    if letter == "ン":
        return "N"
    return _MORAS.get(letter) or _SMALL_VOWELS.get(letter, "")


def _with_nasals(sounds: list[str]) -> str:
    following = [*sounds[1:], ""]
    return "".join(
        _NASALS.get(after[:1], "ɴ") if sound == "N" else sound
        for sound, after in zip(sounds, following, strict=False)
    )
