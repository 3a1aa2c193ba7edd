# ruff: noqa: RUF001, RUF002 - IPA letters look like others by nature
"""One spelling of IPA for all back ends, so that whoever maps sounds needs to know it only once.

A sound is spelled with letters of `LETTERS`, each may be followed by `NASAL` and `LENGTH`;
stress, tone, tie bars, syllable marks and finer articulation are gone. A diphthong or another
sound that a back end times as one keeps all its letters (`aɪ`, `ɛɹ`, `ts`).
"""

import re
import unicodedata

LENGTH = "ː"
NASAL = "\u0303"
LETTERS = frozenset(
    "abcdefhijklmnopqrstuvwxyz"
    "æçðøħŋœɐɑɒɓɔɕɖɗɘəɚɛɜɝɞɟɠɡɢɣɤɥɦɧɨɪɫɬɭɮɯɰɱɲɳɴɵɶɸɹɺɻɽɾʀʁʂʃʄʈʉʊʋʌʍʎʏʐʑʒʔʕʘʙʛʜʝʟʡʢβθχ"
)

# Other spellings of the same sound: look-alikes, ligatures, prenasal marks, and the ASCII names
# espeak-ng falls back to where its tables hold no IPA.
_SPELLINGS = {
    "g": "ɡ", "ε": "ɛ", "Φ": "ɸ", "φ": "ɸ", "ᵻ": "ɪ", "ʦ": "ts", "ʣ": "dz", "ʧ": "tʃ", "ʤ": "dʒ",
    "ᵐ": "m", "ⁿ": "n", "ᵑ": "ŋ", "ᵊ": "ə", ":": LENGTH, "?": "ʔ",
    "A": "ɑ", "E": "ɛ", "I": "ɪ", "O": "ɔ", "U": "ʊ", "V": "ʌ", "N": "ŋ", "S": "ʃ", "Z": "ʒ",
    "T": "θ", "D": "ð", "X": "χ", "K": "k", "R": "ʀ",
}  # fmt: skip
_ASPIRATED = re.compile("(?<=[ptkqcsɕʂʈ])h$")  # a puff of breath written as a letter: th, tɕh
_KEPT_WHOLE = {"ç": "ç"}  # decomposing would make it a plain c


def clean_ipa(name: str) -> str:
    """Spell a back end's name of a sound in the common way; empty when it is none.

    Args:
        name: one phoneme, possibly with stress and other marks: `ˈaɪ`, `t͡sʰ`, `(en)`.

    Returns:
        The letters with length and nasal marks: `aɪ`, `ts`, ``.
    """
    if name.startswith("(") and name.endswith(")"):  # espeak-ng: from here on another language
        return ""
    spelled: list[str] = []
    for composed in unicodedata.normalize("NFC", name):
        parts = _KEPT_WHOLE.get(composed) or unicodedata.normalize("NFD", composed)
        for part in parts:
            spelled += [
                letter
                for letter in _SPELLINGS.get(part, part)
                if letter in LETTERS or (letter in (LENGTH, NASAL) and spelled)
            ]
    return _ASPIRATED.sub("", "".join(spelled)).replace("nɡ", "ŋ")
