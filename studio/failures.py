"""The edge where errors become sentences: a handler never shows a traceback."""

import functools
import html
import logging
from collections.abc import Callable, Generator, Iterator
from typing import ParamSpec, TypeVar, cast

import gradio as gr

from engine.errors import EngineError, ErrorCode
from engine.messages import Message
from studio.language import in_visitors_language
from studio.locales import explain, explain_error, say

_log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


def guarded(handler: Callable[P, R]) -> Callable[P, R]:
    """Wrap a handler of the page: what fails in it is shown as a sentence and a hint.

    Everything is said in the visitor's language.
    """

    @in_visitors_language
    @functools.wraps(handler)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return handler(*args, **kwargs)
        except gr.Error:
            raise
        except EngineError as error:
            raise toast(explain_error(error)) from None
        except Exception:  # noqa: BLE001 - the edge; logged with its traceback
            _log.exception("a page handler failed")
            raise toast(explain(ErrorCode.INTERNAL)) from None

    return wrapper


def guarded_steps(handler: Callable[P, Generator[R]]) -> Callable[P, Iterator[R]]:
    """Wrap a handler that shows one thing after another; each step is guarded.

    The steps of a handler run in different contexts, so the language is set for each anew.
    """

    @functools.wraps(handler)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        steps = handler(*args, **kwargs)
        end = object()
        take = guarded(lambda: next(steps, end))
        try:
            while (step := take()) is not end:
                yield cast(R, step)
        finally:
            steps.close()  # also when the page was closed in between

    return wrapper


def toast(message: Message) -> gr.Error:
    """The error to raise for a message; Gradio shows it in a corner of the page."""
    text = html.escape(f"{message.sentence} {message.hint}")
    return gr.Error(text, title=say("error.title"), print_exception=False)
