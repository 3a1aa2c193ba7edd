"""What the sample portraits are: facts that decide which gates apply to a finished video.

Blinks and the mouth in silence are asked of photographs alone; the fit to what was asked must be
closer on photographs than on pictures made by hand.
"""

from collections.abc import Mapping
from typing import Any

from engine.lipsync.score import SyncReport, gates

PHOTOGRAPH, PAINTING, DRAWING = "photograph", "painting", "drawing"
KINDS = {
    "american_gothic_two_faces": PAINTING,
    "astronaut_collins": PHOTOGRAPH,
    "astronaut_rubio": PHOTOGRAPH,
    "cartoon_adventurer_kai": DRAWING,
    "cartoon_lorelei_mara": DRAWING,
    "cartoon_micah_zoe": DRAWING,
    "cartoon_notionists_otto": DRAWING,
    "cartoon_toonHead_max": DRAWING,
    "clipart_beethoven": DRAWING,
    "clipart_head_front": DRAWING,
    "douglass_1879_bw": PHOTOGRAPH,
    "girl_pearl_earring": PAINTING,
    "lady_ermine_hires": PAINTING,
    "lincoln_80px_circle": PHOTOGRAPH,
    "lowres_bw_cummings": PHOTOGRAPH,
    "lowres_bw_feinstein": PHOTOGRAPH,
    "lowres_bw_hastings_beard": PHOTOGRAPH,
    "lowres_bw_inouye_glasses": PHOTOGRAPH,
    "lowres_bw_jackson_lee": PHOTOGRAPH,
    "lowres_bw_rangel_moustache": PHOTOGRAPH,
    "lowres_bw_young_glasses_beard": PHOTOGRAPH,
    "salvator_mundi": PAINTING,
    "the_scream": PAINTING,
    "vangogh_by_russell": PAINTING,
    "vangogh_self": PAINTING,
}
PHOTOGRAPHS_ALONE = {"blinks_per_min", "sil_open"}
MIN_CORR_INTENDED = {PHOTOGRAPH: 0.9, PAINTING: 0.85, DRAWING: 0.85}
MAX_IDENTITY, MAX_JITTER = 0.5, 0.04
"""Of every kind; the program's own limit of jitter, for photographs, is stricter."""


def kind_of(portrait: str) -> str:
    """What a sample is, by the stem of its name; unknown ones count as photographs."""
    return KINDS.get(portrait, PHOTOGRAPH)


def failed_gates(kind: str, sync: Mapping[str, Any], identity: float | None) -> list[str]:
    """The gates a video of this kind of picture fails; empty for a good one.

    Args:
        kind: from `kind_of`.
        sync: a `SyncReport` as it stands in the report of a job. Its curves are those that drove
            the animator, so its correlation is also that with what was intended.
        identity: mean distance of the face to the one in the photo, where it is known.
    """
    report = SyncReport.model_validate({name: sync[name] for name in SyncReport.model_fields})
    if kind == PHOTOGRAPH:  # all gates apply, even if the program took it for something else
        report = report.model_copy(update={"is_sure": True})
    failed = [name for name in gates(report) if kind == PHOTOGRAPH or name not in PHOTOGRAPHS_ALONE]
    if report.corr_jaw is not None and report.corr_jaw < MIN_CORR_INTENDED[kind]:
        failed.append("corr_intended")
    if (report.jitter or 0.0) > MAX_JITTER and "jitter" not in failed:
        failed.append("jitter")
    if identity is not None and identity > MAX_IDENTITY:
        failed.append("identity")
    return failed
