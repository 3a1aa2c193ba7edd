# ruff: noqa: RUF001 - kana and signs look like others
"""Numbers of Japanese text in katakana as they are said, with the counters behind them. Pure."""

import re
from collections.abc import Callable
from typing import NamedTuple

_DIGITS = ("ゼロ", "イチ", "ニ", "サン", "ヨン", "ゴ", "ロク", "ナナ", "ハチ", "キュー")
_HUNDREDS = {3: "サンビャク", 6: "ロッピャク", 8: "ハッピャク", 1: "ヒャク"}
_THOUSANDS = {3: "サンゼン", 8: "ハッセン", 1: "セン"}
_GROUPS = ("", "マン", "オク", "チョー")
_MAX_DIGITS = 16
_KANJI_DIGITS = {kanji: value for value, kanji in enumerate("〇一二三四五六七八九")}
_KANJI_PLACES = {"十": 10, "百": 100, "千": 1000}
_KANJI_GROUPS = {"万": 10_000, "億": 100_000_000, "兆": 1_000_000_000_000}
KANJI_NUMERALS = frozenset({*_KANJI_DIGITS, *_KANJI_PLACES, *_KANJI_GROUPS})

# How the end of a number changes before a counter: last word of the number -> what is said.
_BEFORE_K = {"イチ": "イッ", "ロク": "ロッ", "ハチ": "ハッ", "ジュー": "ジュッ", "ヒャク": "ヒャッ"}
_BEFORE_S = {"イチ": "イッ", "ハチ": "ハッ", "ジュー": "ジュッ"}
_BEFORE_P = {"イチ": "イッ", "ハチ": "ハッ", "ジュー": "ジュッ", "ヒャク": "ヒャッ"}
_HARD = frozenset({"イチ", "ロク", "ハチ", "ジュー", "ヒャク"})  # h becomes p behind these
_YO = {"ヨン": "ヨ"}
_CLOCK = {"ヨン": "ヨ", "ナナ": "シチ", "キュー": "ク"}
_MONTH = {"ヨン": "シ", "ナナ": "シチ", "キュー": "ク"}


class _Counter(NamedTuple):
    """One counter: how it is said, what it does to the number, how itself changes."""

    said: str
    changes: dict[str, str]
    behind_san: str | None = None
    behind_hard: str | None = None


_COUNTERS: dict[str, _Counter] = {
    "年間": _Counter("ネンカン", _YO), "年": _Counter("ネン", _YO), "月": _Counter("ガツ", _MONTH),
    "日": _Counter("ニチ", {}), "時間": _Counter("ジカン", _CLOCK), "時": _Counter("ジ", _CLOCK),
    "分": _Counter("フン", _BEFORE_K, "プン", "プン"), "秒": _Counter("ビョー", {}),
    "円": _Counter("エン", _YO), "ドル": _Counter("ドル", {}), "ユーロ": _Counter("ユーロ", {}),
    "人": _Counter("ニン", _YO), "名": _Counter("メー", {}), "歳": _Counter("サイ", _BEFORE_S),
    "才": _Counter("サイ", _BEFORE_S), "個": _Counter("コ", _BEFORE_K),
    "本": _Counter("ホン", _BEFORE_K, "ボン", "ポン"),
    "匹": _Counter("ヒキ", _BEFORE_K, "ビキ", "ピキ"),
    "杯": _Counter("ハイ", _BEFORE_K, "バイ", "パイ"),
    "泊": _Counter("ハク", _BEFORE_K, "パク", "パク"),
    "枚": _Counter("マイ", {}), "台": _Counter("ダイ", {}), "番": _Counter("バン", {}),
    "番目": _Counter("バンメ", {}), "度": _Counter("ド", {}), "倍": _Counter("バイ", {}),
    "回": _Counter("カイ", _BEFORE_K), "階": _Counter("カイ", _BEFORE_K, "ガイ"),
    "ヶ月": _Counter("カゲツ", _BEFORE_K), "か月": _Counter("カゲツ", _BEFORE_K),
    "カ月": _Counter("カゲツ", _BEFORE_K), "ヶ国": _Counter("カコク", _BEFORE_K),
    "週間": _Counter("シューカン", _BEFORE_S), "冊": _Counter("サツ", _BEFORE_S),
    "世紀": _Counter("セーキ", _BEFORE_S), "点": _Counter("テン", _BEFORE_S),
    "件": _Counter("ケン", _BEFORE_K), "曲": _Counter("キョク", _BEFORE_K),
    "キロ": _Counter("キロ", _BEFORE_K), "センチ": _Counter("センチ", _BEFORE_S),
    "メートル": _Counter("メートル", {}), "グラム": _Counter("グラム", {}),
    "パーセント": _Counter("パーセント", _BEFORE_P), "つ": _Counter("ツ", {}),
}  # fmt: skip
_SIGNS = {
    "%": "パーセント", "％": "パーセント", "℃": "度", "°C": "度", "円": "円", "km": "キロ",
    "kg": "キロ", "cm": "センチ", "m": "メートル", "g": "グラム",
}  # fmt: skip
_MONEY = {"¥": "円", "￥": "円", "$": "ドル", "€": "ユーロ"}
_DAYS = {
    1: "ツイタチ", 2: "フツカ", 3: "ミッカ", 4: "ヨッカ", 5: "イツカ", 6: "ムイカ", 7: "ナノカ",
    8: "ヨーカ", 9: "ココノカ", 10: "トーカ", 14: "ジューヨッカ", 20: "ハツカ",
    24: "ニジューヨッカ",
}  # fmt: skip
_THINGS = (
    "ヒトツ",
    "フタツ",
    "ミッツ",
    "ヨッツ",
    "イツツ",
    "ムッツ",
    "ナナツ",
    "ヤッツ",
    "ココノツ",
)
_WHOLE = {("人", 1): "ヒトリ", ("人", 2): "フタリ"} | {
    ("つ", index + 1): said for index, said in enumerate(_THINGS)
}

_VALUE = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_COUNTED = re.compile(
    rf"(?P<money>[{''.join(_MONEY)}])?\s?(?P<value>{_VALUE})"
    rf"(?P<counter>{'|'.join(sorted({*_COUNTERS, *_SIGNS}, key=len, reverse=True))})?(?![A-Za-z])"
)
_TIME = re.compile(r"(?<![\d:])(\d{1,2}):([0-5]\d)(?![\d:])")
_DATE = re.compile(r"(?<![\d/-])(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?![\d/-])")
Found = tuple[int, int, str]
"""Start, end and katakana of a stretch of text."""


def find_numbers(text: str) -> list[Found]:
    """Every number written in digits, with its counter or sign, in order."""
    found: list[Found] = []
    rules: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
        (_DATE, _say_date),
        (_TIME, lambda match: counted(int(match[1]), "時") + counted(int(match[2]), "分")),
        (_COUNTED, _say_counted),
    )
    taken: set[int] = set()
    for pattern, say in rules:
        for match in pattern.finditer(text):
            own = set(range(match.start(), match.end()))
            if taken.isdisjoint(own):
                taken |= own
                found.append((match.start(), match.end(), say(match)))
    return sorted(found)


def counted(value: int, counter: str) -> str:
    """A number with a counter, `(3, "匹")` -> `サンビキ`; the number alone for an unknown one."""
    if counter == "日" and value in _DAYS:
        return _DAYS[value]
    if (counter, value) in _WHOLE:
        return _WHOLE[counter, value]
    words = _words(value)
    known = _COUNTERS.get(counter)
    if known is None:
        return "".join(words)
    last, said = words[-1], known.said
    if known.behind_san and last in ("サン", "セン", "マン"):
        said = known.behind_san
    elif known.behind_hard and last in _HARD:
        said = known.behind_hard
    if counter == "分" and last == "ヨン":
        said = "プン"
    return "".join(words[:-1]) + known.changes.get(last, last) + said


def has_counter(word: str) -> bool:
    """Whether a word behind a number changes how both are said."""
    return word in _COUNTERS


def kanji_value(numerals: str) -> int:
    """The value of a number in kanji: `二千二十五` or `二〇二五` is 2025."""
    if not _KANJI_PLACES.keys() & set(numerals) and not _KANJI_GROUPS.keys() & set(numerals):
        return int("".join(str(_KANJI_DIGITS[numeral]) for numeral in numerals))
    total = group = digit = 0
    for numeral in numerals:
        if numeral in _KANJI_DIGITS:
            digit = _KANJI_DIGITS[numeral]
        elif numeral in _KANJI_PLACES:
            group += (digit or 1) * _KANJI_PLACES[numeral]
            digit = 0
        else:
            total += (group + digit or 1) * _KANJI_GROUPS[numeral]
            group = digit = 0
    return total + group + digit


def one_by_one(digits: str) -> str:
    """Each digit by its name."""
    return "".join(_DIGITS[int(digit)] for digit in digits)


def _words(value: int) -> list[str]:
    """A whole number; the last entry is what a counter may change."""
    if value < 0 or len(str(value)) > _MAX_DIGITS:
        return [one_by_one(str(abs(value)))]
    if value == 0:
        return [_DIGITS[0]]
    words: list[str] = []
    for index in range((len(str(value)) - 1) // 4, -1, -1):
        group = value // 10 ** (4 * index) % 10_000
        if group:
            words += _group(group) + ([_GROUPS[index]] if index else [])
    return words


def _group(value: int) -> list[str]:
    """1 to 9999."""
    thousands, hundreds, tens, ones = (int(digit) for digit in f"{value:04}")
    words: list[str] = []
    if thousands:
        words += (
            [_THOUSANDS[thousands]] if thousands in _THOUSANDS else [_DIGITS[thousands], "セン"]
        )
    if hundreds:
        words += [_HUNDREDS[hundreds]] if hundreds in _HUNDREDS else [_DIGITS[hundreds], "ヒャク"]
    if tens:
        words += ([] if tens == 1 else [_DIGITS[tens]]) + ["ジュー"]
    return [*words, _DIGITS[ones]] if ones else words


def _say_counted(match: re.Match[str]) -> str:
    whole, _, fraction = match["value"].replace(",", "").partition(".")
    counter = match["counter"] or ""
    counter = _SIGNS.get(counter, counter)
    if match["money"]:
        counter = counter or _MONEY[match["money"]]
    if fraction:
        behind = _COUNTERS[counter].said if counter else ""
        head = "".join(_words(int(whole)))
        head = head[:-1] + "ッ" if head.endswith(("イチ", "ハチ", "ジュー")) else head
        return f"{head}テン{one_by_one(fraction)}{behind}"
    if not counter and ((len(whole) > 1 and whole[0] == "0") or len(whole) > _MAX_DIGITS):
        return one_by_one(whole)  # a number of a telephone or the like
    return counted(int(whole), counter)


def _say_date(match: re.Match[str]) -> str:
    year, _, month, day = match.groups()
    return counted(int(year), "年") + counted(int(month), "月") + counted(int(day), "日")
