"""The words of the visible label as pictures: the same ones are drawn and looked for.

They were drawn once (`training/labels`), so no font and no shaping of Arabic is needed here.
"""

import functools
import json
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "labels"
DEFAULT_LANGUAGE = "en"


@dataclass(frozen=True)
class Words:
    """The label in one language.

    Attributes:
        language: such as `en`.
        text: what it says.
        letters: H x W, uint8, 255 where a letter is, cut to the letters.
        letter_px: height of a capital letter (of a hanzi, of an alef) in `letters`.
    """

    language: str
    text: str
    letters: NDArray[np.uint8]
    letter_px: int

    def scaled(self, letter_px: float) -> NDArray[np.uint8]:
        """`letters` with capitals of this height; at most as high as they were drawn."""
        scale = letter_px / self.letter_px
        height, width = self.letters.shape
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        scaled = cv2.resize(self.letters, size, interpolation=cv2.INTER_AREA)
        return np.asarray(scaled, np.uint8)


def label_languages() -> tuple[str, ...]:
    """Every language the label is there in."""
    return tuple(_listed())


@functools.cache
def words_in(language: str) -> Words:
    """The label in the language that fits a tag such as `es-mx` or `zh_cn`; else in English."""
    known = _listed()
    primary = language.lower().replace("_", "-").partition("-")[0]
    primary = primary if primary in known else DEFAULT_LANGUAGE
    with Image.open(_FOLDER / f"{primary}.png") as picture:
        letters = np.asarray(picture.convert("L"), np.uint8)
    return Words(primary, str(known[primary]["text"]), letters, int(known[primary]["letter_px"]))


@functools.cache
def _listed() -> dict[str, dict[str, str | int]]:
    listed: dict[str, dict[str, str | int]] = json.loads(
        (_FOLDER / "labels.json").read_text("utf-8")
    )
    return listed
