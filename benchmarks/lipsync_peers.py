"""Other ways to hear mouth shapes: packages that are installed for this benchmark alone.

openfacefx 0.24.0 and pylipsync 0.2.1 from the Python registry (`pip install --no-deps`; pylipsync
wants librosa as well), `@met4citizen/headaudio` 0.1.0 from npm, unpacked, run by node. Each says
what it can: openfacefx without a text knows loudness alone, pylipsync five vowels, headaudio 15
visemes.
"""

# Every package is optional and imported only when its row is asked for.
# ruff: noqa: PLC0415

import json
import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from engine.lipsync.curves import CURVE_RATE_HZ, VISEMES
from engine.lipsync.from_timings import curves_from_timings, loudness_curve
from engine.lipsync.visemes import TARGETS
from training.lipsync.corpus import SAMPLE_RATE_HZ, Timed

Method = Callable[
    [NDArray[np.float32]], tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]
]
Answer = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]

HEADAUDIO = Path(__file__).with_name("headaudio.mjs")
# headaudio is made for browsers, and a viseme must win a vote of six windows of 16 ms.
HEADAUDIO_RATE_HZ, HEADAUDIO_LATE_S = 48_000, 0.048
# How far the jaw is open in a viseme: the mean of our table's sounds of that viseme.
JAW = np.array(
    [
        np.mean([t.jaw for t in TARGETS.values() if t.viseme == name] or [0.0], dtype=np.float32)
        for name in VISEMES
    ],
    np.float32,
)


def peers(headaudio: Path | None) -> dict[str, Method]:
    """The methods that can be had here.

    Args:
        headaudio: folder of the unpacked npm package.
    """
    found: dict[str, Method] = {"loudness": by_loudness}
    if find_spec("pocketsphinx"):
        found["pocketsphinx"] = by_pocketsphinx()
    if find_spec("openfacefx"):
        found["openfacefx"] = by_openfacefx
    if find_spec("pylipsync"):
        found["pylipsync"] = by_pylipsync()
    if headaudio is not None:
        found["headaudio"] = by_headaudio(headaudio)
    return found


def by_pocketsphinx() -> Method:
    """The phone loop of pocketsphinx, its phones through our table of mouth shapes."""
    from pocketsphinx import Decoder, get_model_path

    from training.lipsync.festival import US

    decoder = Decoder(
        allphone=str(Path(get_model_path()) / "en-us" / "en-us-phone.lm.bin"),
        lm=None, lw=2.0, beam=1e-20, pbeam=1e-20, loglevel="FATAL",
    )  # fmt: skip

    def hear(samples: NDArray[np.float32]) -> Answer:
        decoder.start_utt()
        decoder.process_raw(_pcm(samples).tobytes(), full_utt=True)
        decoder.end_utt()
        found = [
            Timed(US[s.word.lower()], s.start_frame / 100, (s.end_frame + 1) / 100)
            for s in decoder.seg()
            if s.word.lower() in US
        ]
        curves = curves_from_timings(found, len(samples) / SAMPLE_RATE_HZ)  # type: ignore[arg-type]
        return curves.posteriors, curves.jaw, curves.close

    return hear


def by_loudness(samples: NDArray[np.float32]) -> Answer:
    """The mouth as a level meter: open vowel where it is loud, lips shut in the dips."""
    loud = loudness_curve(samples)
    posteriors = np.zeros((len(loud), len(VISEMES)), np.float32)
    posteriors[:, VISEMES.index("aa")] = np.clip(loud * 2, 0.02, 0.98)
    posteriors[:, 0] = 1.0 - posteriors.sum(axis=1)
    return posteriors, loud, 1.0 - loud


def by_openfacefx(samples: NDArray[np.float32]) -> Answer:
    """Its mode for sound without a text: loudness shared out among aa, E and O."""
    from openfacefx.energy import generate_from_energy

    with tempfile.TemporaryDirectory() as folder:
        wav = Path(folder) / "a.wav"
        soundfile.write(wav, samples, SAMPLE_RATE_HZ, subtype="PCM_16")
        track = generate_from_energy(str(wav), fps=CURVE_RATE_HZ, epsilon=0.001)
    times = np.arange(_count(samples)) / CURVE_RATE_HZ
    drawn = {
        channel.name: np.interp(
            times, [k.time for k in channel.keys], [k.value for k in channel.keys]
        )
        for channel in track.channels
    }
    posteriors = np.zeros((len(times), len(VISEMES)), np.float32)
    for name, ours in (("sil", "sil"), ("aa", "aa"), ("E", "E"), ("O", "oh")):
        posteriors[:, VISEMES.index(ours)] = drawn.get(name, 0.0)
    posteriors[:, 0] = np.maximum(posteriors[:, 0], 1e-6)
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    return posteriors, posteriors @ JAW, posteriors[:, 0]


def by_pylipsync() -> Method:
    """Five vowels by their likeness to recorded ones; silence shuts the lips."""
    from pylipsync import PhonemeAnalyzer

    analyzer = PhonemeAnalyzer()
    names = {"aa": "aa", "ee": "E", "ih": "ih", "oh": "oh", "ou": "ou", "silence": "sil"}

    def hear(samples: NDArray[np.float32]) -> Answer:
        segments = analyzer.extract_phoneme_segments(samples, SAMPLE_RATE_HZ, fps=CURVE_RATE_HZ)
        posteriors = np.zeros((len(segments), len(VISEMES)), np.float32)
        for row, segment in zip(posteriors, segments, strict=True):
            for phoneme in segment.phonemes:
                row[VISEMES.index(names[phoneme.name])] += phoneme.target
        posteriors[:, 0] += np.maximum(1e-6, 1.0 - posteriors.sum(axis=1))
        posteriors /= posteriors.sum(axis=1, keepdims=True)
        # A segment is seen around its middle, half a sample after it begins.
        place = np.arange(_count(samples)) - 0.5
        at = np.arange(len(posteriors))
        moved = np.stack([np.interp(place, at, column) for column in posteriors.T], axis=1)
        return moved.astype(np.float32), (moved @ JAW).astype(np.float32), moved[:, 0]

    return hear


def by_headaudio(package: Path) -> Method:
    """39 Gaussian prototypes of 12 cepstra; its events say which viseme begins when."""
    order = ("aa", "E", "ih", "oh", "ou", "PP", "SS", "TH", "DD", "FF", "kk", "nn", "RR", "CH")

    def hear(samples: NDArray[np.float32]) -> Answer:
        command = ["node", str(HEADAUDIO), str(package), str(HEADAUDIO_RATE_HZ)]
        raw = soxr.resample(samples, SAMPLE_RATE_HZ, HEADAUDIO_RATE_HZ).astype("<f4").tobytes()
        shown = subprocess.run(command, input=raw, capture_output=True, check=True).stdout
        # Each event lasts until the next; its window is centred on its time.
        now, at = 0, 0
        classes = np.zeros(_count(samples), np.int64)
        for line in shown.decode().splitlines():
            time_s, which = json.loads(line)
            begin = max(round((time_s - HEADAUDIO_LATE_S) * CURVE_RATE_HZ), at)
            classes[at:begin] = now
            now, at = VISEMES.index(order[which]) if which is not None else 0, begin
        classes[at:] = now
        posteriors = np.eye(len(VISEMES), dtype=np.float32)[classes]
        return posteriors, posteriors @ JAW, posteriors[:, VISEMES.index("PP")]

    return hear


def _count(samples: NDArray[np.float32]) -> int:
    return len(samples) * CURVE_RATE_HZ // SAMPLE_RATE_HZ + 1


def _pcm(samples: NDArray[np.float32]) -> NDArray[np.int16]:
    return (np.clip(samples, -1, 1) * 32767).astype(np.int16)
