"""`speak`, `lipsync` and `voices`: speech without a picture."""

import argparse
import json
from typing import Any

from engine.api import StudioEngine
from engine.cli.options import (
    EXIT_OK,
    add_command,
    add_script_options,
    add_speech_options,
    existing_file,
    output_file,
    print_notes,
    script_text,
    speech_options,
)
from engine.cli.progress import SpeechBar
from engine.cli.voices import add_voice_actions
from engine.contracts import VoiceInfo
from engine.errors import ErrorCode, InputError


def add_speech_commands(commands: Any) -> None:  # noqa: ANN401 - argparse has no public type for sub-parsers
    """Add `speak`, `lipsync` and `voices`."""
    speak = add_command(commands, "speak", _speak, "a text becomes speech")
    add_speech_options(speak)
    speak.add_argument("-o", "--output", required=True, metavar="OUT.wav")
    speak.add_argument("--timings", metavar="OUT.json", help="also write word and sound times")
    speak.add_argument("--json", action="store_true")

    lipsync = add_command(commands, "lipsync", _lipsync, "write the mouth curves of a recording")
    lipsync.add_argument("audio", metavar="AUDIO")
    lipsync.add_argument("-o", "--output", required=True, metavar="CURVES.json")
    add_script_options(lipsync)

    voices = add_command(commands, "voices", _voices, "list, fetch and set up voices")
    voices.add_argument("--language", metavar="xx")
    voices.add_argument("--all", action="store_true", help="also those to be downloaded")
    voices.add_argument("--json", action="store_true")
    add_voice_actions(voices)


def _speak(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    target = output_file(arguments.output, ".wav")
    timings = output_file(arguments.timings, ".json") if arguments.timings else None
    with SpeechBar() as bar:
        result = engine.speak(speech_options(arguments), target, bar.show)
    if timings is not None:
        timings.write_text(json.dumps(result["timings"], ensure_ascii=False), "utf-8")
    summary = {key: value for key, value in result.items() if key != "timings"}
    print_notes(summary["notes"])
    if arguments.json:
        print(json.dumps({"audio": str(target), **summary}, ensure_ascii=False))
    else:
        print(f"{target} ({summary['duration_s']:.1f} s, voice {summary['voice']})")
    return EXIT_OK


def _lipsync(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    target = output_file(arguments.output, ".json")
    script = script_text(arguments.script)
    result = engine.listen(existing_file(arguments.audio), script, target, arguments.language)
    print_notes(result["notes"])
    print(f"{target} ({result['num_samples']} samples at {result['rate_hz']} Hz)")
    return EXIT_OK


def _voices(engine: StudioEngine, arguments: argparse.Namespace) -> int:
    voices = engine.voices(arguments.language, with_missing=arguments.all)
    if arguments.language and not voices:
        raise InputError(ErrorCode.LANGUAGE_UNSUPPORTED, language=arguments.language)
    if arguments.json:
        print(json.dumps([voice.model_dump() for voice in voices], ensure_ascii=False))
        return EXIT_OK
    for voice in voices:
        print(_line(voice))
    return EXIT_OK


def _line(voice: VoiceInfo) -> str:
    shown = voice.languages if len(voice.languages) <= 3 else (*voice.languages[:3], "...")
    kind = "natural" if voice.natural else "robotic"
    if not voice.installed:
        kind = f"get, up to {voice.size_mb:.0f} MB" + (", NVIDIA card" * (voice.needs == "gpu"))
    return f"{voice.voice_id:30} {voice.name:32} {', '.join(shown):20} {kind:8} {voice.licence}"
