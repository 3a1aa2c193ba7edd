"""What the mouth does for each sound of speech: IPA symbol to mouth target.

Owns the table and the splitting of one phoneme into its parts; knows no times and no sound.
Stress, length, tone and most secondary articulations do not change what the lips show and are
dropped; diphthongs and unmerged clusters become equal parts.
"""

# IPA letters look like Latin and Greek ones; here that is the point.
# ruff: noqa: RUF001, RUF002

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from engine.lipsync.curves import VISEMES

if TYPE_CHECKING:  # the training machine has no pydantic, which the contracts need
    from engine.speech.voice import TimedPhoneme


@dataclass(frozen=True)
class MouthTarget:
    """Where the mouth goes for one sound.

    Attributes:
        viseme: one of `VISEMES`.
        jaw: 0 shut .. 1 widest.
        wide: -1 narrow .. 1 spread; None = whatever the neighbours do.
        pucker: 0 .. 1 rounded; None = whatever the neighbours do.
        close: 0 .. 1 lips pressed together.
        fv: 0 .. 1 lower lip at the upper teeth.
    """

    viseme: str
    jaw: float
    wide: float | None = None
    pucker: float | None = None
    close: float = 0.0
    fv: float = 0.0

    @property
    def index(self) -> int:
        """Column of the viseme in `VISEMES`."""
        return VISEMES.index(self.viseme)


SILENCE = MouthTarget("sil", 0.0, 0.0, 0.0)

# What an unmapped sound gets: a neutral, slightly open mouth that follows its neighbours.
UNKNOWN = MouthTarget("E", 0.35)

_BILABIAL = MouthTarget("PP", 0.0, close=1.0)
_LIP_FRICATIVE = MouthTarget("PP", 0.10, close=0.6)
_LABIODENTAL = MouthTarget("FF", 0.10, 0.05, 0.05, fv=1.0)
_DENTAL = MouthTarget("TH", 0.22, 0.1, 0.0)
_ALVEOLAR = MouthTarget("DD", 0.18)
_VELAR = MouthTarget("kk", 0.26)
_GLOTTAL = MouthTarget("kk", 0.32)
_POSTALVEOLAR = MouthTarget("CH", 0.15, -0.45, 0.55)
_SIBILANT = MouthTarget("SS", 0.08, 0.2, 0.0)
_NASAL = MouthTarget("nn", 0.18)
_LATERAL = MouthTarget("nn", 0.28)
_TAP = MouthTarget("RR", 0.22)
_RHOTIC = MouthTarget("RR", 0.28, -0.3, 0.35)
_GLIDE_W = MouthTarget("ou", 0.18, -0.8, 0.95)
_ROUNDED_E = MouthTarget("E", 0.45, -0.4, 0.55)

_GROUPS: tuple[tuple[str, MouthTarget], ...] = (
    ("p b m ɓ ʙ ʘ", _BILABIAL),
    ("β ɸ", _LIP_FRICATIVE),
    ("f v ʋ ɱ ⱱ", _LABIODENTAL),
    ("θ ð", _DENTAL),
    ("t d ʈ ɖ ɗ ᶑ ǀ ǃ", _ALVEOLAR),
    ("k g ɡ x ɣ q ɢ χ ʁ c ɟ ç ʝ ʄ ɠ ʛ ɰ", _VELAR),
    ("h ɦ ʔ ħ ʕ ʢ ʜ ʡ", _GLOTTAL),
    ("ʃ ʒ ɕ ʑ ʂ ʐ ʧ ʤ ʨ ʥ ɧ ꭧ ꭦ", _POSTALVEOLAR),
    ("s z ʦ ʣ ǂ", _SIBILANT),
    ("n ŋ ɲ ɳ ɴ", _NASAL),
    ("l ɫ ɭ ʎ ʟ ɬ ɮ ɺ ǁ", _LATERAL),
    ("r ɾ ʀ ɽ", _TAP),
    ("ɹ ɻ ɚ ɝ", _RHOTIC),
    ("a ɑ", MouthTarget("aa", 1.0, 0.1, 0.0)),
    ("æ", MouthTarget("aa", 0.9, 0.3, 0.0)),
    ("ʌ ɐ ɶ", MouthTarget("aa", 0.72, 0.0, 0.0)),
    ("ɒ", MouthTarget("aa", 0.72, 0.0, 0.05)),
    ("ɛ", MouthTarget("E", 0.62, 0.35, 0.0)),
    ("e", MouthTarget("E", 0.48, 0.45, 0.0)),
    ("ə ɘ ɜ ɤ ᵊ", MouthTarget("E", 0.42, 0.05, 0.05)),
    ("ø œ ɵ ɞ", _ROUNDED_E),
    ("i", MouthTarget("ih", 0.25, 0.7, 0.0)),
    ("ɪ j ɨ ᵻ", MouthTarget("ih", 0.30, 0.4, 0.0)),
    ("ɯ", MouthTarget("ih", 0.28, 0.2, 0.0)),
    ("y ʏ ɥ", MouthTarget("ih", 0.25, -0.6, 0.8)),
    ("ɔ", MouthTarget("oh", 0.68, -0.4, 0.45)),
    ("o", MouthTarget("oh", 0.50, -0.55, 0.6)),
    ("u ʉ", MouthTarget("ou", 0.26, -0.75, 0.85)),
    ("ʊ ᵿ", MouthTarget("ou", 0.32, -0.5, 0.6)),
    ("w ʍ", _GLIDE_W),
)

TARGETS = MappingProxyType(
    {symbol: target for symbols, target in _GROUPS for symbol in symbols.split()}
)

# Two letters that are one gesture. `pf` is left out: the lips really do two things there.
_MERGED = MappingProxyType(
    {
        "tʃ": "ʧ", "dʒ": "ʤ", "tɕ": "ʨ", "dʑ": "ʥ", "ʈʂ": "ʧ", "ɖʐ": "ʤ", "tʂ": "ʧ", "dʐ": "ʤ",
        "ts": "ʦ", "dz": "ʣ", "tθ": "θ", "dð": "ð", "tɬ": "ɬ", "dɮ": "ɮ", "kp": "p", "ɡb": "b",
        "gb": "b", "ŋm": "m", "kx": "x", "qχ": "χ",
    }
)  # fmt: skip

# Single letters that some voices write for a sequence (the Kokoro family's alphabet).
_ALIASES = MappingProxyType(
    {"A": "eɪ", "I": "aɪ", "O": "oʊ", "Q": "əʊ", "W": "aʊ", "Y": "ɔɪ", "T": "ɾ", "ꭨ": "ɹ"}
)

# Stress, length, breaks, tone letters, arrows and digits, ties and secondary articulations.
_IGNORED = frozenset(
    "ˈˌːˑ:'ʼʻ.,;!?|‖-_ ‿\u0361\u035c˥˦˧˨˩↓↑↗↘→ꜛꜜ0123456789¹²³⁴⁵⁶⁷⁸⁹"
    'ʰʱʲˠˤʷˡⁿˀʴʵʳ^*~"`´()[]/\u200d\u200c'
)
_RHOTIC_HOOK = "˞"


def split_symbols(ipa: str) -> tuple[str, ...]:
    """Cut one phoneme into the symbols that each need a mouth shape.

    Args:
        ipa: one sound as a voice wrote it, such as `aɪ`, `t͡ʃ`, `ɑ̃ː` or `ˈeː˥`.

    Returns:
        Symbols in order, `t͡ʃ` merged into one; unknown letters are kept as they are; empty when
        nothing but marks was left.
    """
    letters: list[str] = []
    for letter in unicodedata.normalize("NFC", ipa):
        letters.extend(_plain_letters(letter))
    merged: list[str] = []
    for letter in letters:
        if merged and merged[-1] + letter in _MERGED:
            merged[-1] = _MERGED[merged[-1] + letter]
        elif not merged or merged[-1] != letter:
            merged.append(letter)
    return tuple(merged)


def targets_of(ipa: str) -> tuple[MouthTarget, ...]:
    """Mouth targets of one phoneme, each for an equal share of its time.

    Args:
        ipa: one sound as a voice wrote it.

    Returns:
        One target, two for a diphthong, none when the text holds only marks (stress, pause).
    """
    return tuple(TARGETS.get(symbol, UNKNOWN) for symbol in split_symbols(ipa))


def unknown_symbols(phonemes: Iterable[str]) -> Counter[str]:
    """Count the symbols that have no entry in the table and get the neutral mouth."""
    return Counter(
        symbol for ipa in phonemes for symbol in split_symbols(ipa) if symbol not in TARGETS
    )


def bilabial_times(phonemes: "Sequence[TimedPhoneme]") -> list[float]:
    """Centres in seconds of the sounds that press the lips together (p, b, m and their kin)."""
    return [
        0.5 * (phoneme.start_s + phoneme.end_s)
        for phoneme in phonemes
        if any(target.close >= 1.0 for target in targets_of(phoneme.ipa))
    ]


def _plain_letters(letter: str) -> str:
    """A letter without its marks: `ã` -> `a`, `A` -> `eɪ`, a stress mark -> nothing."""
    if letter in TARGETS:
        return letter
    if letter == _RHOTIC_HOOK:
        return "ɹ"
    if letter in _IGNORED or unicodedata.combining(letter):
        return ""
    if letter in _ALIASES:
        return _ALIASES[letter]
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base in TARGETS else base.lower()
