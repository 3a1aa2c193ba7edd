"""Draw the words of the visible label once, so that the product needs no font for them.

    python training/labels/draw_labels.py --cjk NotoSansCJK-Bold.ttc --arabic NotoSansArabic.ttf

Latin words come from the font in `assets/fonts`. Each result is a grey picture, white letters on
black, cut to the letters; `labels.json` says how high a letter stands in it. Arabic needs a
Pillow with libraqm.
"""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont, features

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "assets" / "labels"
LATIN_FONT = ROOT / "assets" / "fonts" / "NotoSans-SemiBold-subset.ttf"

FONT_PX = 144
"""A 1080-pixel video needs letters 54 pixels high; these stand about 100 high."""

SIMPLIFIED_INDEX = 2
"""Place of the simplified Chinese letters in the collection."""

WORDS = {
    "en": ("AI-generated", "A"),
    "zh": ("AI生成", "生"),
    "es": ("Generado por IA", "A"),
    "fr": ("Généré par IA", "A"),
    "ar": ("مولد بالذكاء الاصطناعي", "ا"),  # noqa: RUF001
}
"""The words, and the letter whose height counts as the height of the text."""


def draw(text: str, font: ImageFont.FreeTypeFont, direction: str) -> Image.Image:
    """White letters on black, cut to the letters."""
    picture = Image.new("L", (FONT_PX * len(text) + 200, FONT_PX * 3), 0)
    ImageDraw.Draw(picture).text((100, FONT_PX), text, fill=255, font=font, direction=direction)
    box = picture.getbbox()
    assert box is not None
    return picture.crop(box)


def main() -> None:
    """Write one picture a language, and their list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cjk", required=True, help="Noto Sans CJK, bold")
    parser.add_argument("--arabic", required=True, help="Noto Sans Arabic, bold")
    given = parser.parse_args()
    assert features.check("raqm"), "Arabic letters would stand apart"
    TARGET.mkdir(exist_ok=True)
    fonts = {"zh": given.cjk, "ar": given.arabic}
    listed = {}
    for language, (text, letter) in WORDS.items():
        index = SIMPLIFIED_INDEX if language == "zh" else 0
        font = ImageFont.truetype(fonts.get(language, LATIN_FONT), FONT_PX, index)
        direction = "rtl" if language == "ar" else "ltr"
        path = TARGET / f"{language}.png"
        draw(text, font, direction).save(path, optimize=True)
        letter_px = np.asarray(draw(letter, font, direction)).shape[0]
        listed[language] = {"text": text, "letter_px": letter_px}
        print(path.name, hashlib.sha256(path.read_bytes()).hexdigest())
    (TARGET / "labels.json").write_text(
        json.dumps(listed, ensure_ascii=False, indent=1) + "\n", "utf-8"
    )


if __name__ == "__main__":
    main()
