"""The C2PA manifest: who made a video with what, signed over its bytes.

Nothing is ever fetched: no remote manifests, no revocation lists; a time stamp only when its
address was set.
"""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import c2pa

from engine.errors import ErrorCode
from engine.provenance.certificate import SigningIdentity
from engine.provenance.facts import AI_MADE, PRODUCER, VideoFacts, product_version

MEDIA_TYPE = "video/mp4"
_ENDINGS = {MEDIA_TYPE: "mp4", "audio/wav": "wav"}
FACTS_LABEL = "org.sonic-studio.facts"
MAX_MB_IN_MEMORY, HASHED_AT_ONCE_KB = 8, 1024
"""A larger copy lies on the disk while it is signed, and the film is hashed block by block: c2pa
would keep half a gigabyte in memory and hash a quarter at once."""
_UNKNOWN_SIGNER = "signingCredential.untrusted"

State = Literal["missing", "broken", "valid"]


@dataclass(frozen=True)
class FoundManifest:
    """What the manifest of a file says.

    Attributes:
        state: `broken` when the file or the manifest was changed afterwards.
        is_own: whether the certificate is one this installation knows as its own.
        signer: name in the certificate.
        says_ai: whether it names the file as made by a model.
        facts: ours, empty when another program signed.
        faults: what does not fit, in C2PA's words.
    """

    state: State
    is_own: bool = False
    signer: str | None = None
    says_ai: bool = False
    facts: dict[str, Any] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def problems(self) -> list[ErrorCode]:
        """What is to be told of it: that there is none, or that it does not fit the file."""
        match self.state:
            case "missing":
                return [ErrorCode.MANIFEST_MISSING]
            case "broken":
                return [ErrorCode.MANIFEST_BROKEN]
            case _:
                return []

    @property
    def proven_facts(self) -> dict[str, Any]:
        """The facts, where the file is as it was signed; else nothing."""
        return self.facts if self.state == "valid" else {}


def sign(
    source: Path,
    target: Path,
    facts: VideoFacts,
    identity: SigningIdentity,
    timestamp_url: str | None = None,
    media_type: str = MEDIA_TYPE,
) -> None:
    """Copy a video, or a file of another type, and put a manifest over all of it.

    Raises:
        c2pa.C2paError: the certificate or the file cannot be used.
    """
    url = timestamp_url.encode() if timestamp_url else None
    info = c2pa.C2paSignerInfo(
        identity.algorithm.encode(), identity.chain_pem, identity.key_pem, url
    )
    with (
        c2pa.Signer.from_info(info) as signer,
        c2pa.Builder(json.dumps(_definition(facts, media_type)), _context(None)) as builder,
        source.open("rb") as reading,
        target.open("w+b") as writing,
    ):
        builder.sign(signer, media_type, reading, writing)


def read_manifest(
    path: Path, anchor_pem: str | None = None, media_type: str = MEDIA_TYPE
) -> FoundManifest:
    """Read and check the manifest of a file.

    Args:
        path: the file.
        anchor_pem: the certificate whose signatures count as our own.
        media_type: of the file.
    """
    try:
        with (
            path.open("rb") as reading,
            c2pa.Reader(media_type, reading, context=_context(anchor_pem)) as reader,
        ):
            content = json.loads(reader.json())
            state = reader.get_validation_state()
            results = reader.get_validation_results() or {}
    except c2pa.C2paError.ManifestNotFound:
        return FoundManifest("missing")
    except (c2pa.C2paError, ValueError):
        return FoundManifest("broken")
    faults = tuple(
        fault["code"]
        for fault in results.get("activeManifest", {}).get("failure", ())
        if fault["code"] != _UNKNOWN_SIGNER
    )
    active = content.get("manifests", {}).get(content.get("active_manifest"), {})
    is_good = state in ("Valid", "Trusted") and not faults
    return FoundManifest(
        state="valid" if is_good else "broken",
        is_own=state == "Trusted",
        signer=(active.get("signature_info") or {}).get("common_name"),
        says_ai=AI_MADE in json.dumps(active.get("assertions", [])),
        facts=_facts_in(active),
        faults=faults,
    )


def _definition(facts: VideoFacts, media_type: str) -> dict[str, Any]:
    agent = {"name": PRODUCER, "version": product_version()}
    action = {
        "action": "c2pa.created",
        "digitalSourceType": AI_MADE,
        "softwareAgent": agent,
        "parameters": {"models": list(facts.models)},
    }
    return {
        "claim_generator_info": [agent],
        "title": f"{facts.content_id}.{_ENDINGS[media_type]}",
        "format": media_type,
        "assertions": [
            {"label": "c2pa.actions.v2", "data": {"actions": [action]}},
            {"label": FACTS_LABEL, "data": facts.model_dump(mode="json")},
        ],
    }


def _facts_in(manifest: Mapping[str, Any]) -> dict[str, Any]:
    with contextlib.suppress(AttributeError, TypeError):
        for assertion in manifest.get("assertions", ()):
            if assertion.get("label") == FACTS_LABEL and isinstance(assertion.get("data"), dict):
                return dict(assertion["data"])
    return {}


def _context(anchor_pem: str | None) -> Any:  # noqa: ANN401 - c2pa has no types
    settings: dict[str, Any] = {
        "core": {
            "backing_store_memory_threshold_in_mb": MAX_MB_IN_MEMORY,
            "merkle_tree_chunk_size_in_kb": HASHED_AT_ONCE_KB,
        },
        "verify": {"remote_manifest_fetch": False, "ocsp_fetch": False},
        "builder": {"thumbnail": {"enabled": False}},
    }
    if anchor_pem is not None:
        settings["trust"] = {"user_anchors": anchor_pem}
    return c2pa.Context(c2pa.Settings.from_dict(settings))
