"""Sections joined, music lowered, finished sections kept: on small real files."""

from fractions import Fraction
from pathlib import Path
from threading import Event

import av
import numpy as np
import pytest

from engine.errors import Canceled, EngineError
from engine.lecture.cache import (
    SectionCache,
    key_of,
    note_used,
    remove_used,
    scope_of,
    sweep_cache,
)
from engine.lecture.clips import first_keyframe
from engine.lecture.join import Part, join
from engine.lecture.planes import PlaneConverter
from engine.lecture.section_writer import section_writer
from engine.lecture.sound import DUCKED, Music, lecture_sound
from engine.media.audio import read_samples, write_wav
from engine.media.video import probe_video, read_frames

RATE = 48_000
FPS = Fraction(25)
GREYS = (40, 120, 200)
LENGTHS = (7, 13, 5)


def section(path: Path, grey: int, count: int, size=(64, 48)) -> Part:
    converter = PlaneConverter()
    with section_writer(path, size, FPS) as writer:
        for index in range(count):
            frame = np.full((size[1], size[0], 3), grey, np.uint8)
            frame[:8, :8] = index * 9 % 256  # something that moves
            writer.write(converter.planes(frame))
    return Part(path, count, f"part {grey}")


def tone(path: Path, num_samples: int, amplitude: float) -> Path:
    at = np.arange(num_samples) / RATE
    write_wav(path, (amplitude * np.sin(2 * np.pi * 440 * at)).astype(np.float32), RATE)
    return path


@pytest.fixture
def lecture(tmp_path):
    parts, wavs, counts = [], [], []
    for index, (grey, length) in enumerate(zip(GREYS, LENGTHS, strict=True)):
        parts.append(section(tmp_path / f"{index}.mp4", grey, length))
        counts.append(length * RATE // 25)
        amplitude = 0.0 if index == 1 else 0.5
        wavs.append(tone(tmp_path / f"{index}.wav", counts[-1], amplitude))
    return parts, wavs, counts


def test_every_section_begins_at_its_exact_frame(lecture, tmp_path):
    parts, wavs, counts = lecture
    target = tmp_path / "whole.mp4"

    join(parts, lecture_sound(wavs, counts), target, FPS, {"title": "T"}, Event())

    shown = [round(float(frame[24, 40].mean())) for _, frame in read_frames(target)]
    wanted = [grey for grey, count in zip(GREYS, LENGTHS, strict=True) for _ in range(count)]
    assert np.abs(np.array(shown) - wanted).max() <= 3
    info = probe_video(target)
    assert info.num_frames == sum(LENGTHS)
    assert info.has_faststart
    assert info.duration_s == pytest.approx(sum(LENGTHS) / 25, abs=0.001)
    assert abs(info.video_duration_s - info.audio_duration_s) <= 0.04


def test_chapters_name_the_sections(lecture, tmp_path):
    parts, wavs, counts = lecture
    target = tmp_path / "whole.mp4"

    join(parts, lecture_sound(wavs, counts), target, FPS, {}, Event())

    with av.open(str(target)) as container:
        found = [
            (chapter["metadata"]["title"], round(chapter["start"] * chapter["time_base"] * 25))
            for chapter in container.chapters()
        ]
    assert found == [("part 40", 0), ("part 120", 7), ("part 200", 20)]


def test_sound_and_picture_end_together_also_at_the_end_of_a_long_lecture(lecture, tmp_path):
    parts, _, _ = lecture
    many = [parts[index % 3] for index in range(60)]
    counts = [part.num_frames * RATE // 25 for part in many]
    click = np.zeros(counts[-1], np.float32)
    click[: RATE // 100] = 0.8
    write_wav(tmp_path / "silent.wav", np.zeros(RATE, np.float32), RATE)
    write_wav(tmp_path / "click.wav", click, RATE)
    wavs = [tmp_path / "silent.wav"] * 59 + [tmp_path / "click.wav"]
    target = tmp_path / "long.mp4"

    join(many, lecture_sound(wavs, counts), target, FPS, {}, Event())

    with av.open(str(target)) as container:
        pieces = [
            (frame.pts, frame.to_ndarray()[0])
            for frame in container.decode(container.streams.audio[0])
        ]
    first = next(pts + np.argmax(np.abs(s) > 0.2) for pts, s in pieces if np.abs(s).max() > 0.2)
    wanted = sum(counts[:-1])
    assert abs(first - wanted) < RATE / 25, "within one frame"


def test_the_rest_of_a_section_can_be_copied_from_a_keyframe(tmp_path):
    part = section(tmp_path / "long.mp4", 90, 120)
    key = first_keyframe(part.video, FPS, 75, 120)
    assert 75 <= key < 120
    head = section(tmp_path / "head.mp4", 200, key)
    parts = [head, Part(part.video, 120 - key, "x", key)]
    wav = tone(tmp_path / "a.wav", RATE, 0.1)
    target = tmp_path / "clip.mp4"

    sound = lecture_sound([wav], [120 * RATE // 25])
    join(parts, sound, target, FPS, {}, Event(), has_chapters=False)

    shown = [round(float(frame[24, 40].mean())) for _, frame in read_frames(target)]
    assert len(shown) == 120
    assert np.abs(np.array(shown[:key]) - 200).max() <= 3
    assert np.abs(np.array(shown[key:]) - 90).max() <= 3


def test_sections_that_were_encoded_otherwise_are_never_joined(lecture, tmp_path):
    parts, wavs, counts = lecture
    other = section(tmp_path / "other.mp4", 80, 5, size=(96, 64))

    sound = lecture_sound(wavs, counts)
    with pytest.raises(EngineError):
        join([*parts[:2], other], sound, tmp_path / "x.mp4", FPS, {}, Event())
    assert not (tmp_path / "x.mp4").exists()


def test_a_canceled_join_leaves_nothing(lecture, tmp_path):
    parts, wavs, counts = lecture
    canceled = Event()
    canceled.set()

    with pytest.raises(Canceled):
        join(parts, lecture_sound(wavs, counts), tmp_path / "x.mp4", FPS, {}, canceled)
    assert not list(tmp_path.glob("x.mp4*"))


def test_music_goes_down_while_somebody_speaks(tmp_path):
    speech = np.zeros(12 * RATE, np.float32)
    at = np.arange(3 * RATE) / RATE
    speech[6 * RATE : 9 * RATE] = 0.3 * np.sin(2 * np.pi * 3000 * at)
    write_wav(tmp_path / "speech.wav", speech, RATE)
    tune = tone(tmp_path / "tune.wav", 5 * RATE, 0.5)

    music = Music(tune, 0.4)
    mixed = np.concatenate(list(lecture_sound([tmp_path / "speech.wav"], [12 * RATE], music)))

    def loudness(start_s: float, end_s: float) -> float:
        part = mixed[int(start_s * RATE) : int(end_s * RATE)]
        spectrum = np.abs(np.fft.rfft(part))
        bin_hz = RATE / part.size
        return float(spectrum[int(400 / bin_hz) : int(480 / bin_hz)].max() / part.size * 2)

    assert mixed.size == 12 * RATE
    assert loudness(3, 5) == pytest.approx(0.2, rel=0.1)
    assert loudness(7, 8.5) == pytest.approx(0.2 * DUCKED, rel=0.15)
    assert np.abs(mixed[: RATE // 50]).max() < 0.01, "it fades in"
    assert np.abs(mixed[-RATE // 50 :]).max() < 0.01, "and out"


def test_without_music_the_sound_is_the_words_alone(tmp_path):
    wav = tone(tmp_path / "a.wav", 1000, 0.4)

    whole = np.concatenate(list(lecture_sound([wav, wav], [1200, 900])))

    own = read_samples(wav, RATE)
    assert np.array_equal(whole, np.concatenate([own, np.zeros(200, np.float32), own[:900]]))


def test_what_is_described_alike_has_one_key():
    assert key_of({"a": 1, "b": [2]}) == key_of({"b": [2], "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})
    assert scope_of("a") != scope_of("b")


def test_a_deleted_lecture_takes_its_sections_along_but_not_those_of_others(tmp_path):
    root, jobs = tmp_path / "lectures", tmp_path / "jobs"
    cache = SectionCache(root, scope_of("me"))
    for key in ("one", "two"):
        cache.place(key, ".mp4").write_bytes(b"x")
    for job, keys in (("a", ["one", "two"]), ("b", ["two"])):
        (jobs / job).mkdir(parents=True)
        note_used(jobs / job, scope_of("me"), keys)

    remove_used(root, jobs / "a", jobs.iterdir())

    assert not cache.place("one", ".mp4").exists()
    assert cache.place("two", ".mp4").exists()


def test_old_sections_are_swept(tmp_path):
    cache = SectionCache(tmp_path, "s")
    for key in ("old", "new"):
        cache.place(key, ".mp4").write_bytes(b"x" * 100)
    now = cache.place("new", ".mp4").stat().st_mtime

    assert sweep_cache(tmp_path, max_days=1, max_gb=1, now=now + 3600) == 0
    assert sweep_cache(tmp_path, max_days=1, max_gb=1e-7, now=now) == 1
    assert sweep_cache(tmp_path, max_days=1, max_gb=1, now=now + 2 * 86400) == 1
