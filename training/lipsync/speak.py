"""Speak the sentences with engines that know their phoneme times; many processes, one deadline.

`python -m training.lipsync.speak TEXTS.json OUT --engine espeak|hibari|kokoro --seconds 3600`

* espeak-ng: exact times, any language, about a hundred colours of voice.
* hibari and Kokoro: natural voices; their graphs get the hidden duration tensor as an output. Both
  run 50 ms late against the sound, so the times are moved.
"""

# IPA letters look like others by nature; each engine is imported only where it speaks.
# ruff: noqa: RUF001, PLC0415

import argparse
import base64
import json
import os
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from training.lipsync.corpus import SAMPLE_RATE_HZ, Utterance, to_int16, write_shard
from training.lipsync.texts import HELD_OUT

Phonemes = tuple[tuple[str, float, float], ...]

KOKORO_LATE_S = 0.05
UNIT_S = 0.025  # one duration unit of the Kokoro family: 600 samples at 24 kHz
SILENT_MARKS = frozenset('.,!?;:…—“”"() ')
STRESS = frozenset("ˈˌ")
LENGTHENING = frozenset("ːʰʲ\u0303→↗↘↓")
VARIANTS = (
    [f"m{k}" for k in range(1, 9)] + [f"f{k}" for k in range(1, 6)]
    + ["klatt", "klatt2", "klatt3", "klatt4", "klatt5", "klatt6", "croak", "whisper", "whisperf"]
    + ["Andrea", "Andy", "Annie", "Denis", "Diogo", "Gene", "Gene2", "Henrique", "Hugo", "Jacky"]
    + ["Lee", "Marco", "Mario", "Michael", "Mike", "Nguyen", "Reed", "Storm", "Tweaky", "UniRobot"]
    + ["Adam", "AnxiousAndy", "Alex", "Alicia", "announcer", "aunty", "belinda", "benjamin"]
    + ["boris", "caleb", "david", "ed", "edward", "edward2", "grandma", "grandpa", "iven", "iven2"]
    + ["john", "kaukovalta", "linda", "max", "marcelo", "norbert", "pablo", "paul", "pedro"]
    + ["quincy", "rob", "robert", "steph", "steph2", "steph3", "travis", "victor", "zac"]
)  # fmt: skip
# Kokoro voices by accent, and the espeak-ng voice that reads for it. Portuguese and Hindi voices
# are held out; Japanese and Chinese ones read English and Spanish, for their timbre alone.
KOKORO_READERS = {
    "a": ("en-us", "en-us", "en-us", "en-us", "es", "fr", "it", "de"),
    "b": ("en", "en", "en", "en-us", "de"),
    "e": ("es",), "f": ("fr",), "i": ("it",), "j": ("en-us", "es", "it"),
    "z": ("en-us", "es", "it"),
}  # fmt: skip
E2K = (
    ("a͡ɪ", "I"), ("aɪ", "I"), ("aʊ", "W"), ("dʒ", "ʤ"), ("eɪ", "A"), ("oʊ", "O"), ("əʊ", "Q"),
    ("tʃ", "ʧ"), ("ɔɪ", "Y"), ("ts", "ʦ"), ("dz", "ʣ"), ("ɚ", "əɹ"), ("ɐ", "ə"), ("r", "ɹ"),
    ("ɜː", "ɜɹ"), ("ɹɹ", "ɹ"), ("g", "ɡ"),
)  # fmt: skip


def espeak_utterances(texts: dict[str, list[str]], seed: int) -> Iterator[Utterance]:
    """Endless: a language, a colour of voice, a rate and a pitch by lot."""
    from engine.speech.espeak_process import Espeak

    espeak = Espeak()
    rng = np.random.default_rng(seed)
    tags = [tag for tag in texts if tag not in HELD_OUT]
    weight = np.array([3.0 if tag in ("en-us", "en") else 1.0 for tag in tags])
    while True:
        tag = tags[rng.choice(len(tags), p=weight / weight.sum())]
        variant = str(rng.choice(VARIANTS)) if rng.random() < 0.9 else ""
        text = texts[tag][rng.integers(len(texts[tag]))]
        item = espeak_utterance(espeak, text, tag, variant, rng)
        if item is not None:
            yield item


def espeak_utterance(
    espeak: object, text: str, tag: str, variant: str, rng: np.random.Generator
) -> Utterance | None:
    """One sentence; None when the library does not know the voice or says nothing."""
    answer = espeak.speak(  # type: ignore[attr-defined]
        text, tag + (f"+{variant}" if variant else ""),
        int(rng.integers(110, 240)), int(rng.integers(15, 86)), int(rng.integers(20, 90)),
    )  # fmt: skip
    if answer["type"] != "spoken":
        return None
    pcm = np.frombuffer(base64.b64decode(answer["pcm"]), "<i2").astype(np.float32) / 32768.0
    rate_hz = answer["sample_rate_hz"]
    phonemes = espeak_phonemes(answer["events"], rate_hz)
    if len(phonemes) < 4:
        return None
    return Utterance(to_16k(pcm, rate_hz), phonemes, "espeak", variant, tag)


def espeak_phonemes(events: list[tuple[str, object, int]], rate_hz: int) -> Phonemes:
    """Each sound lasts until the next sound or pause; marks lengthen the sound before."""
    from engine.speech.ipa import clean_ipa

    marks = [(str(name), sample / rate_hz) for kind, name, sample in events if kind == "p"]
    made: list[tuple[str, float, float]] = []
    for (name, start), (_, end) in pairwise(marks):
        ipa = clean_ipa(name)
        if ipa and end > start:
            made.append((ipa, start, end))
        elif name and not name.startswith("(") and made and end > start:
            made[-1] = (made[-1][0], made[-1][1], end)
    return tuple(made)


class KokoroFamily:
    """hibari and Kokoro: token ids in, sound and one duration a token out."""

    def __init__(self, model: bytes, hidden: str) -> None:
        import onnx
        import onnxruntime

        graph = onnx.load_model_from_string(model)
        graph.graph.output.append(onnx.ValueInfoProto(name=hidden))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(
            graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )

    def run(self, feeds: dict[str, NDArray[np.generic]]) -> list[NDArray[np.float32]]:
        return self.session.run(None, feeds)


def durations_to_phonemes(
    tokens: str, units: NDArray[np.float32], samples: NDArray[np.float32], rate_hz: int
) -> Phonemes:
    """Tokens with their length in units of 25 ms -> phonemes against the sound.

    Args:
        tokens: one letter a token, without the pads.
        units: one duration for each token and both pads.
        samples: the sound, to tell a pause from a joint between words.
        rate_hz: of `samples`.
    """
    ends = np.cumsum(units) * UNIT_S - KOKORO_LATE_S
    starts = ends - units * UNIT_S
    made: list[tuple[str, float, float]] = []
    carried: float | None = None  # a stress mark's time belongs to the sound behind it
    for letter, start, end in zip(tokens, starts[1:-1], ends[1:-1], strict=True):
        if end <= start:
            continue
        if letter in STRESS:
            carried = start if carried is None else carried
        elif letter in LENGTHENING and made:
            made[-1] = (made[-1][0], made[-1][1], end)
        elif letter in SILENT_MARKS:
            carried = None
            if made:
                sounding = sounding_until(samples, rate_hz, start, end)
                if sounding >= end and letter == " ":  # no pause: both neighbours share the joint
                    carried = sounding = 0.5 * (start + end)
                made[-1] = (made[-1][0], made[-1][1], min(sounding, start + 0.15))
        else:
            made.append((letter, start if carried is None else carried, end))
            carried = None
    return trimmed(
        [(ipa, max(float(a), 0.0), float(b)) for ipa, a, b in made if b > 0], samples, rate_hz
    )


def trimmed(
    phonemes: list[tuple[str, float, float]], samples: NDArray[np.float32], rate_hz: int
) -> Phonemes:
    """Cut the silence out of sounds that end a phrase: engines draw them into the pause."""
    made = []
    for k, (ipa, start, end) in enumerate(phonemes):
        following = phonemes[k + 1][1] if k + 1 < len(phonemes) else np.inf
        if following - end >= 0.06:
            heard = sounding_until(samples, rate_hz, start + 0.04, end)
            made.append((ipa, start, heard if end - start > 0.05 else end))
        else:
            made.append((ipa, start, end))
    return tuple(made)


def sounding_until(
    samples: NDArray[np.float32], rate_hz: int, start_s: float, end_s: float
) -> float:
    """When the sound first falls 30 dB under the loud parts within a gap; its end if never."""
    hop = rate_hz // 100
    loud = np.sqrt(np.mean(np.square(samples))) * 1.8
    for k in range(int(start_s * 100), int(end_s * 100)):
        piece = samples[k * hop : (k + 1) * hop]
        if len(piece) == 0 or np.sqrt(np.mean(np.square(piece))) < loud * 10 ** (-30 / 20):
            return max(k / 100, start_s)
    return end_s


def hibari_utterances(texts: dict[str, list[str]], seed: int) -> Iterator[Utterance]:
    """Endless: the one voice of the hibari package at several speeds."""
    import hibari

    voice = hibari.Hibari()
    model = KokoroFamily(Path(voice.model_path).read_bytes(), "/Clip_output_0")
    rng = np.random.default_rng(seed)
    while True:
        text = texts["en-us"][rng.integers(len(texts["en-us"]))]
        for line in voice.phonemize(text):
            tokens = "".join(letter for letter in line if letter in voice.vocab)
            ids = np.array([voice.ids(line)], np.int64)
            speed = np.array([rng.uniform(0.75, 1.35)], np.float32)
            lh, theta, ln, lr, phi, f0, units = model.run({"ids": ids, "speed": speed})
            sound = hibari.dsp.synth(lh[0], theta[0], ln[0], lr[0], phi[0], f0[0], rng)
            phonemes = durations_to_phonemes(tokens, units.reshape(-1), sound, 24_000)
            yield Utterance(to_16k(sound, 24_000), phonemes, "hibari", "heart", "en-us")


def kokoro_utterances(
    texts: dict[str, list[str]], seed: int, model_path: Path, voices: dict[str, NDArray[np.float32]]
) -> Iterator[Utterance]:
    """Endless: a voice, or two of one accent mixed, reads a sentence."""
    from engine.speech.espeak_process import Espeak

    espeak = Espeak()
    model = KokoroFamily(model_path.read_bytes(), "/encoder/Round_output_0")
    vocabulary = json.loads((model_path.parent / "kokoro_vocab.json").read_text())["vocab"]
    rng = np.random.default_rng(seed)
    names = sorted(name for name in voices if name[0] in KOKORO_READERS)
    weight = np.array([{"a": 2.0, "b": 2.0, "j": 0.5, "z": 0.6}.get(n[0], 3.0) for n in names])
    while True:
        name = names[rng.choice(len(names), p=weight / weight.sum())]
        style = voices[name].astype(np.float32)
        if rng.random() < 0.5:
            other = str(rng.choice([n for n in names if n[0] in "ab"]))
            share = rng.uniform(0.0, 0.5)
            style = style * (1 - share) + voices[other].astype(np.float32) * share
            name = f"{name}+{other}"
        reader = str(rng.choice(KOKORO_READERS[name[0]]))
        lines = texts[reader]
        answer = espeak.speak(lines[rng.integers(len(lines))], reader, 175, 50, 50)
        tokens = kokoro_tokens(answer, reader, vocabulary)
        if not 8 <= len(tokens) <= 200:
            continue
        sound, units = model.run(
            {
                "tokens": np.array([[0, *(vocabulary[t] for t in tokens), 0]], np.int64),
                "style": style[len(tokens)].reshape(1, 256),
                "speed": np.array([rng.uniform(0.75, 1.3)], np.float32),
            }
        )
        sound = sound.reshape(-1)
        phonemes = durations_to_phonemes(tokens, units.reshape(-1), sound, 24_000)
        yield Utterance(to_16k(sound, 24_000), phonemes, "kokoro", name, reader)


def kokoro_tokens(answer: dict[str, object], reader: str, vocabulary: dict[str, int]) -> str:
    """espeak-ng's sounds of a sentence in Kokoro's alphabet, with spaces between words."""
    spelled = ""
    for kind, value, _ in answer["events"]:  # type: ignore[attr-defined]
        if kind == "w":
            spelled = spelled.rstrip() + " "
        elif str(value).startswith("("):
            continue
        else:
            spelled += str(value)
    spelled = spelled.replace("_:", ", ").replace("_", "").strip()
    for old, new in E2K:
        if reader.startswith("en") or old not in ("ɐ", "r", "ɚ", "ɜː"):
            spelled = spelled.replace(old, new)
    return "".join(letter for letter in spelled if letter in vocabulary).strip(" ,") + "."


def to_16k(samples: NDArray[np.float32], rate_hz: int) -> NDArray[np.int16]:
    return to_int16(soxr.resample(samples, rate_hz, SAMPLE_RATE_HZ).astype(np.float32))


def work(job: tuple[argparse.Namespace, int]) -> float:
    """One process: speak until its share or the deadline is reached, then write its shard."""
    arguments, rank = job
    os.environ["OMP_NUM_THREADS"] = "1"
    texts = json.loads(arguments.texts.read_text(encoding="utf-8"))
    seed = arguments.seed * 1000 + rank
    if arguments.engine == "kokoro":
        with np.load(arguments.voices) as kept:
            voices = {name: kept[name] for name in kept.files}
        source: Iterator[Utterance] = kokoro_utterances(texts, seed, arguments.model, voices)
    else:
        makers: dict[str, Callable[..., Iterator[Utterance]]] = {
            "espeak": espeak_utterances, "hibari": hibari_utterances,
        }  # fmt: skip
        source = makers[arguments.engine](texts, seed)
    deadline = time.monotonic() + arguments.deadline
    items: list[Utterance] = []
    seconds = total = 0.0
    part = 0
    for item in source:
        items.append(item)
        seconds += item.duration_s
        finished = total + seconds >= arguments.seconds / arguments.workers
        finished = finished or time.monotonic() > deadline
        if finished or seconds > arguments.shard_seconds:
            path = arguments.out / f"{arguments.engine}-{rank:02d}-{part:03d}{arguments.suffix}"
            write_shard(path, items)
            items, total, seconds, part = [], total + seconds, 0.0, part + 1
        if finished:
            break
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--engine", choices=("espeak", "hibari", "kokoro"), required=True)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--deadline", type=float, default=1e9, help="seconds from now")
    parser.add_argument("--shard-seconds", type=float, default=1800.0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suffix", default=".flac")
    parser.add_argument("--model", type=Path, help="Kokoro's int8 ONNX graph")
    parser.add_argument("--voices", type=Path, help="npz: voice name -> rows x 256")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    jobs = [(arguments, rank) for rank in range(arguments.workers)]
    with get_context("spawn").Pool(arguments.workers) as pool:
        seconds = sum(pool.imap_unordered(work, jobs))
    print(f"{arguments.engine}: {seconds:.0f} s spoken in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
