"""A second forced aligner for English, with nothing of pocketsphinx but its word list.

The acoustic models are those of the Penn Phonetics Lab Forced Aligner (trained on 25 hours of the
US Supreme Court; `pyfoal` packages them): one HMM of three states a phone, 32 Gaussians a state,
PLP features as HTK computes them. The search and the features are written here.

`python -m training.lipsync.p2fa PYFOAL CLIPS.json OUT.flac` where PYFOAL is the folder `pyfoal` of
that package (its wheel unpacked: it need not be installed) and CLIPS.json a list of
`{"file", "text"}`; writes a shard.
"""

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray
from pocketsphinx import get_model_path

from training.lipsync.align import EXTRA_WORDS, Times, read_16k, words_of
from training.lipsync.corpus import SAMPLE_RATE_HZ, Utterance, to_int16, write_shard
from training.lipsync.festival import US

RATE_HZ = 11_025
FRAME_S = 0.01
NUM_CHANNELS, LPC_ORDER, LIFTER = 20, 12, 22
PRE_EMPHASIS, COMPRESSION = 0.97, 0.33
STATES = 3
# The model of a pause between words may be skipped.
SILENCE, PAUSE = "sil", "sp"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """Mixture of diagonal Gaussians and the log probability of staying and leaving."""

    log_weight: Floats
    mean: Floats
    precision: Floats
    stay: float
    leave: float


def read_models(path: Path) -> dict[str, list[State]]:
    """Phone -> states, from HTK's text format."""
    shared: dict[str, tuple[Floats, Floats, Floats]] = {}
    models: dict[str, list[State]] = {}
    for block in re.split(r"(?=~h \"|~s \"\w+\"\n<NUMMIXES>)", path.read_text())[1:]:
        kind, name = re.match(r'~([hs]) "([^"]+)"', block).groups()  # type: ignore[union-attr]
        if kind == "s":
            shared[name] = _mixture(block)
            continue
        table = block.split("<TRANSP>")[1].split("<ENDHMM>")[0].split()
        size = int(table[0])
        moves = np.array(table[1:], float).reshape(size, size)
        models[name] = [
            State(*found, *np.log(np.maximum(moves[k, k : k + 2], 1e-10)))
            for k, found in enumerate(_mixtures(block, shared), start=1)
        ]
    return models


def _mixtures(
    block: str, shared: dict[str, tuple[Floats, Floats, Floats]]
) -> Iterator[tuple[Floats, Floats, Floats]]:
    for part in block.split("<TRANSP>", maxsplit=1)[0].split("<STATE>")[1:]:
        tied = re.search(r'~s "([^"]+)"', part)
        yield shared[tied.group(1)] if tied else _mixture(part)


def _mixture(text: str) -> tuple[Floats, Floats, Floats]:
    weight = np.array(re.findall(r"<MIXTURE> \d+ (\S+)", text), float)
    numbers = [
        np.array([row.split() for row in re.findall(rf"<{name}> 39\s+([^<]+)", text)], float)
        for name in ("MEAN", "VARIANCE")
    ]
    mean, precision = numbers[0], 1.0 / numbers[1]
    constant = -0.5 * (39 * np.log(2 * np.pi) - np.log(precision).sum(1))
    return np.log(np.maximum(weight, 1e-10)) + constant, mean, precision


def log_likelihood(state: State, frames: Floats) -> Floats:
    """T, of frames T x 39."""
    apart = (
        (frames**2) @ state.precision.T
        - 2 * frames @ (state.mean * state.precision).T
        + ((state.mean**2) * state.precision).sum(1)
    )
    return np.logaddexp.reduce(state.log_weight - 0.5 * apart, axis=1)


def plp(samples: NDArray[np.float32]) -> Floats:
    """PLP_0_D_A_Z of mono sound at 11.025 kHz: T x 39, a frame each 10 ms from 12.5 ms on."""
    size = round(0.025 * RATE_HZ)
    hop = FRAME_S * RATE_HZ
    count = int((len(samples) - size) / hop) + 1
    starts = (np.arange(count) * hop).astype(int)
    frames = samples[starts[:, None] + np.arange(size)].astype(float) * 32768.0
    frames -= frames.mean(1, keepdims=True)
    emphasised = frames.copy()
    emphasised[:, 1:] -= PRE_EMPHASIS * frames[:, :-1]
    emphasised[:, 0] *= 1 - PRE_EMPHASIS
    power = np.abs(np.fft.rfft(emphasised * np.hamming(size), 512)) ** 2
    filters, loudness = _filters()
    audible = np.maximum(power @ filters, 1.0) * loudness
    spectrum = np.pad(audible**COMPRESSION, ((0, 0), (1, 1)), mode="edge")
    static = _cepstra(spectrum)
    static -= static.mean(0)
    delta = _slopes(static)
    return np.concatenate([static, delta, _slopes(delta)], axis=1)


def _filters() -> tuple[Floats, Floats]:
    """Triangles on the mel scale, bins x channels, and the ear's weight of each channel."""
    mel = 1127.0 * np.log1p(np.arange(257) * RATE_HZ / 512 / 700.0)
    top = 1127.0 * np.log1p(RATE_HZ / 2 / 700.0)
    edges = np.arange(NUM_CHANNELS + 2) * top / (NUM_CHANNELS + 1)
    rising = (mel[:, None] - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - mel[:, None]) / np.diff(edges)[1:]
    filters = np.maximum(np.minimum(rising, falling), 0.0)
    filters[0] = 0.0  # HTK leaves the constant out
    square = (700.0 * np.expm1(edges[1:-1] / 1127.0)) ** 2
    weight = (square / (square + 1.6e5)) ** 2 * (square + 1.44e6) / (square + 9.61e6)
    return filters, weight


def _cepstra(spectrum: Floats) -> Floats:
    """Linear prediction of a compressed spectrum, as 12 liftered cepstra and log gain."""
    last = spectrum.shape[1] - 1
    table = 2.0 * np.cos(np.pi / last * np.outer(np.arange(last + 1), np.arange(LPC_ORDER + 1)))
    table[0] *= 0.5
    table[-1] *= 0.5
    correlation = spectrum @ table / (2.0 * last)
    gain = correlation[:, 0].copy()
    taps = np.zeros((len(spectrum), LPC_ORDER + 1))
    for i in range(1, LPC_ORDER + 1):
        inner = (taps[:, 1:i] * correlation[:, i - 1 : 0 : -1]).sum(1)
        reflection = (correlation[:, i] - inner) / gain
        taps[:, 1:i] -= reflection[:, None] * taps[:, i - 1 : 0 : -1]
        taps[:, i] = reflection
        gain *= 1.0 - reflection**2
    cepstra = np.zeros((len(spectrum), LPC_ORDER + 1))
    for n in range(1, LPC_ORDER + 1):
        inner = (np.arange(1, n) * cepstra[:, 1:n] * taps[:, n - 1 : 0 : -1]).sum(1)
        cepstra[:, n] = taps[:, n] + inner / n
    lift = 1.0 + LIFTER / 2 * np.sin(np.pi * np.arange(1, LPC_ORDER + 1) / LIFTER)
    return np.concatenate([cepstra[:, 1:] * lift, np.log(gain)[:, None]], axis=1)


def _slopes(values: Floats) -> Floats:
    """Regression over two frames to either side."""
    padded = np.pad(values, ((2, 2), (0, 0)), mode="edge")
    return (padded[3:-1] - padded[1:-3] + 2 * (padded[4:] - padded[:-4])) / 10.0


class P2fa:
    """Aligns English words whose pronunciation is known."""

    def __init__(self, pyfoal: Path) -> None:
        models = read_models(pyfoal / "assets" / "p2fa" / "hmmdefs")
        self._models = models
        self._words: dict[str, list[list[str]]] = {}
        lines = Path(get_model_path(), "en-us", "cmudict-en-us.dict").read_text("utf-8")
        for line in lines.splitlines():
            word, *phones = line.split()
            self._words.setdefault(re.sub(r"\(\d+\)$", "", word), []).append(phones)
        for word, phones in EXTRA_WORDS.items():
            self._words.setdefault(word, []).append(phones.split())

    def times(self, samples: NDArray[np.float32], text: str) -> Times:
        """Sounds of a text on the clock of 16 kHz sound; of two pronunciations the likelier.

        Raises:
            KeyError: a word is not in the list.
        """
        slow = soxr.resample(samples, SAMPLE_RATE_HZ, RATE_HZ)
        quiet = np.random.default_rng(0).normal(size=len(slow)) * 1e-4  # digital silence has no log
        frames = plp((slow + quiet).astype(np.float32))
        words = [self._words[word] for word in words_of(text)]
        score = {name: self._scores(name, frames) for name in self._names(words)}
        chosen = [0] * len(words)
        best, found = self._search(words, chosen, score, len(frames))
        for k, choices in enumerate(words):
            for other in range(1, len(choices)):
                trial = [*chosen[:k], other, *chosen[k + 1 :]]
                likelihood, times = self._search(words, trial, score, len(frames))
                if likelihood > best:
                    best, found, chosen = likelihood, times, trial
        return found

    def _names(self, words: Sequence[list[list[str]]]) -> set[str]:
        phones = {phone for choices in words for choice in choices for phone in choice}
        return phones | {SILENCE, PAUSE}

    def _scores(self, phone: str, frames: Floats) -> tuple[Floats, Floats]:
        """T x states and states x 2 (stay, leave); of a vowel the best of its three stresses."""
        names = [phone] if phone in self._models else [f"{phone}{k}" for k in range(3)]
        names = [name for name in names if name in self._models]
        per = [
            np.stack([log_likelihood(s, frames) for s in self._models[name]], axis=1)
            for name in names
        ]
        moves = np.array([[s.stay, s.leave] for s in self._models[names[0]]])
        return np.maximum.reduce(per), moves

    @staticmethod
    def _search(
        words: Sequence[list[list[str]]],
        chosen: Sequence[int],
        score: dict[str, tuple[Floats, Floats]],
        count: int,
    ) -> tuple[float, Times]:
        """Viterbi over silence, the phones with optional pauses between words, silence."""
        phones = [SILENCE]
        for choices, which in zip(words, chosen, strict=True):
            phones += [*choices[which], PAUSE]
        phones[-1] = SILENCE
        heard = np.concatenate([score[p][0] for p in phones], axis=1)
        moves = np.concatenate([score[p][1] for p in phones])
        owner = np.repeat(np.arange(len(phones)), [score[p][0].shape[1] for p in phones])
        is_pause = np.array([phones[k] == PAUSE for k in owner])
        # From two states before, over a pause of one state.
        skip = np.where(np.roll(is_pause, 1), np.roll(moves[:, 1], 2), -np.inf)
        skip[:2] = -np.inf
        now = np.full(len(owner), -np.inf)
        now[0] = heard[0, 0]
        back = np.zeros((count, len(owner)), np.int8)
        for t in range(1, count):
            step = np.concatenate([[-np.inf], now[:-1] + moves[:-1, 1]])
            over = np.concatenate([[-np.inf] * 2, now[:-2]]) + skip
            options = np.stack([now + moves[:, 0], step, over])
            back[t] = options.argmax(0)
            now = options.max(0) + heard[t]
        place = len(owner) - 1
        path = np.zeros(count, int)
        for t in range(count - 1, -1, -1):
            path[t] = place
            place -= int(back[t, place])
        spans: Times = []
        held = owner[path]
        for k, phone in enumerate(phones):
            where = np.flatnonzero(held == k)
            if phone not in (SILENCE, PAUSE) and len(where):
                # Frame t looks at the 25 ms around t / 100 + 12.5 ms.
                start, end = where[0] * FRAME_S + 0.0075, (where[-1] + 1) * FRAME_S + 0.0075
                spans.append((US[phone.lower()], float(start), float(end)))
        return float(now[-1]), spans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pyfoal", type=Path)
    parser.add_argument("clips", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    aligner = P2fa(arguments.pyfoal)
    items = []
    for clip in json.loads(arguments.clips.read_text(encoding="utf-8")):
        samples = read_16k(Path(clip["file"]))
        times = aligner.times(samples, clip["text"])
        items.append(
            Utterance(to_int16(samples), tuple(times), "real", Path(clip["file"]).stem, "en")
        )
    print(f"{len(items)} clips, {write_shard(arguments.out, items):.0f} s")


if __name__ == "__main__":
    main()
