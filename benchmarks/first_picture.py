"""How soon the first picture of a video is there, after a start of the studio and later on.

    python -m benchmarks.first_picture PORTRAIT --speech RECORDING [--pause-s 5]

As a person does it: the studio starts, a photo and a recording are checked, the person looks at
the verdict for a while (`--pause-s`) and presses the button. Told are the seconds from the press to
the queued job and from then to the first live picture; then the same in a studio that has made a
video already. Figures mean something on a quiet machine only.
"""

import argparse
import tempfile
import time
from pathlib import Path

from engine import AnimateRequest, EngineSettings, RenderOptions, StudioEngine
from engine.contracts import JobStatus

LIMIT_S = 120.0


def first_picture(engine: StudioEngine, portrait: Path, speech: Path, pause_s: float) -> str:
    """Check, wait, submit and look for the live picture until it is there; one line of it."""
    options = RenderOptions(animator="lite", seed=1)
    if not engine.check(portrait, speech, options=options).ok:
        raise SystemExit(f"{portrait.name} with {speech.name} cannot be animated")
    time.sleep(pause_s)
    pressed = time.monotonic()
    job_id = engine.submit(
        AnimateRequest(portrait=str(portrait), audio=str(speech), options=options, consent=True)
    ).job_id
    queued = time.monotonic()
    while engine.live_picture(job_id) is None:
        if time.monotonic() - queued > LIMIT_S or engine.get(job_id).status.is_final:
            raise SystemExit("no live picture came")
        time.sleep(0.01)
    shown = time.monotonic()
    if engine.wait(job_id).status is not JobStatus.SUCCEEDED:
        raise SystemExit("the video failed")
    engine.delete(job_id)
    return f"queued after {queued - pressed:.2f} s, first picture {shown - queued:.2f} s later"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("portrait", type=Path)
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--pause-s", type=float, default=5.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        settings = EngineSettings(data_dir=Path(scratch))
        with StudioEngine(settings, exclusive=True) as engine:
            engine.warm_up()
            for when in ("after the start", "the second video", "the third video"):
                found = first_picture(
                    engine, arguments.portrait, arguments.speech, arguments.pause_s
                )
                print(f"{when}: {found}", flush=True)


if __name__ == "__main__":
    main()
