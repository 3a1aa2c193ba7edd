"""Recorded people with known words, aligned; what does not align well is left out.

`python -m training.lipsync.recordings prompts SOUNDS TRANSCRIPT OUT.flac --language es` reads the
prompts of the Asterisk telephone system: SOUNDS is the folder of .g722 files (of Debian's
`asterisk-core-sounds-es-g722`), TRANSCRIPT the `core-sounds-es.txt.gz` of
`asterisk-core-sounds-es`.
`... fillets SOUNDS SCRIPTS OUT.flac --language cs` reads the spoken lines of a game: SOUNDS is the
folder `sound` of Debian's `fillets-ng-data-cs` (or `-nl`), SCRIPTS the folder `script` of
`fillets-ng-data`.

English prompts are aligned by pocketsphinx, everything else by our own script aligner, with the
sounds of espeak-ng's voice. ffmpeg decodes G.722.
"""

# The training machine has no pocketsphinx; it aligns the game's lines.
# ruff: noqa: PLC0415

import argparse
import gzip
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from engine.lipsync.align import align
from engine.lipsync.from_audio import Listener
from engine.speech.espeak import EspeakEngine
from training.lipsync.corpus import SAMPLE_RATE_HZ, Utterance, to_int16, write_shard

# A phone longer than this is a slip of the aligner.
LONGEST_S = 0.6
# Of our own aligner: mean score of a clip and of its worst stretch of five sounds (0..1), and its
# confidence as a share of chance. Wrong texts have .5 and more of that.
MIN_SCORE, MIN_STRETCH, MAX_CHANCE_SHARE = 0.5, 0.2, 0.45
LENGTH_S = (0.8, 20.0)
# Languages and the voice of espeak-ng that says what the words sound like.
VOICES = {
    "en": "en-us",
    "es": "es-419",
    "fr": "fr-fr",
    "it": "it",
    "ru": "ru",
    "cs": "cs",
    "nl": "nl",
}


def prompts(sounds: Path, transcript: Path) -> Iterator[tuple[Path, str]]:
    """Files and their words, without those that hold digits, sound effects or abbreviations."""
    with gzip.open(transcript, "rt", encoding="utf-8-sig", errors="ignore") as lines:
        for line in lines:
            name, _, text = line.strip().partition(": ")
            odd = re.search(r"[0-9\[\]()<>*#/@]|[A-Z]{2,}", text)
            path = sounds / f"{name}.g722"
            if text and not line.startswith(";") and not odd and path.exists():
                yield path, text


def game_lines(sounds: Path, scripts: Path, language: str) -> Iterator[tuple[Path, str]]:
    """Files and their words; a line of the script belongs to the sound of the same name."""
    spoken = {(path.parts[-3], path.stem): path for path in sounds.glob(f"*/{language}/*.ogg")}
    wanted = r'dialogId\("([^"]+)",[^\n]*\)\s*dialogStr\("((?:[^"\\]|\\.)*)"\)'
    for script in sorted(scripts.glob(f"*/dialogs_{language}.lua")):
        content = script.read_text(encoding="utf-8", errors="ignore")
        for name, text in re.findall(wanted, content):
            path = spoken.get((script.parent.name, name))
            if path and not re.search(r"[0-9<>*#/@%\\]", text):
                yield path, text


def decoded(path: Path) -> NDArray[np.float32]:
    """A sound file as 16 kHz floats."""
    if path.suffix != ".g722":
        samples, rate_hz = soundfile.read(path, dtype="float32", always_2d=True)
        mono = np.ascontiguousarray(samples.mean(axis=1))
        return np.asarray(soxr.resample(mono, rate_hz, SAMPLE_RATE_HZ), np.float32)
    command = ["ffmpeg", "-v", "error", "-f", "g722", "-i", str(path), "-f", "f32le"]
    raw = subprocess.run([*command, "-ar", "16000", "-"], capture_output=True, check=True).stdout
    return np.frombuffer(raw, np.float32)


class PocketsphinxAligner:
    """An English recogniser's model; knows the words of its dictionary."""

    def times(self, samples: NDArray[np.float32], text: str) -> list[tuple[str, float, float]]:
        from training.lipsync.align import by_pocketsphinx

        try:
            return by_pocketsphinx(samples, text)
        except (KeyError, RuntimeError):
            return []  # a word the dictionary does not have, or no alignment

    def close(self) -> None:
        """Nothing is held."""


class ScriptAligner:
    """Our own aligner: what the net hears against what espeak-ng would say."""

    def __init__(self, language: str) -> None:
        self._listener = Listener()
        self._espeak = EspeakEngine()
        self._language = language

    def times(self, samples: NDArray[np.float32], text: str) -> list[tuple[str, float, float]]:
        """Sounds of the words; none where the words are not heard all along."""
        tag = VOICES[self._language]
        spoken = self._espeak.speak(text, f"espeak:{tag}", tag, 1.0)
        found = align(spoken, self._listener.listen(samples))
        if found is None or found.confidence < MAX_CHANCE_SHARE * found.chance:
            return []
        scores = np.array(found.scores)
        width = min(5, len(scores))
        stretches = np.convolve(scores, np.ones(width) / width, mode="valid")
        if scores.mean() < MIN_SCORE or stretches.min() < MIN_STRETCH:
            return []
        return [(p.ipa, p.start_s, p.end_s) for p in found.phonemes]

    def close(self) -> None:
        self._espeak.unload()


def aligned(
    lines: list[tuple[Path, str]], language: str, aligner: ScriptAligner | PocketsphinxAligner
) -> Iterator[Utterance]:
    """Every line that aligns well."""
    for path, text in lines:
        samples = decoded(path)
        if not LENGTH_S[0] <= len(samples) / SAMPLE_RATE_HZ <= LENGTH_S[1]:
            continue
        times = aligner.times(samples, text)
        if len(times) >= 4 and max(b - a for _, a, b in times) < LONGEST_S:
            source = "english" if language == "en" else "recording"
            yield Utterance(to_int16(samples), tuple(times), source, path.parent.name, language)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("prompts", "fillets"))
    parser.add_argument("sounds", type=Path)
    parser.add_argument("words", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--language", choices=sorted(VOICES), default="en")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help="k n: every n-th line")
    arguments = parser.parse_args()
    if arguments.kind == "prompts":
        lines = list(prompts(arguments.sounds, arguments.words))
    else:
        lines = list(game_lines(arguments.sounds, arguments.words, arguments.language))
    first, step = arguments.part
    lines = lines[first::step]
    is_ours = arguments.kind == "fillets" or arguments.language != "en"
    aligner = ScriptAligner(arguments.language) if is_ours else PocketsphinxAligner()
    items = list(aligned(lines, arguments.language, aligner))
    aligner.close()
    seconds = write_shard(arguments.out, items)
    print(f"{len(items)} of {len(lines)} lines, {seconds:.0f} s")


if __name__ == "__main__":
    main()
