"""Makes a deck and a script of any length to measure lectures with: a PDF and Markdown."""

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parents[1]
FONT = ROOT / "assets" / "fonts" / "NotoSans-SemiBold-subset.ttf"
SIZE = (1600, 900)
INK, SOFT, ACCENT, PAPER = "#1b1f2a", "#5b6475", "#2f6fed", "#ffffff"

TOPICS = (
    (
        "What light is",
        "Waves, colours, and the speed of light",
        "Light is a wave that needs nothing to travel in. It crosses a room in a few "
        "billionths of a second, and it reaches us from the sun in a little more than eight "
        "minutes. What we call colour is the length of that wave: red is long, blue is "
        "short, and everything in between is a rainbow. Beyond red there is heat that we "
        "feel on our skin, and beyond blue there is the part of sunlight that tans and "
        "burns us. Our eyes see only a narrow window of it all.",
    ),
    (
        "Mirrors",
        "The angle in is the angle out",
        "A mirror sends light back in a simple way. The angle at which a ray arrives is the "
        "angle at which it leaves, on the other side of a line that stands upright on the "
        "glass. Because every ray obeys this rule, a flat mirror shows a picture that seems "
        "to stand behind it, as far away as you stand in front. A curved mirror bends the "
        "picture: a spoon shows your face upside down on its inner side, and small but "
        "upright on its back. Try it at your next breakfast.",
    ),
    (
        "Lenses",
        "Glass that bends rays to a point",
        "When light goes from air into glass it slows down, and a ray that arrives at an "
        "angle changes its direction. A lens uses this. It is thick in the middle and thin "
        "at its edge, so that all the rays of a distant lamp meet in one point behind it. "
        "The distance of that point from the lens is called the focal length. A strong lens "
        "has a short one. The lens in your eye changes its shape all day long, and so you "
        "can read a book and look at the stars with the same eye.",
    ),
    (
        "The prism",
        "White light is a mixture",
        "In the year sixteen sixty six Isaac Newton darkened his room and let one thin ray "
        "of sunlight fall through a piece of glass with three sides. On the wall behind it "
        "a band of colours appeared. Others had seen such bands before. Newton did "
        "something new: he caught one colour, sent it through a second prism, and saw that "
        "it stayed as it was. White light is a mixture, he concluded, and the prism only "
        "sorts it. It was the beginning of a new science of colour.",
    ),
)


def write_deck(folder: Path, num_slides: int) -> tuple[Path, Path]:
    """Write `slides.pdf` and `script.md`.

    Args:
        folder: exists.
        num_slides: each takes about half a minute.
    """
    pictures = [_slide(index, num_slides) for index in range(num_slides)]
    pdf, script = folder / "slides.pdf", folder / "script.md"
    pictures[0].save(pdf, save_all=True, append_images=pictures[1:], resolution=120, quality=90)
    script.write_text("\n".join(_section(index) for index in range(num_slides)), "utf-8")
    return pdf, script


def _section(index: int) -> str:
    heading, _, text = TOPICS[index % len(TOPICS)]
    return f"# {index + 1}. {heading}\n\nPart {index + 1}. {text}\n"


def _slide(index: int, num_slides: int) -> Image.Image:
    heading, subtitle, text = TOPICS[index % len(TOPICS)]
    image = Image.new("RGB", SIZE, PAPER)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 26, SIZE[1]), ACCENT)
    pen.text((110, 90), heading, font=ImageFont.truetype(FONT, 84), fill=INK)
    pen.text((112, 210), subtitle, font=ImageFont.truetype(FONT, 42), fill=SOFT)
    sentences = [sentence.strip() for sentence in text.split(". ")][:5]
    for row, sentence in enumerate(sentences):
        words = " ".join(sentence.split()[:8]).rstrip(",.:")
        top = 330 + row * 92
        pen.ellipse((116, top + 16, 134, top + 34), ACCENT)
        pen.text((160, top), words, font=ImageFont.truetype(FONT, 40), fill=INK)
    hue = f"hsl({index * 360 // num_slides}, 60%, 55%)"
    pen.ellipse((1210, 340, 1500, 630), hue)
    number = f"{index + 1} / {num_slides}"
    pen.text((1480, 830), number, font=ImageFont.truetype(FONT, 34), fill=SOFT, anchor="rs")
    return image
