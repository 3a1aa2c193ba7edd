"""What a person filled in on the Dub page, as the engine's own request types.

Pure, but for a look whether an uploaded recording is still there.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engine.contracts import BatchRequest, BatchRow, RenderOptions, VoiceInfo
from engine.errors import ErrorCode, InputError
from studio.locales import current_locale

MAX_TABLE_CHARACTERS = 5_000_000


@dataclass(frozen=True)
class DubForm:
    """The page as it stands.

    Attributes:
        portrait: the uploaded photo, or None.
        face: number of the chosen face, below 0 = the largest.
        rows: the table as JSON, from the browser.
        preset, captions: as chosen.
        consent: whether the box is ticked.
    """

    portrait: str | None
    face: float | None
    rows: str
    preset: str
    captions: str
    consent: bool

    def request(self, uploads: Path) -> BatchRequest:
        """Everything the engine needs to make the videos.

        Args:
            uploads: where uploaded recordings lie.

        Raises:
            InputError: TABLE_EMPTY, TABLE_UNREADABLE, BAD_OPTION.
        """
        face = int(self.face) if self.face is not None and self.face >= 0 else None
        try:
            options = RenderOptions.model_validate(
                {"preset": self.preset, "captions": self.captions, "face_index": face}
            )
        except ValidationError as error:
            option = str(error.errors()[0]["loc"][0])
            raise InputError(ErrorCode.BAD_OPTION, option=option, reason="unknown") from None
        return BatchRequest(
            portrait=self.portrait or "",
            rows=read_rows(self.rows, uploads),
            options=options,
            consent=self.consent,
            title=Path(self.portrait or "").stem.replace("_", " "),
            label_language=current_locale().tag,
        )


def read_rows(table: str, uploads: Path) -> tuple[BatchRow, ...]:
    """The rows of the table in the browser.

    Args:
        table: JSON of the browser.
        uploads: the only folder whose files a row may name.

    Raises:
        InputError: TABLE_UNREADABLE.
    """
    unreadable = InputError(ErrorCode.TABLE_UNREADABLE)
    if len(table) > MAX_TABLE_CHARACTERS:
        raise unreadable
    try:
        rows = json.loads(table or "[]")
        return tuple(_row(row, uploads) for row in rows)
    except (ValueError, TypeError, AttributeError, KeyError):
        raise unreadable from None


def table_json(rows: Sequence[BatchRow]) -> str:
    """Rows that were read from a file or pasted, as the table in the browser takes them.

    Recordings are left out: a browser cannot open a file by its name.
    """
    return json.dumps(
        [
            {
                "name": row.name,
                "language": row.language or "",
                "voice": row.voice or "",
                "text": row.text or "",
                "speed": "" if row.speed == 1.0 else str(row.speed),
            }
            for row in rows
        ],
        ensure_ascii=False,
    )


def voices_json(voices: Sequence[VoiceInfo]) -> str:
    """The installed voices as the table in the browser takes them, natural ones first."""
    usable = sorted(
        (voice for voice in voices if voice.installed), key=lambda voice: not voice.natural
    )
    return json.dumps(
        [
            {
                "id": voice.voice_id,
                "name": voice.name,
                "languages": voice.languages,
                "natural": voice.natural,
            }
            for voice in usable
        ],
        ensure_ascii=False,
    )


@dataclass(frozen=True)
class DraftsWanted:
    """What to translate: a text, its language, and the languages of the rows without a text."""

    text: str
    source: str
    targets: tuple[str, ...]


def drafts_wanted(table: str) -> DraftsWanted | None:
    """What of a table can be translated: the first row's text, for rows that say nothing yet.

    Args:
        table: JSON of the browser.

    Returns:
        None when there is no text with a language, or no row to fill.
    """
    rows = _plain_rows(table)
    source = next(
        (row for row in rows if row.get("text", "").strip() and row.get("language")), None
    )
    targets = tuple(dict.fromkeys(row["language"] for row in rows if _wants_draft(row)))
    if source is None or not targets:
        return None
    return DraftsWanted(source["text"], source["language"], targets)


def _plain_rows(table: str) -> list[dict[str, Any]]:
    try:
        return [dict(row) for row in json.loads(table or "[]")]
    except (ValueError, TypeError):
        raise InputError(ErrorCode.TABLE_UNREADABLE) from None


def _wants_draft(row: Mapping[str, Any]) -> bool:
    return bool(row.get("language")) and not row.get("audio") and not row.get("text", "").strip()


def _row(given: dict[str, Any], uploads: Path) -> BatchRow:
    audio = given.get("audio")
    return BatchRow(
        name=str(given.get("name") or "").strip(),
        language=str(given.get("language") or "").strip() or None,
        voice=str(given.get("voice") or "").strip() or None,
        text=str(given.get("text") or "") or None,
        audio=None if not audio else _upload(str(audio["path"]), str(audio["name"]), uploads),
        speed=float(given.get("speed") or 1.0),
    )


def _upload(path: str, name: str, uploads: Path) -> str:
    """The uploaded file; what lies elsewhere or was swept counts as gone, under its own name."""
    found = Path(path).resolve()
    if found.is_relative_to(uploads.resolve()) and found.is_file():
        return str(found)
    return str(uploads / "gone" / Path(name).name)
