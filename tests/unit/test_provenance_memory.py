"""A long video is signed and checked in little memory."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
MAX_GROWTH_MB = 40

PROGRAM = """
import resource, sys
from pathlib import Path
from engine.provenance.certificate import load_identity
from engine.provenance.facts import VideoFacts
from engine.provenance.manifest import read_manifest, sign
from engine.settings import EngineSettings

def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

small, large, folder = map(Path, sys.argv[1:])
identity = load_identity(EngineSettings(data_dir=folder))
for video in (small, large):
    before = peak_mb()
    sign(video, folder / "sealed.mp4", VideoFacts(content_id="x"), identity)
    state = read_manifest(folder / "sealed.mp4").state
print(state, round(peak_mb() - before, 1))
"""


def noisy_video(path: Path, num_frames: int) -> Path:
    """A video that hardly compresses: about half a MB a frame."""
    noise = np.random.default_rng(1).integers(0, 256, (720, 1280, 3), dtype=np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mjpeg", rate=Fraction(25))
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuvj444p"
        stream.options = {"qscale": "1"}
        for _ in range(num_frames):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(noise, format="rgb24")))
        container.mux(stream.encode())
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read in another way there")
def test_signing_takes_no_more_memory_for_a_large_file(tmp_path):
    small = noisy_video(tmp_path / "small.mp4", 1)
    large = noisy_video(tmp_path / "large.mp4", 160)
    assert large.stat().st_size > 60e6

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, small, large, tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    state, growth_mb = done.stdout.split()
    assert state == "valid"
    assert float(growth_mb) < MAX_GROWTH_MB
