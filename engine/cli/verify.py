"""`verify`: are the labels of a video there and valid, and was it left as it was made."""

import argparse
from typing import Any

from engine.api import StudioEngine
from engine.cli.options import EXIT_OK, EXIT_USER, add_command, existing_file
from engine.contracts import LabelCheck
from engine.errors import ErrorCode
from engine.messages import describe

NO_LABEL = "No AI label was found: this file was not made here, or its labels were removed."


def add_verify_commands(commands: Any) -> None:  # noqa: ANN401 - argparse has no public type for sub-parsers
    """Add `verify`."""
    verify = add_command(
        commands, "verify", _verify, "check the labels of a finished video or spoken file"
    )
    verify.add_argument("video", metavar="VIDEO", help="a video file, or a WAV that was spoken")
    verify.add_argument("--json", action="store_true", help="print one JSON object")


def _verify(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    found = engine.verify(existing_file(arguments.video))
    print(found.model_dump_json() if arguments.json else "\n".join(_lines(found)))
    return EXIT_OK if found.ok else EXIT_USER


def _lines(found: LabelCheck) -> list[str]:
    """What was found as a person reads it."""
    if not found.has_label:
        return [NO_LABEL]
    lines = []
    if found.visible_label is not None:
        lines.append(f"Visible label: there from start to end ({found.visible_label}).")
    if found.aigc is not None:
        lines.append(f"AIGC tag: made by {found.aigc.get('ContentProducer') or 'an AI service'}.")
    if found.xmp_says_ai:
        lines.append("XMP: made by a trained model.")
    if found.manifest == "valid":
        where = "this installation" if found.signed_here else "another signer, not on a trust list"
        lines.append(f"C2PA manifest: valid, signed by {where} ({found.signer}).")
    if found.watermark is not None:
        lines.append(f"Watermark: {'found' if found.watermark else 'not found'}.")
    if found.facts:
        models = ", ".join(map(str, found.facts.get("models", ())))
        consent = "stated" if found.facts.get("consent") else "not stated"
        lines.append(f"Made with {models}; consent {consent}.")
    correlation = found.sync.get("mouth_audio_correlation")
    if correlation is not None:
        lines.append(f"Lip sync when it was made: mouth follows sound {correlation:.2f} of 1.")
    for code in found.problems:
        message = describe(ErrorCode(code))
        lines.append(f"{message.sentence} {message.hint}")
    return lines
