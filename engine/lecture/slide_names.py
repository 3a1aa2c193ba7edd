"""What a slide without a title is called, in the language of the label."""

_NAMES = {
    "en": "Slide {}",
    "zh": "幻灯片 {}",
    "es": "Diapositiva {}",
    "fr": "Diapositive {}",
    "ar": "الشريحة {}",
}


def slide_name(number: int, language: str = "en") -> str:
    """The name of a slide.

    Args:
        number: from 1.
        language: BCP 47 tag; English where it is not known.
    """
    return _NAMES.get(language.partition("-")[0], _NAMES["en"]).format(number)
