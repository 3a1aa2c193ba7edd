"""Times of the sounds of English recordings whose words are known, by pocketsphinx.

`python -m training.lipsync.align CLIPS.json FOLDER` where CLIPS.json lists `[{"file", "text"}]`;
writes one `NAME.alignment.json` a clip. The aligner's English model makes the truth, so figures
against it flatter pocketsphinx.
"""

import argparse
import json
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


def by_pocketsphinx(samples: NDArray[np.float32], text: str) -> Times:
    """Forced alignment of the words, then of their phones."""
    decoder = Decoder(lm=None, loglevel="FATAL")
    words = re.findall(r"[a-z][a-z'-]*", text.lower())
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for clip in json.loads(arguments.clips.read_text(encoding="utf-8")):
        source = Path(clip["file"])
        times = by_pocketsphinx(read_16k(source), clip["text"])
        head = {"file": source.name, "text": clip["text"], "by": BY}
        rows = ",\n".join(
            "  " + json.dumps([ipa, round(a, 3), round(b, 3)], ensure_ascii=False)
            for ipa, a, b in times
        )
        shown = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}")
        path = arguments.folder / f"{source.stem}.alignment.json"
        path.write_text(f'{shown},\n "phonemes": [\n{rows}\n ]\n}}\n', encoding="utf-8")
        print(path.name, len(times), "sounds")


if __name__ == "__main__":
    main()
