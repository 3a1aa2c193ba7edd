"""How well the mouth follows speech: our net beside other ways to hear mouth shapes.

`python -m benchmarks.lipsync [--clips FOLDER] [--conditions] [--headaudio FOLDER]` prints a table
and names the machine; `benchmarks.lipsync_peers` says where the other methods come from.

The clips' FOLDER holds held-out clips as `training.lipsync.held_out`, `.festival` and `.p2fa` write
them (one set a shard). Without it two sets are made on the spot: espeak-ng in six languages nobody
was trained on, and the three recordings in tests/data whose times pocketsphinx aligned from the
known words - which flatters pocketsphinx's own row there.
"""

# Greek letters are meant; the voice is imported where it speaks.
# ruff: noqa: RUF001, PLC0415

import argparse
import base64
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray
from scipy.signal import fftconvolve

from benchmarks.lipsync_peers import Method, peers
from engine.lipsync.from_audio import LIPSYNC_MODEL, Listener
from engine.machine import usable_cores
from training.lipsync.corpus import SAMPLE_RATE_HZ, Utterance, read_shard, shards_in, to_int16
from training.lipsync.metrics import Heard, closure_of, scores, truth_of
from training.lipsync.speak import espeak_phonemes

SPEECH = Path(__file__).resolve().parents[1] / "tests" / "data" / "speech"
SENTENCES = {
    "pt": "O primeiro barco partiu de manhã, mas ninguém sabia para onde ele ia.",
    "tr": "Bugün hava çok güzel, bu yüzden parka gidip biraz yürümek istiyoruz.",
    "el": "Το πρωί πίνω πάντα έναν καφέ και μετά πηγαίνω με τα πόδια στη δουλειά.",
    "hi": "मुझे पुरानी किताबें पढ़ना और बारिश में बाहर घूमना बहुत पसंद है।",
    "id": "Besok pagi kami pergi ke pasar untuk membeli sayur dan buah segar.",
    "fi": "Huomenna menemme metsään poimimaan marjoja, jos ilma on hyvä.",
}


def made_here() -> dict[str, list[Utterance]]:
    """Two small held-out sets that need nothing beside this repository."""
    from engine.speech.espeak_process import Espeak

    espeak = Espeak()
    robots = []
    for tag, text in SENTENCES.items():
        for variant, rate, pitch in (("", 160, 45), ("+f2", 190, 60)):
            answer = espeak.speak(text, tag + variant, rate, pitch, 50)
            pcm = np.frombuffer(base64.b64decode(answer["pcm"]), "<i2") / np.float32(32768)
            sound = soxr.resample(pcm, answer["sample_rate_hz"], SAMPLE_RATE_HZ)
            times = espeak_phonemes(answer["events"], answer["sample_rate_hz"])
            robots.append(Utterance(to_int16(sound), times, "espeak", variant, tag))
    people = []
    for path in sorted(SPEECH.glob("*.alignment.json")):
        known = json.loads(path.read_text(encoding="utf-8"))
        sound, _ = soundfile.read(SPEECH / known["file"], dtype="float32")
        times = tuple((p[0], p[1], p[2]) for p in known["phonemes"])
        people.append(Utterance(to_int16(sound), times, "real", path.stem, "en"))
    return {"espeak_ho": robots, "real_en": people}


def by_net(model: Path) -> Method:
    """A net alone: posteriors, regressed jaw, smoothed p(PP)."""
    listener = Listener(model)

    def hear(samples: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
        count = len(samples) // 320 + 1
        posteriors, values = listener._run(samples, count)
        return posteriors, values[:, 0], closure_of(posteriors)

    return hear  # type: ignore[return-value]


def by_product(model: Path) -> Method:
    """What the animator gets: jaw and closure after the gates and gestures."""
    listener = Listener(model)

    def hear(samples: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
        curves = listener.listen(samples)
        return curves.posteriors, curves.jaw, curves.close

    return hear  # type: ignore[return-value]


def room(samples: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """RT60 of .6 s with early reflections, direct sound as strong as the rest."""
    time_s = np.arange(int(0.7 * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
    tail = rng.normal(size=len(time_s)) * np.exp(-6.9 * time_s / 0.6)
    tail[:80] = 0.0
    tail *= 1.0 / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    return fftconvolve(samples, tail)[: len(samples)].astype(np.float32)


def with_noise(
    samples: NDArray[np.float32], noise: NDArray[np.float64], snr_db: float
) -> NDArray[np.float32]:
    active = samples[np.abs(samples) > 0.01 * np.abs(samples).max()]
    gain = np.sqrt(np.mean(active**2) / np.mean(noise**2)) * 10 ** (-snr_db / 20)
    return (samples + noise * gain).astype(np.float32)


def pink(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    spectrum = np.fft.rfft(rng.normal(size=count))
    return np.fft.irfft(spectrum / np.sqrt(np.maximum(np.arange(len(spectrum)), 1)), count)


def band(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    spectrum = np.fft.rfft(samples)
    hz = np.fft.rfftfreq(len(samples), 1 / SAMPLE_RATE_HZ)
    return np.fft.irfft(spectrum * ((hz > 300) & (hz < 3400)), len(samples)).astype(np.float32)


def babble(
    clips: list[NDArray[np.float32]], count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    total = np.zeros(count)
    for k in rng.permutation(len(clips))[:6]:
        total += np.resize(np.roll(clips[k], int(rng.integers(len(clips[k])))), count)
    return total


def conditions(
    clips: list[NDArray[np.float32]],
) -> dict[str, Callable[[NDArray[np.float32]], NDArray[np.float32]]]:
    """Ways a recording goes wrong; the same noise at every call."""
    return {
        "clean": lambda x: x,
        "pink 10 dB": lambda x: with_noise(x, pink(len(x), np.random.default_rng(1)), 10),
        "white 10 dB": lambda x: with_noise(x, np.random.default_rng(2).normal(size=len(x)), 10),
        "babble 10 dB": lambda x: with_noise(
            x, babble(clips, len(x), np.random.default_rng(3)), 10
        ),
        "reverb .6 s": lambda x: room(x, np.random.default_rng(4)),
        "telephone": band,
        "-30 dB": lambda x: x * np.float32(0.0316),
        "clipped x6": lambda x: np.clip(x * 6, -0.5, 0.5),
    }


def floats(item: Utterance) -> NDArray[np.float32]:
    return item.samples.astype(np.float32) / 32768.0


def heard(
    method: Method,
    items: list[Utterance],
    change: Callable[[NDArray[np.float32]], NDArray[np.float32]],
) -> list[Heard]:
    clips = []
    for item in items:
        truth, lips = truth_of(item.phonemes, item.duration_s)
        posteriors, jaw, closure = method(change(floats(item)))
        count = len(truth.viseme)
        clips.append(Heard(posteriors[:count], jaw[:count], closure[:count], truth, lips))
    return clips


def row(name: str, group: str, clips: list[Heard]) -> str:
    found = scores(clips)
    shown = " | ".join(
        f"{found[key]:.3f}" for key in ("vis15", "coarse9", "silence", "jaw_r", "f1")
    )
    return f"| {name} | {group} | {shown} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=Path)
    parser.add_argument("--model", type=Path, default=LIPSYNC_MODEL)
    parser.add_argument("--conditions", action="store_true")
    parser.add_argument("--headaudio", type=Path, help="unpacked @met4citizen/headaudio of npm")
    arguments = parser.parse_args()
    if arguments.clips:
        sets = {path.stem: list(read_shard(path)) for path in shards_in(arguments.clips)}
    else:
        sets = made_here()
    methods: dict[str, Method] = {
        "net": by_net(arguments.model),
        "net, as animated": by_product(arguments.model),
        "judge": by_net(LIPSYNC_MODEL.with_name("judge.onnx")),
        **peers(arguments.headaudio),
    }
    print(f"{platform.machine()}, {usable_cores()} cores, Python {platform.python_version()}")
    print(
        "| method | set | vis15 | coarse9 | silence | jaw r | m/b/p F1 |\n"
        "| - | - | - | - | - | - | - |"
    )
    seconds = sum(item.duration_s for items in sets.values() for item in items)
    for name, method in methods.items():
        began = time.process_time()
        found = {group: heard(method, items, lambda x: x) for group, items in sets.items()}
        spent = time.process_time() - began
        print(row(name, "all", [clip for clips in found.values() for clip in clips]))
        for group, clips in found.items():
            print(row("", group, clips))
        print(f"| | CPU ms for 10 s | {spent / seconds * 1e4:.0f} | | | | |", flush=True)
    if arguments.conditions:
        everything = [item for items in sets.values() for item in items]
        for name, change in conditions([floats(item) for item in everything]).items():
            print(row("net", name, heard(methods["net"], everything, change)))
            for group in [g for g in sets if g.startswith("real")]:
                print(
                    row("net", f"{name}, {group}", heard(methods["net"], sets[group], change)),
                    flush=True,
                )


if __name__ == "__main__":
    main()
