"""Times of the sounds of English recordings whose words are known, by pocketsphinx.

The aligner's English model makes them, so figures against them flatter pocketsphinx; the truth of
the benchmarks takes a second aligner as well (`training.lipsync.true_times`).
"""

import re
from pathlib import Path

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray
from pocketsphinx import Decoder

from training.lipsync.corpus import SAMPLE_RATE_HZ
from training.lipsync.festival import US

# Words of the test clips that pocketsphinx's dictionary does not have.
EXTRA_WORDS = {
    "dashwood": "D AE SH W UH D", "ill-disposed": "IH L D IH S P OW Z D", "narrow-minded":
    "N EH R OW M AY N D IH D", "cold-hearted": "K OW L D HH AA R T IH D",
}  # fmt: skip
FILLERS = frozenset(("SIL", "+NSN+", "+SPN+", "(NULL)"))
BY = "pocketsphinx 5.1.1 (its en-us model), forced alignment of the known text"

Times = list[tuple[str, float, float]]


def read_16k(path: Path) -> NDArray[np.float32]:
    """A recording as 16 kHz mono."""
    samples, rate_hz = soundfile.read(path, dtype="float32", always_2d=True)
    mono = samples.mean(axis=1)
    return mono if rate_hz == SAMPLE_RATE_HZ else soxr.resample(mono, rate_hz, SAMPLE_RATE_HZ)


def words_of(text: str) -> list[str]:
    """The words of an English text as dictionaries spell them."""
    return re.findall(r"[a-z][a-z'-]*", text.lower())


def by_pocketsphinx(samples: NDArray[np.float32], text: str) -> Times:
    """Forced alignment of the words, then of their phones."""
    decoder = Decoder(lm=None, loglevel="FATAL")
    words = words_of(text)
    for word in words:
        if decoder.lookup_word(word) is None:
            decoder.add_word(word, EXTRA_WORDS[word], True)
    pcm = (np.clip(samples, -1, 1) * 32767).astype(np.int16).tobytes()
    decoder.set_align_text(" ".join(words))
    decoder.start_utt()
    decoder.process_raw(pcm, full_utt=True)
    decoder.end_utt()
    if not decoder.hyp():
        return []
    # A second pass over the words found, now down to their phones.
    decoder.set_alignment()
    decoder.start_utt()
    decoder.process_raw(pcm, full_utt=True)
    decoder.end_utt()
    found: Times = []
    for word in decoder.get_alignment():
        for phone in word:
            if phone.name not in FILLERS:
                start, end = phone.start / 100.0, (phone.start + phone.duration) / 100.0
                found.append((US[phone.name.lower()], start, end))
    return found
