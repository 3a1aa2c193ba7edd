"""What a label says about a video: how it was made, nothing about people."""

import hashlib
from importlib import metadata
from typing import Any

from pydantic import Field

from engine.contracts import Frozen

PRODUCER = "Sonic Studio"
AI_MADE = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
"""The word of the IPTC for what a trained model made; C2PA and XMP use the same one."""

CONSENT_VERSION = 1
"""Which wording of the statement was ticked; grows when the sentence changes its meaning."""


BUILT_IN_VOICE = "built-in voice"
"""Among the models of a video: the voice that the program chose by itself."""


class VideoFacts(Frozen):
    """What is written into a video.

    Attributes:
        content_id: tells this video from others and nothing else; see `content_id_of`.
        kind: what it is: `video`, `dub`, `lecture`, `speech`.
        models: what made picture and voice, such as `sonic-studio/lite`, `hibari:heart`.
        visible_label: language of the label in the picture; None = it was switched off.
        watermark: name of the hidden watermark; None = there is none.
        consent: whether who asked stated that they may use the face and the voice.
        consent_version: which wording they saw.
        sync: the numbers of the lip-sync check; empty when it was not run.
    """

    content_id: str
    kind: str = "video"
    models: tuple[str, ...] = ()
    visible_label: str | None = None
    watermark: str | None = None
    consent: bool = False
    consent_version: int = CONSENT_VERSION
    sync: dict[str, Any] = Field(default_factory=dict)


def content_id_of(job_id: str) -> str:
    """A public name of a job's video, from which the job cannot be found."""
    return hashlib.sha256(f"content:{job_id}".encode()).hexdigest()[:32]


def product_version() -> str:
    """The version of this program."""
    try:
        return metadata.version("sonic-studio")
    except metadata.PackageNotFoundError:  # started from its folder
        return "0.1.0"
