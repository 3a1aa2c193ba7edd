"""The labels of a spoken WAV: words for players and the `AIGC` fields as tags, and the manifest.

The tags are a RIFF list of the kind that players and editors show; the manifest is signed over
them and the sound, as in a video.
"""

import struct
from pathlib import Path

import c2pa

from engine.errors import EngineError, ErrorCode
from engine.media.atomic import replace_when_done
from engine.provenance.certificate import load_identity
from engine.provenance.facts import PRODUCER, VideoFacts, product_version
from engine.provenance.manifest import FoundManifest, read_manifest, sign
from engine.provenance.metadata import aigc_of
from engine.settings import EngineSettings

WAV_TYPE = "audio/wav"
_WORDS = "AI-generated speech"
_LONGEST = 2**32 - 1


def seal_sound(wav: Path, facts: VideoFacts, settings: EngineSettings) -> None:
    """Write the facts into a finished WAV and sign it, in place and whole or not at all.

    Args:
        wav: of ours; nothing may be written to it afterwards.
        facts: what is said about it.
        settings: where the certificate lies.

    Raises:
        EngineError: CERTIFICATE_UNUSABLE, DISK_FULL, or ENCODING_FAILED when the seal does not
            hold.
    """
    identity = load_identity(settings)
    tagged = wav.with_name(f"{wav.name}.tagged")
    try:
        with replace_when_done(wav) as part:
            _write_tagged(wav, tagged, facts)
            sign(tagged, part, facts, identity, settings.provenance_timestamp_url, WAV_TYPE)
            if read_manifest(part, identity.anchor_pem, WAV_TYPE).state != "valid":
                raise EngineError(ErrorCode.ENCODING_FAILED)
    except c2pa.C2paError as error:
        code = (
            ErrorCode.ENCODING_FAILED if identity.is_self_made else ErrorCode.CERTIFICATE_UNUSABLE
        )
        raise EngineError(code) from error
    finally:
        tagged.unlink(missing_ok=True)


def read_sound_seal(wav: Path, anchor_pem: str | None = None) -> FoundManifest:
    """What the manifest of a WAV says."""
    return read_manifest(wav, anchor_pem, WAV_TYPE)


def _write_tagged(source: Path, target: Path, facts: VideoFacts) -> None:
    """A copy of a WAV with its tags behind the sound."""
    content = source.read_bytes()
    size = len(content)
    tags = _info(
        {
            b"ICMT": f"{_WORDS} {aigc_of(facts)}",
            b"ISFT": f"{PRODUCER} {product_version()}",
            b"IMED": _WORDS,
        }
    )
    if content[:4] != b"RIFF" or size + len(tags) > _LONGEST:
        raise EngineError(ErrorCode.ENCODING_FAILED)
    riff_bytes = size - 8 + len(tags)
    with target.open("wb") as file:
        file.write(content[:4] + struct.pack("<I", riff_bytes))
        file.write(content[8:])
        file.write(tags)


def _info(fields: dict[bytes, str]) -> bytes:
    """A RIFF list of texts; each ends with a zero and has an even length."""
    body = b"INFO"
    for name, text in fields.items():
        value = text.encode() + b"\0"
        body += name + struct.pack("<I", len(value)) + value + b"\0" * (len(value) % 2)
    return b"LIST" + struct.pack("<I", len(body)) + body
