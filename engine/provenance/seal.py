"""The last write of every video: tags, then the manifest over all of it, then a look at both.

    facts = VideoFacts(content_id=content_id_of(job_id), models=("sonic-studio/lite",),
                       visible_label=label.words.language, consent=True)
    seal(job_dir / "video.mp4", facts, settings)

Whatever is done to the file afterwards breaks the seal, so nothing may follow.
"""

import logging
import shutil
from pathlib import Path

import c2pa

from engine.errors import EngineError, ErrorCode
from engine.media.atomic import replace_when_done
from engine.provenance.boxes import NotAnMp4, write_tags
from engine.provenance.certificate import SigningIdentity, load_identity
from engine.provenance.facts import VideoFacts
from engine.provenance.manifest import read_manifest, sign
from engine.provenance.metadata import AIGC_TAG, aigc_of, find_tags, xmp_of
from engine.settings import EngineSettings

_log = logging.getLogger(__name__)


def seal(video: Path, facts: VideoFacts, settings: EngineSettings) -> None:
    """Write the facts into a finished MP4 and sign it, in place and whole or not at all.

    One that carries a valid seal of ours with the same content id already is left as it is.

    Args:
        video: MP4 of ours, not in fragments.
        facts: what is said about it.
        settings: where the certificate lies.

    Raises:
        EngineError: CERTIFICATE_UNUSABLE, DISK_FULL, or ENCODING_FAILED when the seal does not
            hold.
    """
    identity = load_identity(settings)
    if _is_sealed(video, facts, identity):
        return
    tagged = video.with_name(f"{video.name}.tagged")
    try:
        with replace_when_done(video) as part:
            write_tags(video, tagged, {AIGC_TAG: aigc_of(facts)}, xmp_of(facts))
            sign(tagged, part, facts, identity, settings.provenance_timestamp_url)
            if not _is_sealed(part, facts, identity):
                raise EngineError(ErrorCode.ENCODING_FAILED)
    except c2pa.C2paError as error:
        _log.exception("a video could not be signed")
        raise EngineError(_reason(video, identity)) from error
    except NotAnMp4 as error:
        raise EngineError(ErrorCode.ENCODING_FAILED) from error
    finally:
        tagged.unlink(missing_ok=True)


def _reason(video: Path, identity: SigningIdentity) -> ErrorCode:
    """Why signing failed; the library does not tell a full disk from other faults."""
    if shutil.disk_usage(video.parent).free < video.stat().st_size:
        return ErrorCode.DISK_FULL
    if identity.is_self_made:
        return ErrorCode.ENCODING_FAILED
    return ErrorCode.CERTIFICATE_UNUSABLE


def _is_sealed(video: Path, facts: VideoFacts, identity: SigningIdentity) -> bool:
    found = read_manifest(video, identity.anchor_pem)
    return (
        found.state == "valid"
        and (found.is_own or not identity.is_self_made)
        and found.facts.get("content_id") == facts.content_id
        and find_tags(video).aigc is not None
    )
