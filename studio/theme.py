"""The look: calm paper and pine green by day, slate by night; no font from outside."""

from pathlib import Path

import gradio as gr
from gradio.themes.utils.colors import Color

from studio.locales import LOCALES
from studio.locales.locale import Locale

STYLES_PATH = Path(__file__).with_name("styles.css")
FONT_STYLES_PATH = Path(__file__).with_name("fonts.css")
DUB_STYLES_PATH = Path(__file__).with_name("dub.css")
LECTURE_STYLES_PATH = Path(__file__).with_name("lecture.css")
PUBLIC_STYLES_PATH = Path(__file__).with_name("public.css")
HEAD_PATH = Path(__file__).with_name("head.html")

# Pine green. 600 on white has a contrast of 5.9:1, 300 on the dark ground 9:1.
_PINE = Color(
    name="pine",
    c50="#eef7f4",
    c100="#d6ebe4",
    c200="#afd8cb",
    c300="#80beac",
    c400="#4f9f8b",
    c500="#2f8370",
    c600="#1f6b5b",
    c700="#1a574b",
    c800="#17463d",
    c900="#133a33",
    c950="#092420",
)

# Warm grey paper, cool enough not to look yellow.
_STONE = Color(
    name="stone",
    c50="#f8f8f6",
    c100="#f0f0ed",
    c200="#e2e2dd",
    c300="#cbccc5",
    c400="#9a9c95",
    c500="#6c6f69",
    c600="#52554f",
    c700="#3d403c",
    c800="#272a28",
    c900="#1b1d1c",
    c950="#131514",
)


# Gradio's heads of the notes in the corner, which are English everywhere.
_TOASTS = {
    "error": "error.title",
    "warning": "toast.warning",
    "success": "toast.success",
    "info": "toast.info",
}


def words_css() -> str:
    """Our own words where Gradio takes none, by the language of the page.

    Boxes for files that are no pictures say "Drop File Here - or - Click to Upload"; the notes in
    the corner are headed with the name of their kind.
    """
    rules = []
    for tag, locale in LOCALES.items():
        page = f'html[lang="{tag}"]'
        words = _css_text(locale, "upload.drop")
        box = f"{page} #voice-upload [data-testid=upload-text]::after"
        rules.append(f"{box} {{ content: {words}; }}")
        words = _css_text(locale, "upload.drop_file")
        places = f"{page} :is([id^=lecture-]:not([id$=photo-upload]), #verify-upload)"
        box = f"{places} [data-testid=upload-text]::after"
        rules.append(f"{box} {{ content: {words}; }}")
        rules += [
            f"{page} .toast-body.{kind} .toast-title-row > span::before "
            f"{{ content: {_css_text(locale, key)}; }}"
            for kind, key in _TOASTS.items()
        ]
    return "\n".join(rules)


def _css_text(locale: Locale, key: str) -> str:
    words = locale.text[key].replace("\\", "").replace('"', "")
    lines = words.replace("\n", "\\a ")
    return f'"{lines}"'


def create_theme() -> gr.themes.Base:
    """The theme of every page."""
    theme = gr.themes.Base(
        primary_hue=_PINE,
        secondary_hue=_PINE,
        neutral_hue=_STONE,
        radius_size=gr.themes.sizes.radius_md,
        font=["Segoe UI", "Roboto", "Helvetica Neue", "Noto Sans", "Arial", "sans-serif"],
        font_mono=["Consolas", "Menlo", "DejaVu Sans Mono", "monospace"],
    )
    theme.set(
        body_background_fill="*neutral_50",
        body_background_fill_dark="*neutral_950",
        block_background_fill="white",
        block_background_fill_dark="*neutral_900",
        block_border_width="1px",
        block_shadow="none",
        block_label_background_fill="transparent",
        block_label_background_fill_dark="transparent",
        block_label_border_width="0px",
        block_title_text_weight="600",
        block_info_text_color="*neutral_500",
        block_info_text_color_dark="*neutral_400",
        input_background_fill="white",
        input_background_fill_dark="*neutral_800",
        input_border_width="1px",
        input_border_color="*neutral_300",
        input_border_color_dark="*neutral_700",
        input_border_color_focus="*primary_600",
        input_border_color_focus_dark="*primary_300",
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
        button_primary_background_fill_dark="*primary_300",
        button_primary_background_fill_hover_dark="*primary_200",
        button_primary_text_color="white",
        button_primary_text_color_dark="*primary_950",
        checkbox_background_color_selected="*primary_600",
        checkbox_background_color_selected_dark="*primary_400",
        checkbox_border_color_selected="*primary_600",
        checkbox_border_color_selected_dark="*primary_400",
        slider_color="*primary_600",
        slider_color_dark="*primary_300",
        color_accent="*primary_600",
    )
    return theme
