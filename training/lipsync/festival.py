"""Speak with festival: diphones and units cut from recordings of people, with segment times.

`python -m training.lipsync.festival TEXTS.json OUT.flac --voice lp_diphone --count 100` needs the
`festival` program and the voice's package (`festvox-italp16k` for that one).
"""

# ruff: noqa: RUF001 - IPA letters look like others by nature

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile

from training.lipsync.corpus import Utterance, write_shard
from training.lipsync.speak import to_16k, trimmed

# Voice -> language of the text, encoding festival wants, name of the phone table.
VOICES = {
    "kal_diphone": ("en-us", "latin-1", "us"), "ked_diphone": ("en-us", "latin-1", "us"),
    "cmu_us_slt_arctic_hts": ("en-us", "latin-1", "us"),
    "lp_diphone": ("it", "latin-1", "it"), "pc_diphone": ("it", "latin-1", "it"),
    "czech_dita": ("cs", "iso8859-2", "cs"), "czech_krb": ("cs", "iso8859-2", "cs"),
    "czech_machac": ("cs", "iso8859-2", "cs"), "czech_ph": ("cs", "iso8859-2", "cs"),
    "suo_fi_lj_diphone": ("fi", "latin-1", "fi"), "hy_fi_mv_diphone": ("fi", "latin-1", "fi"),
    "msu_ru_nsh_clunits": ("ru", "utf-8", "ru"), "upc_ca_ona_hts": ("ca", "latin-1", "ca"),
}  # fmt: skip
SILENCES = frozenset(("pau", "#", "_", "h#", "sil", "brth", "ssil", "SIL"))


def spoken(voice: str, texts: list[str], speed: float) -> Iterator[Utterance]:
    """Speak texts in one festival process; texts it cannot read are skipped."""
    language, encoding, table = VOICES[voice]
    phones = PHONES[table]
    with tempfile.TemporaryDirectory() as folder:
        script = [f"(voice_{voice})", f"(Parameter.set 'Duration_Stretch {1 / speed:.2f})"]
        for k, text in enumerate(texts):
            words = re.sub(r'["\\]', " ", text)
            script.append(
                f'(unwind-protect (begin (set! u (utt.synth (Utterance Text "{words}")))'
                f'(utt.save.wave u "{folder}/{k}.wav" \'riff)'
                f'(utt.save.segs u "{folder}/{k}.seg")) (format t "skipped"))'
            )
        path = Path(folder) / "all.scm"
        path.write_bytes("\n".join(script).encode(encoding, "ignore"))
        subprocess.run(["festival", "-b", str(path)], capture_output=True, check=False)
        for k in range(len(texts)):
            wav, seg = Path(folder) / f"{k}.wav", Path(folder) / f"{k}.seg"
            if not (wav.exists() and seg.exists()):
                continue
            samples, rate_hz = soundfile.read(wav, dtype="float32")
            found = []
            start = 0.0
            for line in seg.read_text(errors="ignore").splitlines():
                parts = line.split()
                if len(parts) != 3:
                    continue
                end, phone = float(parts[0]), parts[2]
                if phone not in SILENCES:
                    found.append((phones.get(phone, phone), start, end))
                start = end
            if len(found) > 3:
                times = trimmed(found, samples, rate_hz)
                yield Utterance(to_16k(samples, rate_hz), times, "festival", voice, language)


US = {
    "aa": "ɑ", "ae": "æ", "ah": "ʌ", "ao": "ɔ", "aw": "aʊ", "ax": "ə", "axr": "ɚ", "ay": "aɪ",
    "b": "b", "ch": "ʧ", "d": "d", "dh": "ð", "dx": "ɾ", "eh": "ɛ", "el": "l", "em": "m",
    "en": "n", "er": "ɝ", "ey": "eɪ", "f": "f", "g": "ɡ", "hh": "h", "hv": "h", "ih": "ɪ",
    "iy": "i", "jh": "ʤ", "k": "k", "l": "l", "m": "m", "n": "n", "nx": "n", "ng": "ŋ", "ow": "oʊ",
    "oy": "ɔɪ", "p": "p", "r": "ɹ", "s": "s", "sh": "ʃ", "t": "t", "th": "θ", "uh": "ʊ", "uw": "u",
    "v": "v", "w": "w", "y": "j", "z": "z", "zh": "ʒ",
}  # fmt: skip
ROMANCE = {
    "a1": "a", "e1": "e", "i1": "i", "o1": "o", "u1": "u", "E": "ɛ", "E1": "ɛ", "O": "ɔ",
    "O1": "ɔ", "J": "ɲ", "L": "ʎ", "S": "ʃ", "Z": "ʒ", "dZ": "ʤ", "dz": "ʣ", "ts": "ʦ", "tS": "ʧ",
    "nf": "ɱ", "ng": "ŋ", "g": "ɡ",
}  # fmt: skip
CZECH = {
    "c": "ʦ", "c~": "ʧ", "ch": "x", "d~": "ɟ", "t~": "c", "n~": "ɲ", "n*": "ŋ", "m*": "ɱ",
    "dz": "ʣ", "dz~": "ʤ", "r~": "r", "r~*": "r", "s~": "ʃ", "z~": "ʒ", "g": "ɡ", "h": "ɦ",
}  # fmt: skip
RUSSIAN = {
    "aa": "a", "ae": "ə", "ay": "ɪ", "a": "ɐ", "c": "ʦ", "ch": "ʧ", "h": "x", "ee": "e", "e": "ɪ",
    "ii": "i", "i": "ɪ", "oo": "o", "sch": "ɕ", "sh": "ʃ", "zh": "ʒ", "uu": "u", "ur": "ʊ",
    "u": "ʊ", "y": "ɨ", "yy": "ɨ", "bb": "b", "dd": "d", "ff": "f", "gg": "ɡ", "g": "ɡ", "kk": "k",
    "ll": "l", "mm": "m", "nn": "n", "pp": "p", "rr": "r", "ss": "s", "tt": "t", "vv": "v",
    "zz": "z", "hh": "x",
}  # fmt: skip
PHONES = {
    "us": US,
    "it": ROMANCE,
    "cs": CZECH,
    "fi": {"@": "æ", "@:": "æ", "7": "ø", "7:": "ø", "N": "ŋ", "N:": "ŋ", "g": "ɡ"},
    "ru": RUSSIAN,
    "ca": ROMANCE | {"ax": "ə", "r": "ɾ", "rr": "r"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--voice", choices=sorted(VOICES), required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    texts = json.loads(arguments.texts.read_text(encoding="utf-8"))[VOICES[arguments.voice][0]]
    rng = np.random.default_rng(arguments.seed)
    lines = [texts[k] for k in rng.permutation(len(texts))[: arguments.count]]
    items = [
        item
        for first in range(0, len(lines), 20)
        for item in spoken(
            arguments.voice, lines[first : first + 20], float(rng.uniform(0.85, 1.3))
        )
    ]
    seconds = write_shard(arguments.out, items)
    letters = sorted({ipa for item in items for ipa, _, _ in item.phonemes})
    print(
        f"{arguments.voice}: {len(items)} utterances, {seconds:.0f} s; sounds: {' '.join(letters)}"
    )


if __name__ == "__main__":
    main()
