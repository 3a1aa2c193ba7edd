"""Dates, times, money and units respelled so that a voice reads them as people say them.

Only the words around the digits change: voices read `1.250` or `12,5 %` themselves. Mandarin is
different, there all digits become hanzi (`engine.speech.hanzi_numbers`).
"""

import functools
import re
from collections.abc import Callable

from engine.speech.hanzi_numbers import respell_hanzi_numbers
from engine.speech.mapped_text import MappedText
from engine.speech.number_words import NUMBER_WORDS, Names, NumberWords

_AMOUNT = r"(?P<amount>\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
_CENTS = re.compile(r"(.+)[.,](\d\d)")
_DATE = re.compile(
    r"(?<![\w./-])(?:(?P<day>\d{1,2})(?P<mark>[./-])(?P<month>\d{1,2})(?P=mark)(?P<year>\d{4})"
    r"|(?P<iso_year>\d{4})-(?P<iso_month>\d\d)-(?P<iso_day>\d\d))(?![\w/-])"
)
_TIME = re.compile(r"(?<![\w:.,])([01]?\d|2[0-4]):([0-5]\d)(?:\s?(?:Uhr|uur|h))?(?![\w:])")
_DAY_AND_MONTH = r"(?<![\w.,])(\d{{1,2}})\. ({months})\b"
_LAST_WORD = re.compile(r"(\w+)\s+$")
# German: the ending of "dritte" behind these words; "dritter" behind none of them.
_GERMAN_ENDINGS = dict.fromkeys(("der", "die", "das"), "e") | dict.fromkeys(
    ("am", "zum", "vom", "beim", "im", "den", "dem", "des", "ab", "seit"), "en"
)

_Spell = Callable[[re.Match[str]], str]


def respell_numbers(text: MappedText, language: str) -> MappedText:
    """Have dates, times, money and units read in words; readers go on seeing what was typed.

    Args:
        text: cleaned.
        language: BCP 47 tag of the voice; text in a language without words here is left alone.
    """
    base = language.partition("-")[0]
    if base in ("cmn", "yue"):
        return respell_hanzi_numbers(text)
    words = NUMBER_WORDS.get(base)
    if words is None:
        return text
    for pattern, spell in _rules(base):
        text = text.respelled(pattern, spell)
    return text


@functools.cache
def _rules(base: str) -> tuple[tuple[re.Pattern[str], _Spell], ...]:
    """What is looked for in a language, in this order, and how it is spelled."""
    words = NUMBER_WORDS[base]
    rules: list[tuple[re.Pattern[str], _Spell]] = [
        (_DATE, lambda match: _spell_date(match, words)),
        *(
            (pattern, lambda match: _spell_money(match, words))
            for pattern in _money_patterns(words)
        ),
        (
            re.compile(
                rf"(?<!\w)(?<!\d[.,]){_AMOUNT}\s?(?P<sign>{_any_of(words.units)})(?![\w/²³])"
            ),
            lambda match: _count(match["amount"], words.units[match["sign"]]),
        ),
    ]
    if words.time:
        rules.append((_TIME, lambda match: _spell_time(match, words)))
    if base == "de":
        months = "|".join(words.months)
        pattern = re.compile(_DAY_AND_MONTH.format(months=months))
        rules.append((pattern, lambda match: _spell_day_and_month(match, words)))
    return tuple(rules)


def _money_patterns(words: NumberWords) -> tuple[re.Pattern[str], re.Pattern[str]]:
    signs = rf"(?P<sign>{_any_of(words.money)})"
    return (
        re.compile(rf"(?<!\w)(?<!\d[.,]){_AMOUNT}\s?{signs}(?!\w)"),
        re.compile(rf"(?<!\w){signs}\s?{_AMOUNT}(?![\w%])"),
    )


def _any_of(names: Names) -> str:
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


def _count(amount: str, names: tuple[str, str]) -> str:
    one, many = names
    return one if amount == "1" else f"{amount} {many}"


def _spell_money(match: re.Match[str], words: NumberWords) -> str:
    names = words.money[match["sign"]]
    parts = _CENTS.fullmatch(match["amount"])
    if parts is None:
        return _count(match["amount"], names)
    whole, cents = parts.groups()
    if cents == "00":
        return _count(whole, names)
    if whole == "1":
        one, _, unit = names[0].partition(" ")
        return words.cents.format(whole=one, unit=unit, cents=int(cents))
    return words.cents.format(whole=whole, unit=names[1], cents=int(cents))


def _spell_date(match: re.Match[str], words: NumberWords) -> str:
    day = int(match["day"] or match["iso_day"])
    month = int(match["month"] or match["iso_month"])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return match.group()
    return words.date.format(
        day=_spell_day(day, words, match),
        month=words.months[month - 1],
        year=match["year"] or match["iso_year"],
    )


def _spell_day(day: int, words: NumberWords, match: re.Match[str]) -> str:
    if day > len(words.days):
        return str(day)
    if words is not NUMBER_WORDS["de"]:
        return words.days[day - 1]
    before = _LAST_WORD.search(match.string[: match.start()])
    return words.days[day - 1] + _GERMAN_ENDINGS.get(before[1].lower() if before else "", "er")


def _spell_day_and_month(match: re.Match[str], words: NumberWords) -> str:
    day = int(match[1])
    if not 1 <= day <= 31:
        return match.group()
    return f"{_spell_day(day, words, match)} {match[2]}"


def _spell_time(match: re.Match[str], words: NumberWords) -> str:
    hours, minutes = int(match[1]), int(match[2])
    return words.time.format(hours=hours, minutes=minutes or "").strip()
