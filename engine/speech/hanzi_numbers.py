# ruff: noqa: RUF001 - marks of many scripts look like others
"""Numbers in Chinese text as hanzi: years digit by digit, the rest by value. Pure."""

import re

from engine.speech.mapped_text import MappedText

_DIGITS = "零一二三四五六七八九"
_PLACES = ("", "十", "百", "千")
_GROUPS = ("", "万", "亿", "万亿")
_MONEY = {"¥": "元", "￥": "元", "$": "美元", "€": "欧元", "£": "英镑"}
_UNITS = {
    "km/h": "公里每小时", "km": "公里", "cm": "厘米", "mm": "毫米", "m": "米",
    "kg": "公斤", "g": "克", "°C": "摄氏度", "℃": "摄氏度",
}  # fmt: skip
_ALONE = r"(?<![A-Za-z\d])(?<!\d[.,])"
_VALUE = r"(-?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?"
_NUMBER = _ALONE + _VALUE
_DATE = re.compile(r"(?<![\d/-])(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?![\d/-])")
_YEAR = re.compile(r"(?<!\d)\d{4}(?=年)")
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-4]):([0-5]\d)(?![\d:])")
_PERCENT = re.compile(rf"{_NUMBER}\s?([%％‰])")
_PRICE = re.compile(rf"([¥￥$€£])\s?{_VALUE}(?!,?\d)")
_MEASURE = re.compile(rf"{_NUMBER}\s?({'|'.join(_UNITS)})(?![A-Za-z/])")
# Numbers of telephones and the like have no value: a 0 in front, or long and not round.
_CODE = re.compile(rf"{_ALONE}(?:0\d+|\d{{7,}}(?<!0000))(?![\d.,]*\d)")
_TWO = re.compile(rf"{_ALONE}2(?=[个位只条张本件次天岁块])")
_PLAIN = re.compile(rf"{_NUMBER}(?![A-Za-z])")
_MAX_DIGITS = 16


def respell_hanzi_numbers(text: MappedText) -> MappedText:
    """Have every number of a Chinese text read in hanzi."""
    text = text.respelled(_DATE, _spell_date)
    text = text.respelled(_YEAR, lambda match: one_by_one(match.group()))
    text = text.respelled(_TIME, _spell_time)
    text = text.respelled(_PERCENT, _spell_percent)
    text = text.respelled(_PRICE, lambda match: _spelled(*match.group(2, 3, 4)) + _MONEY[match[1]])
    text = text.respelled(
        _MEASURE, lambda match: _spelled(*match.group(1, 2, 3)) + _UNITS[match[4]]
    )
    text = text.respelled(_CODE, lambda match: one_by_one(match.group()))
    text = text.respelled(_TWO, lambda _: "两")
    return text.respelled(_PLAIN, lambda match: _spelled(*match.group(1, 2, 3)))


def one_by_one(digits: str) -> str:
    """Each digit by its name: `2025` is 二零二五."""
    return "".join(_DIGITS[int(digit)] for digit in digits)


def by_value(digits: str) -> str:
    """A whole number by its value: `2025` is 二千零二十五; one too long digit by digit."""
    digits = digits.lstrip("0") or "0"
    if len(digits) > _MAX_DIGITS:
        return one_by_one(digits)
    if digits == "0":
        return _DIGITS[0]
    spelled = ""
    is_gap = False
    for index in range((len(digits) - 1) // 4, -1, -1):
        end = len(digits) - 4 * index
        group = digits[max(0, end - 4) : end]
        if int(group) == 0:
            is_gap = bool(spelled)
            continue
        if spelled and (is_gap or group[0] == "0"):
            spelled += _DIGITS[0]
        spelled += _group(group.lstrip("0")) + _GROUPS[index]
        is_gap = False
    return spelled.removeprefix("一") if spelled.startswith("一十") else spelled


def _group(digits: str) -> str:
    """Up to four digits, the first one not 0."""
    spelled = ""
    for index, digit in enumerate(digits):
        if digit != "0":
            if spelled and digits[index - 1] == "0":
                spelled += _DIGITS[0]
            spelled += _DIGITS[int(digit)] + _PLACES[len(digits) - 1 - index]
    return spelled


def _spelled(sign: str, whole: str, fraction: str | None) -> str:
    spelled = ("负" if sign else "") + by_value(whole.replace(",", ""))
    return spelled + ("点" + one_by_one(fraction[1:]) if fraction else "")


def _spell_percent(match: re.Match[str]) -> str:
    base = "千分之" if match[4] == "‰" else "百分之"
    return base + _spelled(*match.group(1, 2, 3))


def _spell_date(match: re.Match[str]) -> str:
    year, _, month, day = match.groups()
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return match.group()
    return f"{one_by_one(year)}年{by_value(month)}月{by_value(day)}日"


def _spell_time(match: re.Match[str]) -> str:
    hours, minutes = by_value(match[1]), match[2]
    if minutes == "00":
        return f"{hours}点"
    spelled = "零" + by_value(minutes) if minutes[0] == "0" else by_value(minutes)
    return f"{hours}点{spelled}分"
