"""The sample portraits that come with the studio."""

import base64
import functools
from pathlib import Path

SAMPLES_DIR = Path(__file__).resolve().parents[2] / "assets" / "samples"
SAMPLES = ("astronaut_collins", "vangogh_self", "american_gothic")


@functools.cache
def thumb(name: str) -> str:
    """The small picture of a sample as an address that needs no request."""
    picture = (SAMPLES_DIR / "thumbs" / f"{name}.jpg").read_bytes()
    return f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}"
