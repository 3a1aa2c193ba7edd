"""Small finished videos and sounds with labels, written as the product would write them."""

from fractions import Fraction
from pathlib import Path

import numpy as np
from PIL import Image

from engine.media.audio import write_wav
from engine.media.video import VideoWriter
from engine.provenance.facts import VideoFacts, content_id_of
from engine.provenance.marks import FrameMarks
from engine.provenance.seal import seal
from engine.provenance.sound_seal import seal_sound
from engine.settings import EngineSettings

PORTRAIT = Path(__file__).parent / "data" / "portraits" / "vangogh_self.jpg"
SIDE, SECONDS, FPS = 256, 4, Fraction(25)
FACTS = VideoFacts(
    content_id=content_id_of("0" * 32),
    models=("sonic-studio/lite", "hibari:heart"),
    consent=True,
    sync={"mouth_audio_correlation": 0.9},
)


def write_labelled(path: Path, settings: EngineSettings, *, labelled: bool = True) -> VideoFacts:
    """Four seconds of a still portrait with sound, not sealed yet.

    Returns:
        What its seal should say.
    """
    wav = path.with_suffix(".wav")
    tone = 0.3 * np.sin(np.arange(SECONDS * 48000) * 0.05)
    write_wav(wav, tone.astype(np.float32), 48000)
    with Image.open(PORTRAIT) as photo:
        frame = np.asarray(photo.convert("RGB").resize((SIDE, SIDE)), np.uint8)
    marks = FrameMarks.of(SIDE, SIDE, FPS, settings)
    with VideoWriter(path, SIDE, SIDE, FPS, wav) as writer:
        for index in range(SECONDS * 25):
            writer.write(marks.draw(frame, index) if labelled else frame)
    return VideoFacts(**{**FACTS.model_dump(), **(marks.facts if labelled else {})})


def sealed_video(path: Path, data_dir: Path) -> Path:
    """The same with the seal of an installation."""
    settings = EngineSettings(data_dir=data_dir)
    seal(path, write_labelled(path, settings), settings)
    return path


def sealed_sound(path: Path, data_dir: Path) -> Path:
    """A second of a tone with the seal of an installation, as `speak` puts it."""
    tone = 0.3 * np.sin(np.arange(24000) * 0.1)
    write_wav(path, tone.astype(np.float32), 24000)
    facts = VideoFacts(content_id="c" * 32, kind="speech", models=("hibari:heart",), consent=True)
    seal_sound(path, facts, EngineSettings(data_dir=data_dir))
    return path
