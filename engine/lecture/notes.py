"""Speaker's notes and titles of a PowerPoint file, read from its XML in bounded memory."""

import posixpath
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from engine.errors import ErrorCode, InputError

MAX_PART_BYTES = 8_000_000
"""Largest XML part that is unpacked; a slide has some ten thousand."""

MAX_PARTS = 20_000
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_NOTES_KIND = "/notesSlide"
_DOCTYPE = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


@dataclass(frozen=True)
class SlideNote:
    """What belongs to one slide: the words of the notes and the title, either may be empty."""

    text: str
    title: str


def read_notes(source: Path) -> tuple[SlideNote, ...]:
    """Read the notes of the slides that are shown; hidden ones are left out.

    Raises:
        InputError: SLIDES_LOCKED or SLIDES_DAMAGED.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            if len(archive.infolist()) > MAX_PARTS:
                raise InputError(ErrorCode.SLIDES_DAMAGED)
            return tuple(_notes(archive))
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, OSError, ValueError) as error:
        raise InputError(ErrorCode.SLIDES_DAMAGED) from error
    except (RuntimeError, NotImplementedError) as error:  # what zipfile says about a password
        raise InputError(ErrorCode.SLIDES_LOCKED) from error


def _notes(archive: zipfile.ZipFile) -> list[SlideNote]:
    links = _links(archive, "ppt/presentation.xml")
    order = _parse(archive, "ppt/presentation.xml").findall(f".//{_SLIDE}sldId")
    found = []
    for entry in order:
        path = links[entry.attrib[f"{_LINK}id"]][1]
        slide = _parse(archive, path)
        if slide.get("show", "1") in ("0", "false"):
            continue
        kinds = _links(archive, path).values()
        notes = next((target for kind, target in kinds if kind.endswith(_NOTES_KIND)), None)
        text = "" if notes is None else _placeholder(_parse(archive, notes), {"body"})
        title = " ".join(_placeholder(slide, {"title", "ctrTitle"}).split())
        found.append(SlideNote(text, title))
    return found


def _placeholder(slide: ElementTree.Element, kinds: set[str]) -> str:
    """The words in the first place of a kind, a line for each paragraph."""
    for shape in slide.iter(f"{_SLIDE}sp"):
        place = shape.find(f".//{_SLIDE}nvPr/{_SLIDE}ph")
        if place is not None and place.get("type", "obj") in kinds:
            paragraphs = shape.iter(f"{_DRAWING}p")
            lines = ("".join(t.text or "" for t in p.iter(f"{_DRAWING}t")) for p in paragraphs)
            return "\n".join(lines).strip()
    return ""


def _links(archive: zipfile.ZipFile, path: str) -> dict[str, tuple[str, str]]:
    """What a part refers to: id -> kind and path."""
    folder, name = posixpath.split(path)
    try:
        root = _parse(archive, f"{folder}/_rels/{name}.rels")
    except KeyError:
        return {}
    return {
        link.attrib["Id"]: (
            link.attrib.get("Type", ""),
            posixpath.normpath(posixpath.join(folder, link.attrib.get("Target", ""))).lstrip("/"),
        )
        for link in root
    }


def _parse(archive: zipfile.ZipFile, path: str) -> ElementTree.Element:
    with archive.open(path) as part:
        content = part.read(MAX_PART_BYTES + 1)
    # Office writes no document types; with them a file could unfold into gigabytes.
    if len(content) > MAX_PART_BYTES or _DOCTYPE.search(content):
        raise InputError(ErrorCode.SLIDES_DAMAGED)
    return ElementTree.fromstring(content)  # noqa: S314 - without document types, of bounded size
