# ruff: noqa: RUF001 - marks of many scripts look like others
"""Cut the fonts of captions and of the page: `python training/fonts/cut_fonts.py PACKAGES`.

PACKAGES is a folder in which `npm pack` left these, unpacked into folders of their names: the
packages `@expo-google-fonts/noto-sans-sc`, `-jp`, `-kr`, `-arabic`, `-devanagari`, `-hebrew`, as
`noto-sans-sc` and so on. Needs fonttools and brotli. Prints name, size and sha256 of each result.
"""

import argparse
import hashlib
import io
import lzma
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CAPTIONS = ROOT / "assets" / "fonts"
PAGE = ROOT / "studio" / "fonts"
CJK_MARKS = "".join(map(chr, [*range(0x3000, 0x3040), *range(0xFF00, 0xFFF0)]))
KANA = "".join(map(chr, range(0x3041, 0x3100)))
MARKS = " !\"'(),-./:;?«»–—‘’“”…"
"""Go with the letters before them, so each font has its own."""
CJK_FEATURES = "kern,mark,mkmk,ccmp,locl"
ALL_FEATURES = "*"


def of_code(codec: str, leads: Iterable[int], trails: Iterable[int]) -> str:
    """Every character of a stretch of a two-byte code."""
    found = []
    trails = list(trails)
    for lead in leads:
        for trail in trails:
            try:
                found.append(bytes([lead, trail]).decode(codec))
            except UnicodeDecodeError:
                continue
    return "".join(found)


PLAIN_TRAILS = range(0xA1, 0xFF)
COMMON_CHINESE = of_code("gb2312", range(0xB0, 0xD8), PLAIN_TRAILS)  # level 1: 3,755
ALL_CHINESE = (
    of_code("gb2312", range(0xB0, 0xF8), PLAIN_TRAILS)  # simplified: 6,763
    + of_code("big5", range(0xA4, 0xC7), [*range(0x40, 0x7F), *PLAIN_TRAILS])  # common traditional
)
JAPANESE = of_code("euc_jp", range(0xB0, 0xD0), PLAIN_TRAILS)  # level 1: 2,965
KOREAN = of_code("euc_kr", range(0xB0, 0xC9), PLAIN_TRAILS)  # 2,350 syllables
ARABIC = "".join(map(chr, [*range(0x600, 0x700), *range(0x750, 0x780), *range(0x200C, 0x2010)]))
DEVANAGARI = "".join(map(chr, [*range(0x900, 0x980), 0x200C, 0x200D, 0x25CC]))
HEBREW = "".join(map(chr, [*range(0x591, 0x5F5), 0x200E, 0x200F, 0x25CC]))


def cut(source: Path, text: str, features: str, flavor: str | None = None) -> bytes:
    """The font with these characters only, unhinted."""
    with tempfile.TemporaryDirectory() as folder:
        words, target = Path(folder) / "text", Path(folder) / "font"
        words.write_text("".join(sorted(set(text))), "utf-8")
        command = [sys.executable, "-m", "fontTools.subset", str(source), f"--text-file={words}"]
        command += ["--no-hinting", f"--layout-features={features}", f"--output-file={target}"]
        subprocess.run([*command, *([f"--flavor={flavor}"] if flavor else [])], check=True)
        return target.read_bytes()


def keep(target: Path, content: bytes) -> None:
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
    print(target.name, len(content), hashlib.sha256(content).hexdigest())


def packed(font: bytes) -> bytes:
    """As xz: half the size, and Python can open it."""
    target = io.BytesIO()
    with lzma.open(target, "wb", preset=9) as file:
        file.write(font)
    return target.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=Path)
    packages = parser.parse_args().packages

    def font(script: str, style: str) -> Path:
        return next((packages / f"noto-sans-{script.lower()}").rglob(f"*_{style}.ttf"))

    for script, text, features in (
        ("SC", ALL_CHINESE + CJK_MARKS, CJK_FEATURES),
        ("JP", JAPANESE + KANA + CJK_MARKS, CJK_FEATURES),
        ("KR", KOREAN, CJK_FEATURES),
        ("Arabic", ARABIC, ALL_FEATURES),
        ("Devanagari", DEVANAGARI, ALL_FEATURES),
        ("Hebrew", HEBREW, ALL_FEATURES),
    ):
        name = f"NotoSans{script}-SemiBold-subset.ttf.xz"
        keep(CAPTIONS / name, packed(cut(font(script, "600SemiBold"), text + MARKS, features)))
    chinese = (ROOT / "studio" / "locales" / "zh_cn.py").read_text("utf-8")
    own = "".join(character for character in sorted(set(chinese)) if ord(character) > 0x2E7F)
    rest = "".join(set(COMMON_CHINESE + CJK_MARKS) - set(own))
    for name, script, text, features in (
        ("chinese-page", "SC", own, CJK_FEATURES),
        ("chinese-common", "SC", rest, CJK_FEATURES),
        ("arabic", "Arabic", ARABIC, ALL_FEATURES),
    ):
        keep(PAGE / f"{name}.woff2", cut(font(script, "400Regular"), text, features, "woff2"))
    for name, source, text in (
        ("chinese-name", "chinese-page", "简体中文"),
        ("arabic-name", "arabic", "العربية"),
    ):
        keep(PAGE / f"{name}.woff2", cut(PAGE / f"{source}.woff2", text, ALL_FEATURES, "woff2"))


if __name__ == "__main__":
    main()
