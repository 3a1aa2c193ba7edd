"""The words of the page. Every string a person reads stands in one file per language."""

from studio.locales.en import LANGUAGE_NAMES, TEXT


def say(key: str, /, **values: object) -> str:
    """The text of `key`, its `{name}` parts filled from `values`."""
    return TEXT[key].format_map(values) if values else TEXT[key]


def language_name(tag: str) -> str:
    """The name of a language tag such as `pt`; the tag itself where no name is known."""
    return LANGUAGE_NAMES.get(tag.lower(), tag)
