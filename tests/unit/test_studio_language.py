import gradio as gr
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from engine.settings import EngineSettings
from studio.app import build_studio
from studio.language import LANGUAGE_COOKIE, PageLanguage, language_of, mark_page
from studio.locales import LOCALES, say, speaking
from studio.parts.language_switch import switch_html
from tests.studio_fakes import FakeEngine

PAGE = '<!doctype html>\n<html\n\tlang="en"\n\tstyle="margin: 0"\n>\n<head>\n</head></html>'


@pytest.mark.parametrize(
    ("accepted", "tag"),
    [
        ("", "en"),
        ("es-MX,es;q=0.9,en;q=0.8", "es"),
        ("de-DE,de;q=0.9,fr;q=0.8,en;q=0.7", "fr"),
        ("en-GB,en;q=0.9,fr;q=0.8", "en"),
        ("zh-TW,zh;q=0.9", "zh-CN"),
        ("zh-Hans-CN", "zh-CN"),
        ("ar;q=0.5,fr;q=0.4", "ar"),
        ("fr;q=0,es", "es"),
        ("tlh", "en"),
        ("*;q=nonsense,,;q=1", "en"),
    ],
)
def test_the_language_follows_the_browser(accepted, tag):
    assert language_of({"accept-language": accepted}) == tag


def test_the_visitors_choice_wins_over_the_browser():
    headers = {"accept-language": "fr", "cookie": f"a=b; {LANGUAGE_COOKIE}=ar"}

    assert language_of(headers) == "ar"


@pytest.mark.parametrize("cookie", [f"{LANGUAGE_COOKIE}=tlh", f"{LANGUAGE_COOKIE}=../en", "\x00="])
def test_a_choice_that_is_none_of_ours_is_ignored(cookie):
    assert language_of({"accept-language": "fr", "cookie": cookie}) == "fr"


def test_a_page_is_marked_with_its_language_and_direction():
    marked = mark_page(PAGE.encode(), LOCALES["ar"]).decode()

    assert '<html lang="ar" dir="rtl"\n\tstyle' in marked
    assert "get: () => 'ar'" in marked.partition("</head>")[0]


def test_answers_are_in_the_visitors_language():
    async def page(_request):
        return HTMLResponse(PAGE + say("make.generate"))

    async def other(_request):
        return PlainTextResponse(say("make.generate"))

    app = Starlette(
        routes=[Route("/", page), Route("/other", other)], middleware=[Middleware(PageLanguage)]
    )
    client = TestClient(app, headers={"accept-language": "es"})

    answer = client.get("/")

    assert 'lang="es" dir="ltr"' in answer.text
    assert "Hacer el vídeo" in answer.text
    assert answer.headers["content-language"] == "es"
    assert "Accept-Language" in answer.headers["vary"]
    assert client.get("/other").text == "Hacer el vídeo"


@pytest.fixture(scope="module")
def blocks(tmp_path_factory) -> gr.Blocks:
    folder = tmp_path_factory.mktemp("studio")
    return build_studio(FakeEngine(folder), EngineSettings(data_dir=folder / "data"))


def test_the_page_is_described_in_the_language_spoken(blocks):
    def words() -> set[str]:
        props = [component["props"] for component in blocks.config["components"]]
        return {str(value) for each in props for value in each.values()}

    english = words()
    assert say("make.generate") in english
    for tag in LOCALES:
        with speaking(tag):
            assert say("make.generate") in words()
            assert say("photo.upload") in words()
            assert say("check.checking") not in english or tag == "en"


def test_the_wiring_is_the_same_in_every_language(blocks):
    def wiring() -> list[tuple[object, ...]]:
        parts = [(each["id"], each["type"]) for each in blocks.config["components"]]
        events = [
            (each["id"], str(each["targets"]), str(each["inputs"]), str(each["outputs"]))
            for each in blocks.config["dependencies"]
        ]
        return [*parts, *events]

    english = wiring()
    for tag in LOCALES:
        with speaking(tag):
            assert wiring() == english


def test_the_switch_lists_every_language_by_its_own_name():
    with speaking("fr"):
        shown = switch_html()

    assert '<option value="fr" lang="fr" selected>Français</option>' in shown
    assert '<option value="ar" lang="ar">العربية</option>' in shown
    assert 'aria-label="Langue de la page"' in shown
