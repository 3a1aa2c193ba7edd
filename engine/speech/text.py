# ruff: noqa: RUF001 - marks of many scripts look like others
"""What people type, made ready for a voice: the one front end before every back end.

Owns cleaning (`clean`, `clean_text`) and the rewriting that depends on the language
(`make_speakable`): addresses, dates, money and the like. Plain numbers are left to the back ends,
which read them.
"""

import html
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote

from engine.errors import ErrorCode, InputError
from engine.speech.mapped_text import MappedText
from engine.speech.spoken_numbers import respell_numbers

# Written for the eye: fancy letters people paste, full and half width forms, ligatures.
_FANCY = re.compile(
    "[\U0001d400-\U0001d7ff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff65-\uff9f\ufb00-\ufb06]"
)
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028]|\u2029")
_EMOJI = re.compile(
    "[ \t]*(?:[\U0001f000-\U0001fbff\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U000e0020-\U000e007f\u20e3\ufe0e\ufe0f]+"
    "|(?<!\\S)(?:[:;]['’]?-?[()DP]|<3)(?!\\w))"
)
_HIDDEN_HTML = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b[^>]*>.*?(?:</\1\s*>|\Z)|<[!?][^<>]*>", re.S | re.I
)
_TAG = r"""</?(?:{names})(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))*\s*/?>"""
_BLOCK_TAG = re.compile(
    _TAG.format(names="br|p|div|li|ul|ol|tr|table|h[1-6]|section|article|blockquote|break"), re.I
)
_OTHER_TAG = re.compile(_TAG.format(names=r"[A-Za-z][\w:.-]*"))
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)")
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+•·][ \t]+|```.*$)", re.M)
_RULE = re.compile(r"^[ \t]*(?:[-=*_|:][ \t]*){3,}$", re.M)
_EMPHASIS = tuple(
    re.compile(rf"(?<![\w{mark[-1]}]){mark}(?=\S)([^\n]{{1,500}}?)(?<=\S){mark}(?!\w)")
    for mark in (r"\*\*", "__", "~~", r"\*", "_", "`")
)
_TABLE_EDGE = re.compile(r"^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$", re.M)
_TABLE_BAR = re.compile(r"[ \t]*\|[ \t]*")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});")
_HASHTAG = re.compile(r"(?<!\w)#(?=[^\W\d_])")
_SPACES = re.compile(r"[^\S\n]+")
_SPACE_AT_BREAK = re.compile(r" ?\n ?")
_BREAKS = re.compile(r"\n{2,}")
# A break in running text; not behind the marks that rules, tables and code fences end with.
_LINE_BREAK = re.compile(r"(?<=[^\s`\-=*_|>])[^\S\n]*\n[^\S\n]*(?=\S)")
_REPEATED_MARK = re.compile(r"([!?,;:！？])\1+")
_DOTS = re.compile(r"\.{4,}")
_DASHES = re.compile(r"(?<!-)-{2,3}(?!-)")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"'“”]+(?<![.,;:!?)\]}’])", re.I)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_LONGEST_SPOKEN_PATH = 40
# language: dot, slash, at
_SIGN_NAMES = {
    "en": ("dot", "slash", "at"),
    "de": ("Punkt", "Schrägstrich", "ät"),
    "fr": ("point", "barre oblique", "arobase"),
    "es": ("punto", "barra", "arroba"),
    "it": ("punto", "barra", "chiocciola"),
    "pt": ("ponto", "barra", "arroba"),
    "nl": ("punt", "slash", "apenstaartje"),
    "sv": ("punkt", "snedstreck", "snabel-a"),
    "pl": ("kropka", "ukośnik", "małpa"),
    "ru": ("точка", "слэш", "собака"),
    "tr": ("nokta", "eğik çizgi", "et"),
    "cmn": ("点", "斜杠", "艾特"),
    "ja": ("ドット", "スラッシュ", "アットマーク"),
}


# Nobody hears a number of more than twelve digits as one, and some readers have no words for it.
_LONG_NUMBER = re.compile(r"(?<![\d.,])\d(?:[,']?\d){12,}(?![.,]?\d)")


@dataclass(frozen=True)
class CleanText:
    """A text that holds only what is to be spoken.

    Attributes:
        mapped: the text; paragraphs parted by an empty line.
        notes: what was left out, as `ErrorCode` values: `emoji_dropped`, `markup_removed`.
    """

    mapped: MappedText
    notes: tuple[str, ...]


def clean_text(text: str, max_characters: int) -> str:
    """The text as `clean` leaves it, for checks that need no more."""
    return clean(text, max_characters).mapped.text


def clean(text: str, max_characters: int) -> CleanText:
    """Take out what is not to be spoken, whatever the language.

    Args:
        text: as typed or pasted.
        max_characters: longest text taken, as typed.

    Raises:
        InputError: TEXT_TOO_LONG; TEXT_EMPTY when no letter or digit is left.
    """
    if len(text.strip()) > max_characters:
        raise InputError(ErrorCode.TEXT_TOO_LONG, count=len(text.strip()), limit=max_characters)
    typed = MappedText.of(unicodedata.normalize("NFC", text)).cleaned(_LINE_ENDS, "\n")
    typed = typed.cleaned(_LINE_BREAK, _wrapped_or_break)
    bare = _without_markup(typed)
    plain = _plain_characters(bare)
    without_emoji = plain.cleaned(_EMOJI, _between_words)
    mapped = _spaces(without_emoji)
    if not is_speakable(mapped.text):
        raise InputError(ErrorCode.TEXT_EMPTY)
    notes = []
    if bare.text != typed.text:
        notes.append(ErrorCode.MARKUP_REMOVED.value)
    if without_emoji.text != plain.text:
        notes.append(ErrorCode.EMOJI_DROPPED.value)
    return CleanText(mapped, tuple(notes))


def is_speakable(text: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return any(unicodedata.category(character)[0] in "LN" for character in text)


def make_speakable(text: MappedText, language: str) -> MappedText:
    """Respell what no voice reads well, in the words of `language`.

    Web and mail addresses, long numbers, dates, times, money and units; readers go on seeing what
    was typed.
    """
    names = _SIGN_NAMES.get(language, _SIGN_NAMES.get(language.partition("-")[0]))
    dot, slash, at = names or _SIGN_NAMES["en"]

    def speak_mail(match: re.Match[str]) -> str:
        user, _, host = match.group().rpartition("@")
        return f"{user.replace('.', f' {dot} ')} {at} {host.replace('.', f' {dot} ')}"

    def speak_url(match: re.Match[str]) -> str:
        address = re.sub(r"^(?:https?://)?(?:www\.)?", "", match.group(), flags=re.I)
        host, *path = re.split(r"[?#]", address)[0].rstrip("/").split("/")
        if sum(map(len, path)) > _LONGEST_SPOKEN_PATH:
            path = []
        path = [re.sub(r"[-_+]+", " ", unquote(part)) for part in path]
        return f" {slash} ".join([host, *path]).replace(".", f" {dot} ") or match.group()

    text = text.respelled(_URL, speak_url).respelled(_MAIL, speak_mail)
    text = text.respelled(_LONG_NUMBER, lambda match: " ".join(re.findall(r"\d", match.group())))
    return respell_numbers(text, language)


def _plain_characters(text: MappedText) -> MappedText:
    """Fancy letters read plainly, control and invisible characters gone."""
    text = text.respelled(_FANCY, lambda match: unicodedata.normalize("NFKC", match.group()))
    kept = [index for index in range(len(text.text)) if _is_kept(text.text, index)]
    return MappedText(
        "".join(" " if _is_control(text.text[index]) else text.text[index] for index in kept),
        tuple(text.shown[index] for index in kept),
    )


def _is_control(character: str) -> bool:
    return unicodedata.category(character) == "Cc" and character != "\n"


def _is_kept(text: str, index: int) -> bool:
    if text[index] in "\u200c\u200d":  # joiners are spelling in Persian and Indic words
        return 0 < index < len(text) - 1 and all(
            unicodedata.category(text[beside])[0] in "LM" for beside in (index - 1, index + 1)
        )
    return unicodedata.category(text[index]) not in ("Cf", "Cs", "Co", "Cn")


def _between_words(match: re.Match[str]) -> str:
    """What stays where something was taken out: a space if words would grow together."""
    text, start, end = match.string, match.start(), match.end()
    joins = start > 0 and end < len(text) and not (text[end].isspace() or text[end] in ".,;:!?")
    return " " if joins else ""


def _without_markup(text: MappedText) -> MappedText:
    """HTML, SSML and Markdown down to the words in it."""
    text = text.cleaned(_HIDDEN_HTML, " ").cleaned(_BLOCK_TAG, "\n").cleaned(_OTHER_TAG)
    text = text.cleaned(_RULE).cleaned(_LINE_MARK).kept(_IMAGE_OR_LINK)
    for pattern in _EMPHASIS:
        text = text.kept(pattern)
    text = text.cleaned(_TABLE_EDGE).cleaned(_TABLE_BAR, ", ").cleaned(_HASHTAG)
    return text.cleaned(_ENTITY, lambda match: html.unescape(match.group()))


def _spaces(text: MappedText) -> MappedText:
    """One space between words, one break between lines, two between paragraphs."""
    text = text.cleaned(_SPACES, " ").cleaned(_SPACE_AT_BREAK, "\n").cleaned(_BREAKS, "\n\n")
    text = text.cleaned(_REPEATED_MARK, lambda match: match.group(1))
    return text.cleaned(_DOTS, "…").cleaned(_DASHES, "—").strip()


def _wrapped_or_break(match: re.Match[str]) -> str:
    """A line that goes on with a small letter was only wrapped."""
    return " " if match.string[match.end() : match.end() + 1].islower() else "\n"
