"""The words of the page. Every string a person reads stands in one file per language."""

from studio.locales.en import LANGUAGE_NAMES, TEXT


def say(key: str, /, **values: object) -> str:
    """The text of `key`, its `{name}` parts filled from `values`."""
    return TEXT[key].format_map(values) if values else TEXT[key]


def language_name(tag: str) -> str:
    """The name of a BCP 47 tag such as `pt-br`; the tag itself where no name is known."""
    lowered = tag.lower()
    if lowered in LANGUAGE_NAMES:
        return LANGUAGE_NAMES[lowered]
    base, _, region = lowered.partition("-")
    if region and base in LANGUAGE_NAMES:
        return f"{LANGUAGE_NAMES[base]} ({region.upper()})"
    return tag
