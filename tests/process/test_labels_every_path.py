"""Every way to make a video ends with all labels; single videos are checked in test_cli.py."""

import zipfile
from pathlib import Path

import pytest
from commands import CommandLine
from PIL import Image

from engine.api import StudioEngine
from engine.provenance.certificate import known_anchor
from engine.provenance.verify import check_labels
from engine.settings import EngineSettings

ROOT = Path(__file__).resolve().parents[2]
PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    with StudioEngine(EngineSettings(data_dir=tmp_path_factory.mktemp("data"))) as engine:
        yield CommandLine(engine)


def assert_labelled(video, command, language, kind):
    found = check_labels(video, known_anchor(command.engine.settings))
    assert found.problems == ()
    assert (found.visible_label, found.manifest) == (language, "valid")
    assert found.signed_here
    assert found.facts["consent"] is True
    assert found.facts["kind"] == kind
    assert found.facts["models"]


def test_words_are_in_the_language_asked_for_and_out_of_the_captions_way(command, tmp_path):
    video = tmp_path / "out.mp4"

    done = command(
        *("say", PORTRAIT, "Good morning to all.", "-o", video, "--size", 256, "--aspect", "9:16"),
        *("--captions", "burn", "--label-language", "ar"),
    )

    assert done.returncode == 0, done.stderr
    assert_labelled(video, command, "ar", "video")


def test_every_video_of_a_dub_is_labelled(command, tmp_path):
    table, folder = tmp_path / "rows.csv", tmp_path / "out"
    table.write_text("name,language,text\nHello,en,Hello there.\nHola,es,Hola a todos.\n", "utf-8")

    done = command("dub", PORTRAIT, table, "-o", folder, "--size", 256, "--animator", "lite")

    assert done.returncode == 0, done.stderr
    videos = sorted(folder.glob("*.mp4"))
    assert len(videos) == 2
    for video in videos:
        assert_labelled(video, command, "en", "video")


def test_a_lecture_and_each_of_its_clips_are_labelled(command, tmp_path):
    deck, script, video = tmp_path / "deck.pdf", tmp_path / "script.md", tmp_path / "out.mp4"
    pages = [Image.new("RGB", (320, 180), colour) for colour in ("navy", "white")]
    pages[0].save(deck, save_all=True, append_images=pages[1:])
    script.write_text("# One\n\nGood morning.\n\n# Two\n\nGoodbye.\n", "utf-8")

    done = command(
        *("lecture", PORTRAIT, deck, script, "-o", video, "--size", 360),
        *("--voice", "espeak:en-us", "--clips"),
    )

    assert done.returncode == 0, done.stderr
    assert_labelled(video, command, "en", "lecture")
    with zipfile.ZipFile(tmp_path / "out.clips.zip") as archive:
        archive.extractall(tmp_path / "clips")
    clips = sorted((tmp_path / "clips").iterdir())
    assert len(clips) == 2
    for clip in clips:
        assert_labelled(clip, command, "en", "lecture")
