"""Forced alignment: when each sound of a known text is spoken in a recording.

Owns the scores (what the listening net heard, how long sounds last) and the judgement whether
the text belongs to the recording at all. What the text sounds like, and roughly how long each
sound lasts, comes from a voice that spoke it.
"""

import itertools
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.lipsync.curves import CURVE_RATE_HZ, VISEMES, MouthCurves
from engine.lipsync.segment_search import LONGEST_FRAMES, Chain, search
from engine.lipsync.visemes import MouthTarget, targets_of
from engine.speech.voice import SpokenClip, TimedPhoneme, TimedWord

# Of a net's score only this much counts: neighbouring frames say much the same, and the net is
# surer than it is right.
_SCORE_WEIGHT = 0.5
_LOWEST_SCORE = -4.0  # of one frame; one loud surprise must not outweigh a word

# Lengths spread like a log-normal around the voice's: two thirds lie within a factor of 1.65.
_LENGTH_SIGMA = 0.5
_LENGTH_WEIGHT = 0.5
_SHORTEST_VOWEL, _SHORTEST_CONSONANT = 2, 1  # frames of 20 ms
_VOWELS = frozenset({"aa", "E", "ih", "oh", "ou"})
_PAUSE_SCORE = -2.0  # of a pause between two words where the voice makes none
_PAUSE_S = 0.1  # from this gap on the voice has made one
_PRIOR_FLOOR = 0.01  # a viseme heard in less than 1 % of the recording is not scored up further

# Speech that the text lacks may lie in a pause as well, for this much a frame: hardly more than
# the lowest score. From -1.6 on sounds of the text that are heard badly begin to fall into pauses.
_FOREIGN_SCORE = -1.8

# Nobody speaks three times as fast or as slow as the voice does.
_RATES = (1 / 3, 3.0)

# A text belongs to a recording when its ratio is less than this share of the one by chance. Of 18
# right texts in six languages, with noise and with music, the worst has .48 of it; of 158 wrong
# ones of a length that could be, the best has .57.
BELONGS_SHARE = 0.53
_CHANCE_FRAMES = 60 * CURVE_RATE_HZ  # a minute is enough to tell

# Words that nobody says are squeezed in somewhere: a dozen sounds in a row are then both shorter
# and worse heard than any that are said. In three recordings no dozen of right texts is below
# .05 s a sound or a score of .39; of texts with a third or more that is not said one is at .035 s
# and .19.
_DOZEN = 12
_SQUEEZED_S = 0.045
_BADLY_HEARD = 0.3

_SIL = VISEMES.index("sil")


@dataclass(frozen=True)
class Alignment:
    """A text on the clock of a recording.

    Attributes:
        words: as typed.
        phonemes: in order, pauses left out.
        scores: one a phoneme, 0 (not heard there) .. 1 (nothing fits better).
        confidence: mean log ratio a frame of what the text wants against the best viseme that
            could be there; 0 = heard as written, more negative = less.
        chance: the same for the text's sounds in reverse order: about what a wrong text reaches
            in this recording, be it clear or noisy.
    """

    words: tuple[TimedWord, ...]
    phonemes: tuple[TimedPhoneme, ...]
    scores: tuple[float, ...]
    confidence: float
    chance: float

    @property
    def has_unsaid_words(self) -> bool:
        """Whether some of the text, three words or more, is nowhere in the recording."""
        if len(self.scores) < _DOZEN:
            return False
        lengths_s = np.array([sound.end_s - sound.start_s for sound in self.phonemes])
        even = np.full(_DOZEN, 1 / _DOZEN)
        is_squeezed = np.convolve(lengths_s, even, "valid") < _SQUEEZED_S
        is_badly_heard = np.convolve(self.scores, even, "valid") < _BADLY_HEARD
        return bool((is_squeezed & is_badly_heard).any())

    @property
    def belongs(self) -> bool:
        """Whether the text is what is said in the recording."""
        return self.confidence > BELONGS_SHARE * self.chance


@dataclass(frozen=True)
class _Part:
    """One mouth target of one phoneme; `pause_score` is of silence before it, None = never."""

    target: MouthTarget
    phoneme: int
    frames: float
    pause_score: float | None


def align(spoken: SpokenClip, heard: MouthCurves) -> Alignment | None:
    """Find a text in a recording.

    Args:
        spoken: the text from any voice; its sounds and their relative lengths are used.
        heard: what the listening net made of the recording, 50 Hz.

    Returns:
        The times, or None when the text is far too long or too short for the recording.
    """
    parts = _parts_of(spoken)
    speech_frames = float((heard.speaking > 0.5).sum())
    if not parts or not speech_frames:
        return None
    rate = speech_frames / sum(part.frames for part in parts)
    if not _RATES[0] <= rate <= _RATES[1]:
        return None
    scores = _scores_of(heard)
    spans = _search(parts, rate, scores)
    if spans is None:
        return None
    ratios = _ratios(parts, spans, scores)
    confidence = float(np.average(ratios, weights=spans[:, 1] - spans[:, 0]))
    chance = _chance(parts, spans, rate, scores)
    # Judged is a text that must be all that is said; timed is one that may lack words.
    spans = _search(parts, rate, scores, _FOREIGN_SCORE)
    if spans is None:
        return None
    ratios = _ratios(parts, spans, scores)
    phonemes, own = _phonemes_of(spoken, parts, spans, ratios)
    return Alignment(
        words=_words_of(spoken, phonemes),
        phonemes=tuple(phonemes),
        scores=tuple(own),
        confidence=confidence,
        chance=chance,
    )


def _parts_of(spoken: SpokenClip) -> list[_Part]:
    starts = {word.start_s for word in spoken.words}
    parts: list[_Part] = []
    before_s = 0.0
    for index, phoneme in enumerate(spoken.phonemes):
        targets = targets_of(phoneme.ipa)
        pause_score = None
        if phoneme.start_s in starts:
            pause_score = 0.0 if phoneme.start_s - before_s >= _PAUSE_S else _PAUSE_SCORE
        for target in targets:
            frames = (phoneme.end_s - phoneme.start_s) / len(targets) * CURVE_RATE_HZ
            parts.append(_Part(target, index, max(frames, 1.0), pause_score))
            pause_score = None
        before_s = phoneme.end_s
    return parts


def _scores_of(heard: MouthCurves) -> NDArray[np.float32]:
    """T x 15: how much more each viseme is heard than it is on the average."""
    posteriors = np.maximum(heard.posteriors, 1e-6)
    prior = np.maximum(posteriors.mean(axis=0), _PRIOR_FLOOR)
    scores = np.log(posteriors) - np.log(prior)
    best = scores.max(axis=1, keepdims=True)
    return np.asarray(np.maximum(scores - best, _LOWEST_SCORE) * _SCORE_WEIGHT, np.float32)


def _search(
    parts: Sequence[_Part],
    rate: float,
    scores: NDArray[np.float32],
    foreign_score: float = -np.inf,
) -> NDArray[np.int64] | None:
    """Lay the sounds over the frames; a pause is silence, or anything for `foreign_score`."""
    chain = Chain(
        column=np.array([part.target.index for part in parts], np.int64),
        length_score=_length_scores(parts, rate),
        pause_score=np.array(
            [-np.inf if part.pause_score is None else part.pause_score for part in parts]
        ),
    )
    pauses = np.maximum(scores[:, _SIL], np.float32(foreign_score))
    return search(chain, scores, pauses)


def _length_scores(parts: Sequence[_Part], rate: float) -> NDArray[np.float32]:
    """N x `LONGEST_FRAMES`: log of how usual a length is."""
    lengths = np.arange(1, LONGEST_FRAMES + 1)
    wanted = np.array([part.frames * rate for part in parts])
    surprise = np.log(lengths[None] / wanted[:, None]) / _LENGTH_SIGMA
    table = -0.5 * _LENGTH_WEIGHT * surprise**2
    shortest = [
        _SHORTEST_VOWEL if part.target.viseme in _VOWELS else _SHORTEST_CONSONANT for part in parts
    ]
    table[lengths[None] < np.array(shortest)[:, None]] = -1e6
    return np.asarray(table, np.float32)


def _ratios(
    parts: Sequence[_Part], spans: NDArray[np.int64], scores: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Mean score a frame of each part; the best viseme of a frame scores 0."""
    columns = [part.target.index for part in parts]
    return np.array(
        [
            scores[first:last, column].mean()
            for column, (first, last) in zip(columns, spans, strict=True)
        ]
    )


def _chance(
    parts: Sequence[_Part], spans: NDArray[np.int64], rate: float, scores: NDArray[np.float32]
) -> float:
    """Mean ratio of sounds that nobody said: those of the first minute, in reverse order.

    Each sound counts alike: a chain that does not fit gives most frames to what happens to fit.
    """
    count = max(int((spans[:, 1] <= _CHANCE_FRAMES).sum()), 1)
    backwards, part_of = parts[:count][::-1], scores[: spans[count - 1, 1]]
    found = _search(backwards, rate, part_of)
    if found is None:  # they do not even fit
        return _LOWEST_SCORE * _SCORE_WEIGHT
    return float(_ratios(backwards, found, part_of).mean())


def _phonemes_of(
    spoken: SpokenClip,
    parts: Sequence[_Part],
    spans: NDArray[np.int64],
    ratios: NDArray[np.float64],
) -> tuple[list[TimedPhoneme], list[float]]:
    """Each phoneme over all of its parts, and how well it is heard."""
    # Frame i looks at the sound around i / 50 s, so a border lies half a frame before it.
    edges = np.maximum(spans - 0.5, 0.0) / CURVE_RATE_HZ
    numbered = enumerate(parts)
    phonemes, scores = [], []
    for index, group in itertools.groupby(numbered, key=lambda entry: entry[1].phoneme):
        own = [number for number, _ in group]
        start_s, end_s = float(edges[own[0], 0]), float(edges[own[-1], 1])
        phonemes.append(replace(spoken.phonemes[index], start_s=start_s, end_s=end_s))
        scores.append(float(np.exp(ratios[own].mean() / _SCORE_WEIGHT)))
    return phonemes, scores


def _words_of(spoken: SpokenClip, phonemes: Sequence[TimedPhoneme]) -> tuple[TimedWord, ...]:
    """The words from the first to the last of their sounds."""
    begins = [voiced.start_s for voiced in spoken.phonemes if targets_of(voiced.ipa)]
    words = []
    for word in spoken.words:
        own = phonemes[bisect_left(begins, word.start_s) : bisect_left(begins, word.end_s)]
        if own:
            words.append(TimedWord(word.text, own[0].start_s, own[-1].end_s))
    return tuple(words)
