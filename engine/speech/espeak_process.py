"""The small process around the espeak-ng library: JSON lines in, sound and events out.

espeak-ng is GPL-3, so nothing of the product links to it: this file is run as a program of its
own (``python -m engine.speech.espeak_process``), reads one JSON object a line on stdin, answers
each with one on stdout and ends with its stdin. It is never imported by the product.

Requests and answers::

    {"type": "voices"}
        -> {"type": "voices", "voices": [{"language", "name", "gender", "identifier"}, ...]}
    {"type": "speak", "voice", "text", "rate_wpm", "pitch", "pitch_range"}
        -> {"type": "spoken", "sample_rate_hz", "pcm": base64 of int16 little-endian mono,
            "events": [["w", character, sample] | ["p", name, sample], ...]}
    {"type": "read", "voice", "texts": [...]}
        -> {"type": "read", "sounds": [IPA of each text: words parted by spaces, "^" between the
            letters of one sound, "(en)" where the language switches, ...]}
    {"type": "fresh"} -> {"type": "fresh"}; what comes next is spoken by a library that never spoke
    anything that cannot be done -> {"type": "failed", "reason"}

To be fresh costs a new process. On Linux it is a copy of one that has loaded all but never spoke,
which takes milliseconds; elsewhere the product ends this program and starts it again.

`character` counts from 0 in `text`, `sample` is the first sample of the word or phoneme; the
name of a pause is empty.
"""

import base64
import ctypes
import json
import os
import signal
import sys
from typing import Any, BinaryIO

import espeakng_loader

# Values of espeak-ng's public header speak_lib.h, version 1.52.
_SYNCHRONOUS = 2
_OPTIONS = 0x0001 | 0x0002 | 0x8000  # phoneme events, as IPA, never exit() by itself
_POSITION_IS_CHARACTER = 1
_TEXT_FLAGS = 0x0001 | 0x1000  # UTF-8, pause after the last sentence
_TEXT_IS_UTF8 = 1
_AS_TIED_IPA = ord("^") << 8 | 0x80 | 0x02
_RATE, _PITCH, _PITCH_RANGE = 1, 3, 4
_EVENT_END_OF_LIST, _EVENT_WORD, _EVENT_PHONEME = 0, 1, 7
_NAME_BYTES = 8
_GENDERS = {1: "male", 2: "female"}
_IS_FORKING = sys.platform == "linux"
_EXIT_FRESH = 10  # of a copy that is to be followed by another
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        # A union in C: number, pointer or name; only the phoneme name is read here.
        ("name", ctypes.c_ubyte * _NAME_BYTES),
    )


class _Voice(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        # Pairs of one priority byte and one zero-ended tag, so not a plain C string.
        ("languages", ctypes.c_void_p),
        ("identifier", ctypes.c_char_p),
        ("gender", ctypes.c_ubyte),
        ("age", ctypes.c_ubyte),
        ("variant", ctypes.c_ubyte),
        ("reserved", ctypes.c_ubyte),
        ("score", ctypes.c_int),
        ("spare", ctypes.c_void_p),
    )


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


class Espeak:
    """The library, initialised once; one text at a time.

    Attributes:
        sample_rate_hz: of everything it speaks.
    """

    def __init__(self) -> None:
        self._library = ctypes.CDLL(espeakng_loader.get_library_path())
        data_path = os.fsencode(espeakng_loader.get_data_path())
        self.sample_rate_hz: int = self._library.espeak_Initialize(
            _SYNCHRONOUS, 0, data_path, _OPTIONS
        )
        if self.sample_rate_hz <= 0:
            raise OSError("espeak-ng could not be initialised")
        self._library.espeak_ListVoices.restype = ctypes.POINTER(ctypes.POINTER(_Voice))
        self._library.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self._library.espeak_TextToPhonemes.argtypes = (
            ctypes.POINTER(ctypes.c_void_p),
            ctypes.c_int,
            ctypes.c_int,
        )
        self._pcm = bytearray()
        self._events: list[tuple[str, Any, int]] = []
        # The library keeps only the address, so the object must live as long as it does.
        self._callback = _Callback(self._take)
        self._library.espeak_SetSynthCallback(self._callback)

    def voices(self) -> list[dict[str, str | None]]:
        """Every language voice of the data folder."""
        found: list[dict[str, str | None]] = []
        listed = self._library.espeak_ListVoices(None)
        index = 0
        while listed[index]:
            voice = listed[index].contents
            found.append(
                {
                    "language": ctypes.string_at(voice.languages + 1).decode(),
                    "name": voice.name.decode(),
                    "gender": _GENDERS.get(voice.gender),
                    "identifier": voice.identifier.decode(),
                }
            )
            index += 1
        return found

    def speak(
        self, text: str, voice: str, rate_wpm: int, pitch: int, pitch_range: int
    ) -> dict[str, Any]:
        """Speak `text` and return the answer described at the top of this file."""
        if self._library.espeak_SetVoiceByName(voice.encode()) != 0:
            return {"type": "failed", "reason": f"no voice {voice}"}
        for parameter, value in ((_RATE, rate_wpm), (_PITCH, pitch), (_PITCH_RANGE, pitch_range)):
            self._library.espeak_SetParameter(parameter, value, 0)
        self._pcm.clear()
        self._events.clear()
        raw = text.replace("\0", " ").encode()
        status = self._library.espeak_Synth(
            raw + b"\0", len(raw) + 1, 0, _POSITION_IS_CHARACTER, 0, _TEXT_FLAGS, None, None
        )
        if status != 0:
            return {"type": "failed", "reason": f"espeak_Synth returned {status}"}
        return {
            "type": "spoken",
            "sample_rate_hz": self.sample_rate_hz,
            "pcm": base64.b64encode(self._pcm).decode(),
            "events": self._events,
        }

    def read(self, texts: list[str], voice: str) -> dict[str, Any]:
        """Tell how texts sound and return the answer described at the top of this file."""
        if self._library.espeak_SetVoiceByName(voice.encode()) != 0:
            return {"type": "failed", "reason": f"no voice {voice}"}
        return {"type": "read", "sounds": [self._sounds(text) for text in texts]}

    def _sounds(self, text: str) -> str:
        """IPA of one text, of which the library reads one clause a call."""
        raw = ctypes.create_string_buffer(text.replace("\0", " ").encode())
        rest = ctypes.c_void_p(ctypes.addressof(raw))
        clauses: list[str] = []
        while rest.value:
            sounds: bytes = self._library.espeak_TextToPhonemes(
                ctypes.byref(rest), _TEXT_IS_UTF8, _AS_TIED_IPA
            )
            clauses.append(sounds.decode(errors="ignore"))
        return " ".join(clauses)

    def _take(
        self,
        samples: "ctypes._Pointer[ctypes.c_short]",
        num_samples: int,
        events: "ctypes._Pointer[_Event]",
    ) -> int:
        """Collect one buffer and its events; 0 tells the library to go on."""
        if samples and num_samples > 0:
            self._pcm += ctypes.string_at(samples, num_samples * 2)
        index = 0
        while events[index].type != _EVENT_END_OF_LIST:
            event = events[index]
            if event.type == _EVENT_WORD:
                self._events.append(("w", event.text_position - 1, event.sample))
            elif event.type == _EVENT_PHONEME:
                # A name of eight bytes or more has no end mark and may stop inside a letter.
                name = bytes(event.name).split(b"\0", 1)[0].decode(errors="ignore")
                self._events.append(("p", name, event.sample))
            index += 1
        return 0


def answer(espeak: Espeak, line: bytes) -> dict[str, Any]:
    """Do what one request line asks."""
    request = json.loads(line)
    kind = request.pop("type", None)
    if kind == "voices":
        return {"type": "voices", "voices": espeak.voices()}
    if kind == "speak":
        return espeak.speak(**request)
    if kind == "read":
        return espeak.read(**request)
    return {"type": "failed", "reason": f"unknown request {kind}"}


def serve(espeak: Espeak, answers: BinaryIO) -> int:
    """Answer until stdin ends or somebody wants a fresh start; the exit status."""
    for line in sys.stdin.buffer:
        reply = {"type": "fresh"} if is_fresh(line) else answer(espeak, line)
        answers.write(json.dumps(reply, separators=(",", ":")).encode() + b"\n")
        answers.flush()
        if reply["type"] == "fresh":
            return _EXIT_FRESH
    return 0


def is_fresh(line: bytes) -> bool:
    """Whether a request asks for a library that never spoke."""
    return bool(json.loads(line).get("type") == "fresh") and _IS_FORKING


def serve_in_copies(espeak: Espeak, answers: BinaryIO) -> int:
    """Have copies of this process answer, one after the other; the exit status of the last.

    Questions come one at a time, so no copy reads a line that was meant for the next.
    """
    own = os.getpid()
    while True:
        copy = os.fork()
        if copy == 0:
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
            os._exit(serve(espeak, answers) if os.getppid() == own else 1)
        _, status = os.waitpid(copy, 0)
        code = os.waitstatus_to_exitcode(status)
        if code != _EXIT_FRESH:
            return code


def main() -> None:
    """Serve until stdin ends."""
    # The answers get a descriptor of their own: what the library prints goes to stderr.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    run = serve_in_copies if _IS_FORKING else serve
    if run(Espeak(), answers) != 0:
        sys.exit(1)


if __name__ == "__main__":
    main()
