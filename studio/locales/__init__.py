"""The words of the page. Every string a person reads stands in one file per language.

To add a language: copy `es.py`, translate it, and name it in `LOCALES`; the tests tell what is
missing. Gradio's own words ("Drop file here") and the names of the languages that voices speak
come from the browser.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from engine.errors import EngineError, ErrorCode
from engine.messages import Message
from studio.locales import ar, en, es, fr, zh_cn
from studio.locales.locale import Locale

DEFAULT_TAG = "en"

LOCALES: dict[str, Locale] = {
    locale.tag: locale for locale in (en.LOCALE, zh_cn.LOCALE, es.LOCALE, fr.LOCALE, ar.LOCALE)
}

_spoken_tag: ContextVar[str] = ContextVar("spoken_tag", default=DEFAULT_TAG)


class _KeepUnknown(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return "?"


@contextmanager
def speaking(tag: str) -> Iterator[None]:
    """Within, everything is said in this language; an unknown one is English."""
    token = _spoken_tag.set(tag if tag in LOCALES else DEFAULT_TAG)
    try:
        yield
    finally:
        _spoken_tag.reset(token)


def current_locale() -> Locale:
    """The language spoken now."""
    return LOCALES[_spoken_tag.get()]


def say(key: str, /, **values: object) -> str:
    """The text of `key`, its `{name}` parts filled from `values`."""
    text = current_locale().text.get(key) or en.TEXT[key]
    return text.format_map(values) if values else text


def explain(code: ErrorCode, values: Mapping[str, object] | None = None) -> Message:
    """The sentence and hint of a code; a value nobody gave shows as `?`."""
    sentence, hint = current_locale().errors.get(code) or en.LOCALE.errors[code]
    filled = _KeepUnknown(values or {})
    return Message(sentence.format_map(filled), hint.format_map(filled))


def explain_error(error: EngineError) -> Message:
    """The sentence and hint of an error."""
    return explain(error.code, error.values)


def decimal(value: float) -> str:
    """A number with one digit after the decimal mark of the language."""
    return f"{value:.1f}".replace(".", say("number.mark"))


def language_name(tag: str) -> str:
    """The English name of a language tag such as `pt`; the tag itself where none is known."""
    return en.LANGUAGE_NAMES.get(tag.lower(), tag)
