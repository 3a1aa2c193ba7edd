"""What one language of the page consists of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ErrorWords = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Locale:
    """One language.

    Attributes:
        tag: BCP 47 tag such as `es` or `zh-CN`.
        name: what the language calls itself.
        direction: of its script.
        text: every string of the page by its key.
        errors: sentence and hint of every `ErrorCode`.
    """

    tag: str
    name: str
    direction: Literal["ltr", "rtl"]
    text: Mapping[str, str]
    errors: ErrorWords
