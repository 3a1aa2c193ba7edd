"""Sentences to speak, many languages, from word frequencies.

`python -m training.lipsync.texts OUT.json` needs the `wordfreq` package. English also takes
sentences from the doc strings of the installed Python packages. Nothing here is meant to be read:
words are drawn by frequency so that every sound comes up in many neighbourhoods.
"""

# The training machine has no wordfreq and needs only the lists below.
# ruff: noqa: PLC0415

import argparse
import json
import re
from pathlib import Path

import numpy as np

SEED = 20261130
# espeak-ng voice -> wordfreq list. Portuguese, Turkish, Greek, Hindi, Indonesian and Finnish are
# left out on purpose: nobody of the training corpus speaks them.
TRAINING = {
    "en-us": "en", "en": "en", "en-gb-scotland": "en", "de": "de", "fr": "fr", "es": "es",
    "es-419": "es", "it": "it", "nl": "nl", "pl": "pl", "ru": "ru", "uk": "uk", "cs": "cs",
    "sk": "sk", "hu": "hu", "ro": "ro", "bg": "bg", "sr": "sh", "hr": "sh", "sl": "sl", "mk": "mk",
    "sv": "sv", "da": "da", "nb": "nb", "is": "is", "lv": "lv", "lt": "lt", "ca": "ca", "ar": "ar",
    "fa": "fa", "he": "he", "ur": "ur", "bn": "bn", "ta": "ta", "ko": "ko", "ja": "ja",
    "vi": "vi", "cmn": "zh", "ms": "ms", "sw": "ms", "eo": "it", "la": "it", "eu": "es", "cy": "en",
    "ga": "en", "af": "nl", "lb": "de", "et": "sl", "sq": "it", "kk": "ru", "tt": "ru",
}  # fmt: skip
HELD_OUT = {"pt": "pt", "pt-br": "pt", "tr": "tr", "el": "el", "hi": "hi", "id": "id", "fi": "fi"}
KANA = re.compile("^[\u3040-\u30ffー]+$")


def word_list(language: str, count: int = 6000) -> tuple[list[str], np.ndarray]:
    """The commonest words and how often to draw each (frequency to the power .5)."""
    import wordfreq

    known = wordfreq.get_frequency_dict(language)
    words = [w for w in known if w.isalpha() or "'" in w]
    if language == "ja":
        words = [w for w in words if KANA.match(w)]
    words = sorted(words, key=lambda w: (-known[w], w))[:count]
    frequency = np.array([known[w] for w in words]) ** 0.5
    return words, frequency / frequency.sum()


def sentences(language: str, count: int, rng: np.random.Generator) -> list[str]:
    """Random sentences of 3 to 14 words with commas and full stops."""
    words, weight = word_list(language)
    made = []
    for _ in range(count):
        length = int(rng.integers(3, 15))
        drawn = [words[k] for k in rng.choice(len(words), length, p=weight)]
        if length > 7 and rng.random() < 0.6:
            drawn[length // 2] += ","
        made.append((" ".join(drawn)).capitalize() + rng.choice([".", ".", ".", "?", "!"]))
    return made


def english_prose(count: int, rng: np.random.Generator) -> list[str]:
    """Real English sentences of 20 to 130 letters, from the doc strings of installed packages."""
    root = Path(np.__file__).parent.parent
    files = sorted(root.rglob("*.py"))
    doc = " ".join(
        part
        for path in files
        for part in re.findall('"{3}(.*?)"{3}', path.read_text(errors="ignore"), re.DOTALL)
    )
    text = re.sub(r"\s+", " ", doc)
    found = re.findall(r"(?<=[.] )[A-Z][a-z]+(?: [a-z]+,?){3,18}\.", text)
    kept = sorted({s for s in found if 20 <= len(s) <= 130})
    return [kept[k] for k in rng.choice(len(kept), min(count, len(kept)), replace=False)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--each", type=int, default=260)
    parser.add_argument("--english", type=int, default=4000)
    arguments = parser.parse_args()
    rng = np.random.default_rng(SEED)
    made: dict[str, list[str]] = {}
    for tag, language in (TRAINING | HELD_OUT).items():
        try:
            made[tag] = sentences(language, arguments.each, rng)
        except LookupError:
            print("no word list for", language)
    for tag, language in (("es", "es"), ("fr", "fr"), ("it", "it"), ("de", "de")):
        made[tag] += sentences(language, arguments.each * 2, rng)
    prose = english_prose(arguments.english, rng)
    made["en-us"] = prose + sentences("en", arguments.english // 2, rng)
    made["en"] = english_prose(arguments.english // 4, rng) + made["en"]
    arguments.out.write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")
    print({tag: len(lines) for tag, lines in made.items()})


if __name__ == "__main__":
    main()
