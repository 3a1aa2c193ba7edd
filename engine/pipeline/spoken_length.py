# ruff: noqa: RUF001 - marks of many scripts look like others
"""About how long a text takes to speak, told from its letters before anything is spoken."""

import re
import unicodedata

from engine.speech.text import CleanText, make_speakable
from engine.speech.words import is_unspaced

# Measured on the built-in voices, English, Spanish, French and Chinese, at speed 1: letters with
# their spaces 17 a second; a digit is a word ("2024" takes a second), so is a sign of money.
CHARACTERS_PER_SECOND = 17.0
CHARACTERS_OF_A_DIGIT = 4.4
CHARACTERS_OF_A_SIGN = 6.0

# Each is a syllable: a Chinese voice speaks 4.5 in a second.
CHARACTERS_OF_AN_IDEOGRAPH = 3.7

# Arabic and Hebrew leave the short vowels out; letters of Indian scripts carry one each.
CHARACTERS_OF_A_BARE_CONSONANT = 1.7
CHARACTERS_OF_A_SYLLABLE = 1.4

SENTENCE_PAUSE_S = 0.3
COMMA_PAUSE_S = 0.1
SHORTEST_S = 0.5

_SENTENCE_ENDS = re.compile(r"[.!?。！？।؟]+(?=\s|$)|[。！？।]")
_COMMAS = re.compile(r"[,;:，、；：،](?=\s)|[，、；：]")


def spoken_length_s(cleaned: CleanText, language: str, speed: float) -> float:
    """Seconds a text takes to speak.

    Args:
        cleaned: what is to be spoken.
        language: BCP 47 tag of the voice; dates and money are counted in its words.
        speed: 1 = the voice's own.
    """
    text = make_speakable(cleaned.mapped, language).text
    sounds_s = sum(map(_weight, text)) / CHARACTERS_PER_SECOND
    pauses_s = SENTENCE_PAUSE_S * max(len(_SENTENCE_ENDS.findall(text)) - 1, 0)
    pauses_s += COMMA_PAUSE_S * len(_COMMAS.findall(text))
    return max((sounds_s + pauses_s) / speed, SHORTEST_S)


def _weight(character: str) -> float:
    if is_unspaced(character):
        return CHARACTERS_OF_AN_IDEOGRAPH
    category = unicodedata.category(character)
    if category[0] == "N":
        return CHARACTERS_OF_A_DIGIT
    if category == "Sc" or character in "%&+=°":
        return CHARACTERS_OF_A_SIGN
    if "\u0590" <= character <= "\u08ff" and category[0] == "L":
        return CHARACTERS_OF_A_BARE_CONSONANT
    if "\u0900" <= character <= "\u0dff" and category[0] == "L":
        return CHARACTERS_OF_A_SYLLABLE
    return 1.0
