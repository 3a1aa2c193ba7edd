"""Lectures through the command line, and decks that cannot be used."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image, ImageDraw

from engine.api import StudioEngine
from engine.cli.lecture import slide_files
from engine.contracts import JobStatus
from engine.errors import InputError
from engine.lecture.options import LectureOptions, LectureVoice
from engine.lecture.request import LectureRequest
from engine.media.video import probe_video, read_frames
from engine.messages import describe
from engine.settings import EngineSettings

ROOT = Path(__file__).resolve().parents[2]
PORTRAIT = ROOT / "tests" / "data" / "portraits" / "astronaut_collins.jpg"
SLIDES = ROOT / "tests" / "data" / "slides"
SPEECH = ROOT / "tests" / "data" / "speech"
COLOURS = ((200, 60, 60), (60, 160, 60), (60, 60, 200))
WORDS = ("Good morning to all of you.", "This is the second slide.", "Goodbye.")
FPS = 25
LIMIT_S = 280

pytestmark = pytest.mark.timeout(300)


def write_pdf(path: Path, colours=COLOURS, size=(320, 180)) -> Path:
    pages = []
    for colour in colours:
        page = Image.new("RGB", size, colour)
        ImageDraw.Draw(page).rectangle((10, 10, 60, 40), "white")
        pages.append(page)
    pages[0].save(path, save_all=True, append_images=pages[1:])
    return path


def write_script(path: Path, words=WORDS) -> Path:
    parts = [f"# Part {number}\n\n{text}\n" for number, text in enumerate(words, start=1)]
    path.write_text("\n".join(parts), "utf-8")
    return path


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def start(data_dir):
    def begin(*arguments, **variables):
        return subprocess.Popen(
            [sys.executable, "-m", "engine", "lecture", *map(str, arguments)],
            cwd=ROOT,
            env={
                **os.environ,
                "STUDIO_DATA_DIR": str(data_dir),
                "STUDIO_VISIBLE_LABEL": "0",
                "PYTHONUTF8": "1",
                **variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    return begin


@pytest.fixture(scope="module")
def cli(start):
    def run(*arguments, **variables):
        process = start(*arguments, **variables)
        out, err = process.communicate(timeout=LIMIT_S)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    return run


@pytest.fixture(scope="module")
def engine(data_dir):
    """An engine on the same folder, for what needs no command."""
    with StudioEngine(EngineSettings(data_dir=data_dir, visible_label=False)) as engine:
        yield engine


def ask(slides, script, **more) -> LectureRequest:
    """A lecture of one file, without a presenter unless a photo is given."""
    options = {"size_px": 360, "layout": "corner" if "portrait" in more else "off"}
    return LectureRequest(
        slides=tuple(map(str, slides)),
        script=script,
        options=LectureOptions(**options),
        voice=LectureVoice(voice="espeak:en-us"),
        consent=True,
        **more,
    )


def finished(engine, request):
    job = engine.lectures.submit(request)
    job = engine.wait(job.job_id, timeout_s=LIMIT_S)
    assert job.status is JobStatus.SUCCEEDED, job.error
    return job


@pytest.fixture(scope="module")
def made(cli, tmp_path_factory):
    """One lecture of three slides, with everything that belongs to it."""
    folder = tmp_path_factory.mktemp("lecture")
    pdf, script = write_pdf(folder / "deck.pdf"), write_script(folder / "script.md")
    done = cli(
        *(PORTRAIT, pdf, script, "-o", folder / "out.mp4", "--size", 360),
        *("--voice", "espeak:en-us", "--clips", "--json"),
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_a_lecture_has_captions_chapters_contents_and_clips(made):
    folder, report = made

    assert report["rendered_sections"] == 3
    assert (report["width_px"], report["height_px"]) == (640, 360)
    assert (folder / "out.contents.txt").read_text("utf-8").splitlines()[2] == "0:00 Part 1"
    captions = (folder / "out.srt").read_text("utf-8")
    assert "Good morning to all of you." in captions
    assert "Goodbye." in captions
    with av.open(str(folder / "out.mp4")) as container:
        chapters = [
            (chapter["metadata"]["title"], round(chapter["start"] * chapter["time_base"] * FPS))
            for chapter in container.chapters()
        ]
    assert chapters == [
        (section["heading"], section["first_frame"]) for section in report["sections"]
    ]
    with zipfile.ZipFile(folder / "out.clips.zip") as archive:
        assert archive.namelist() == ["slide-001.mp4", "slide-002.mp4", "slide-003.mp4"]
        (folder / "clip.mp4").write_bytes(archive.read("slide-002.mp4"))
    clip = probe_video(folder / "clip.mp4")
    assert clip.num_frames == report["sections"][1]["num_frames"]
    assert clip.sound is not None


def test_slides_change_at_the_exact_frame_and_sound_ends_with_the_picture(made):
    folder, report = made
    starts = [section["first_frame"] for section in report["sections"]]

    seen = []
    for _, frame in read_frames(folder / "out.mp4"):
        colour = frame[170, 20].astype(int)
        seen.append(int(np.argmin([np.abs(colour - wanted).sum() for wanted in COLOURS])))

    changes = [index for index in range(1, len(seen)) if seen[index] != seen[index - 1]]
    assert changes == starts[1:]
    info = probe_video(folder / "out.mp4")
    assert abs(info.video_duration_s - info.audio_duration_s) <= 1 / FPS
    assert info.num_frames == report["num_frames"]


def test_the_presenter_moves_and_the_slide_stands_still(made):
    folder, _ = made
    frames = [frame for index, frame in read_frames(folder / "out.mp4") if 5 <= index < 35]

    motion = np.std(np.stack(frames).astype(np.float32), axis=0).mean(axis=2)

    presenter = motion[-110:-10, -110:-10]
    assert presenter.mean() > 4 * motion[60:250, 20:400].mean()


def test_only_the_slide_whose_words_changed_is_made_again(made, engine):
    folder, _ = made
    words = (WORDS[0], "This is the changed slide.", WORDS[2])
    script = write_script(folder / "changed.md", words).read_text("utf-8")

    job = finished(engine, ask([folder / "deck.pdf"], script, portrait=str(PORTRAIT)))

    assert [section["rendered"] for section in job.report["sections"]] == [False, True, False]
    captions = engine.artifact_path(job.job_id, "srt").read_text("utf-8")
    assert "changed" in captions
    engine.delete(job.job_id)


def test_a_lecture_that_was_killed_goes_on_with_the_first_missing_slide(start, cli, tmp_path):
    folder = tmp_path
    words = tuple(f"Slide number {number}." for number in range(1, 5))
    pdf = write_pdf(folder / "deck.pdf", (*COLOURS, (9, 9, 9)))
    script = write_script(folder / "script.md", words)
    data = folder / "data"
    arguments = (PORTRAIT, pdf, script, "-o", folder / "out.mp4", "--size", 360)
    arguments = (*arguments, "--voice", "espeak:en-us", "--json")

    process = start(*arguments, STUDIO_DATA_DIR=str(data))
    deadline = time.monotonic() + LIMIT_S
    while len(list(data.glob("lectures/*/*.mp4"))) < 2:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    kept = {path: path.stat().st_ino for path in data.glob("lectures/*/*.mp4")}

    done = cli(*arguments, STUDIO_DATA_DIR=str(data))
    report = json.loads(done.stdout)
    assert report["rendered_sections"] <= 2
    assert len(kept) >= 2
    for path, inode in kept.items():
        assert path.stat().st_ino == inode, "a finished slide was made again"
    assert probe_video(folder / "out.mp4").num_frames == report["num_frames"]


def test_one_recording_changes_slides_at_its_times(engine, tmp_path):
    pdf = write_pdf(tmp_path / "deck.pdf", COLOURS[:2])
    audio = (str(SPEECH / "en_librivox_austen_0880.wav"),)

    job = finished(engine, ask([pdf], None, audio=audio, times="0\n1.2 Second\n"))

    sections = job.report["sections"]
    assert [section["first_frame"] for section in sections] == [0, 30]
    assert sections[1]["heading"] == "Second"


def broken_decks(folder: Path):
    """Name, slides, script and a part of the sentence."""
    ours, script = write_pdf(folder / "ours.pdf"), write_script(folder / "script.md")
    many = folder / "many.pdf"
    page = Image.new("1", (16, 9))
    page.save(many, save_all=True, append_images=[page] * 499)
    huge = folder / "huge.pdf"
    Image.new("1", (200, 200)).save(huge, resolution=1)
    cut = folder / "cut.pdf"
    cut.write_bytes(ours.read_bytes()[:200])
    text = folder / "text.pdf"
    text.write_text("no slides here", "utf-8")
    empty = write_script(folder / "empty.md", (WORDS[0], " ", WORDS[2]))
    more = write_script(folder / "more.md", (*WORDS, "More."))
    fewer = write_script(folder / "fewer.md", WORDS[:2])
    return (
        ("locked", SLIDES / "locked.pdf", script, "protected by a password"),
        ("500 pages", many, script, "500 slides"),
        ("huge page", huge, script, "far too large"),
        ("cut off", cut, script, "damaged"),
        ("text", text, script, "holds no slides"),
        ("empty section", ours, empty, "nothing to slide 2"),
        ("more sections", ours, more, "text for 4 slides"),
        ("fewer sections", ours, fewer, "2 of 3 slides"),
    )


def test_a_deck_that_cannot_be_used_gets_one_plain_sentence(engine, tmp_path):
    for name, slides, script, words in broken_decks(tmp_path):
        with pytest.raises(InputError) as caught:
            engine.lectures.submit(ask([slides], script.read_text("utf-8")))

        message = describe(caught.value.code, caught.value.values)
        assert words in message.sentence, (name, message)
        assert "{" not in message.sentence + message.hint, name
    assert not [job for job in engine.list_for(None) if not job.status.is_final]


def test_a_powerpoint_file_needs_libreoffice(cli, tmp_path):
    done = cli(
        *(PORTRAIT, SLIDES / "notes.pptx", "-o", tmp_path / "out.mp4"),
        STUDIO_OFFICE_PATH="/nowhere/soffice",
    )

    assert done.returncode == 2
    assert "LibreOffice" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_one_slide_can_be_looked_at_in_a_small_video(engine, tmp_path):
    pdf = write_pdf(tmp_path / "deck.pdf")
    script = write_script(tmp_path / "s.md", (WORDS[0], "First sentence. " * 30, WORDS[2]))

    video = engine.lectures.preview(ask([pdf], script.read_text("utf-8")), 2)

    info = probe_video(video)
    assert (info.width_px, info.height_px) == (640, 360)
    assert 2 < info.duration_s < 15
    frame = next(iter(read_frames(video)))[1]
    assert np.abs(frame[100, 500].astype(int) - COLOURS[1]).max() < 12


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("soffice") is None, reason="needs LibreOffice")
def test_the_notes_of_a_powerpoint_file_are_spoken(cli, tmp_path):
    done = cli(
        *("-", SLIDES / "notes.pptx", "-o", tmp_path / "out.mp4", "--layout", "off"),
        *("--size", 360, "--voice", "espeak:en-us", "--json"),
    )

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [section["heading"] for section in report["sections"]] == ["Light", "Mirrors"]
    captions = (tmp_path / "out.srt").read_text("utf-8")
    assert "It is fast." in captions
    assert "never said" not in captions


def test_pictures_in_a_folder_are_slides_in_the_order_people_count(tmp_path, engine):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name, colour in (("slide 2", COLOURS[0]), ("slide 10", COLOURS[1])):
        content = io.BytesIO()
        Image.new("RGB", (320, 180), colour).save(content, "PNG")
        (folder / f"{name}.png").write_bytes(content.getvalue())

    job = finished(engine, ask(slide_files(str(folder)), "# A\n[pause 1]\n# B\n[pause 1]\n"))

    video = engine.artifact_path(job.job_id, "video")
    frames = dict(read_frames(video, every=30))
    assert np.abs(frames[0][100, 300].astype(int) - COLOURS[0]).max() < 12
    assert np.abs(frames[30][100, 300].astype(int) - COLOURS[1]).max() < 12
