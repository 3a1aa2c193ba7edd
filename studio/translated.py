"""A Gradio page that is sent in the language of whoever asks."""

from collections.abc import Callable, Mapping

import gradio as gr
from gradio.data_classes import BlocksConfigDict as Config

from studio.locales import DEFAULT_TAG, LOCALES, current_locale, speaking


class TranslatedBlocks(gr.Blocks):
    """Blocks whose config has the words of the language spoken while it is read.

    The page is built once per language by the same code. The English one does the work; the
    others only lend it their words.
    """

    _base: Config
    _lenders: Mapping[str, Config] = {}
    _translated: Mapping[str, Config] = {}

    @property
    def config(self) -> Config:
        """The page's description, translated."""
        return self._translated.get(current_locale().tag, self._base)

    @config.setter
    def config(self, config: Config) -> None:
        self._base = config
        self._translate()

    def borrow_words(self, lenders: Mapping[str, Config]) -> None:
        """Take the words of the same page in other languages.

        Args:
            lenders: the configs of those pages by language tag.
        """
        self._lenders = lenders
        self._translate()

    def _translate(self) -> None:
        self._translated = {
            tag: with_words_of(self._base, lender) for tag, lender in self._lenders.items()
        }


def build_translated(build: Callable[[type[gr.Blocks]], gr.Blocks]) -> gr.Blocks:
    """Build a page in every language.

    Args:
        build: makes the page with the class it is handed, in the language spoken then.
    """
    lenders: dict[str, Config] = {}
    for tag in LOCALES:
        if tag != DEFAULT_TAG:
            with speaking(tag):
                lenders[tag] = build(gr.Blocks).config
    with speaking(DEFAULT_TAG):
        blocks = build(TranslatedBlocks)
    if isinstance(blocks, TranslatedBlocks):
        blocks.borrow_words(lenders)
    return blocks


def with_words_of(base: Config, lender: Config) -> Config:
    """The wiring of one config with the words of another that was built by the same code."""
    components = [
        {**own, "props": theirs["props"]}
        for own, theirs in zip(base["components"], lender["components"], strict=True)
    ]
    dependencies = [
        {**own, "js": theirs["js"]}
        for own, theirs in zip(base["dependencies"], lender["dependencies"], strict=True)
    ]
    return {
        **base,
        "title": lender["title"],
        "components": components,
        "dependencies": dependencies,
    }
