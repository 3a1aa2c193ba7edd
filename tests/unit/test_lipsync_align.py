# ruff: noqa: RUF001 - letters of many scripts look like others
"""Known words on the clock of a recording, against the times of another aligner."""

import json
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest
import soundfile
import soxr

from engine.contracts import SpeechOptions
from engine.errors import ErrorCode
from engine.lipsync.align import align
from engine.lipsync.curves import CURVE_RATE_HZ, VISEMES
from engine.lipsync.from_audio import Listener
from engine.lipsync.from_script import curves_from_script
from engine.lipsync.from_timings import curves_from_timings
from engine.lipsync.segment_search import LONGEST_FRAMES, WINDOW_STATES, Chain, search
from engine.lipsync.visemes import bilabial_times, targets_of
from engine.pipeline.hear import Script, hear
from engine.pipeline.tools import Tools
from engine.speech.common_words import language_of
from engine.speech.voice import TimedPhoneme

SPEECH = Path(__file__).parents[1] / "data" / "speech"
NAMES = ("en_jfk_1961_16k", "en_librivox_austen_0870", "en_librivox_austen_0880")
TOLERANCE_S = 0.06


class Recording:
    """One recording, its words, and when another aligner hears them."""

    def __init__(self, name, tools):
        truth = json.loads((SPEECH / f"{name}.alignment.json").read_text("utf-8"))
        self.wav = SPEECH / truth["file"]
        self.text = truth["text"]
        self.phonemes = [TimedPhoneme(*entry) for entry in truth["phonemes"]]
        self.heard = tools.listener.listen_wav(self.wav)
        self.spoken = speak(tools, self.text)


def speak(tools, text, voice="espeak:en-us"):
    return tools.voices.speak(SpeechOptions(text=text, voice=voice), Event())


@pytest.fixture(scope="module")
def tools():
    tools = Tools()
    yield tools
    tools.voices.unload()


@pytest.fixture(scope="module")
def recordings(tools):
    return {name: Recording(name, tools) for name in NAMES}


def word_start_errors_s(recording, alignment):
    """Seconds between both aligners at the words whose sounds they agree on, by sound number."""
    ours = [first_viseme(sound) for sound in alignment.phonemes]
    theirs = [first_viseme(sound) for sound in recording.phonemes]
    begins = {word.start_s for word in alignment.words}
    partner = matches(ours, theirs)
    return [
        abs(sound.start_s - recording.phonemes[partner[index]].start_s)
        for index, sound in enumerate(alignment.phonemes)
        if sound.start_s in begins and index in partner
    ]


def first_viseme(sound):
    return targets_of(sound.ipa)[0].viseme


def matches(ours, theirs):
    """Longest common subsequence: index of ours -> index of theirs."""
    lengths = np.zeros((len(ours) + 1, len(theirs) + 1), int)
    for i in range(len(ours) - 1, -1, -1):
        for j in range(len(theirs) - 1, -1, -1):
            same = ours[i] == theirs[j]
            skipped = max(lengths[i + 1, j], lengths[i, j + 1])
            lengths[i, j] = max(skipped, lengths[i + 1, j + 1] + 1 if same else 0)
    found, i, j = {}, 0, 0
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j] and lengths[i, j] == lengths[i + 1, j + 1] + 1:
            found[i] = j
            i, j = i + 1, j + 1
        elif lengths[i + 1, j] >= lengths[i, j + 1]:
            i += 1
        else:
            j += 1
    return found


@pytest.mark.parametrize("name", NAMES)
def test_words_begin_where_another_aligner_hears_them(recordings, name):
    recording = recordings[name]

    alignment = align(recording.spoken, recording.heard)

    errors = word_start_errors_s(recording, alignment)
    assert len(errors) >= 0.8 * len(recording.spoken.words)
    assert np.median(errors) <= 0.03
    assert np.percentile(errors, 90) <= TOLERANCE_S
    assert [word.text for word in alignment.words] == recording.text.split()


def test_lips_close_at_every_m_b_and_p(recordings):
    num_true = num_met = 0
    for recording in recordings.values():
        found = np.array(bilabial_times(align(recording.spoken, recording.heard).phonemes))
        for true_s in bilabial_times(recording.phonemes):
            num_true += 1
            num_met += np.abs(found - true_s).min() <= TOLERANCE_S

    assert num_true >= 11
    assert num_met >= 0.9 * num_true


def test_text_moves_the_mouth_better_than_the_sound_alone(recordings):
    for recording in recordings.values():
        heard = recording.heard
        truth = curves_from_timings(
            recording.phonemes, (len(heard) - 1) / CURVE_RATE_HZ, heard.loudness
        )

        curves = curves_from_script(align(recording.spoken, heard), heard)

        assert len(curves) == len(heard)
        for name in ("jaw", "wide", "pucker", "close"):
            wanted = getattr(truth, name)
            by_text, by_sound = (
                np.corrcoef(wanted, getattr(given, name))[0, 1] for given in (curves, heard)
            )
            # Of one recording the net alone hears every closure, too.
            assert by_text > by_sound - (0.01 if name == "close" else 0.0), name


def test_mouth_is_shut_in_pauses(recordings):
    recording = recordings["en_jfk_1961_16k"]

    curves = curves_from_script(align(recording.spoken, recording.heard), recording.heard)

    silent = recording.heard.speaking < 0.05
    assert silent.sum() > CURVE_RATE_HZ
    assert curves.jaw[silent].max() < 0.05


def test_wrong_texts_are_noticed_and_right_ones_are_not(recordings):
    for name, recording in recordings.items():
        for other, text in recordings.items():
            found = align(text.spoken, recording.heard)

            assert (found is not None and found.belongs) == (name == other), (name, other)


def test_right_text_is_known_in_noise(recordings, tools):
    recording = recordings["en_librivox_austen_0870"]
    samples, _ = soundfile.read(recording.wav, dtype="float32")
    noise = np.random.default_rng(4).normal(0.0, samples.std() * 10 ** (-10 / 20), len(samples))

    found = align(recording.spoken, tools.listener.listen((samples + noise).astype(np.float32)))

    assert found.belongs
    assert np.median(word_start_errors_s(recording, found)) <= TOLERANCE_S


def test_words_left_out_of_the_text_leave_the_net_in_charge_there(recordings, tools):
    recording = recordings["en_librivox_austen_0870"]
    samples, _ = soundfile.read(recording.wav, dtype="float32")
    added, _ = soundfile.read(SPEECH / "en_librivox_austen_0880.wav", dtype="float32")
    heard = tools.listener.listen(np.concatenate([samples, added]))

    found = align(recording.spoken, heard)
    curves = curves_from_script(found, heard)

    kept = word_start_errors_s(recording, found)
    assert np.median(kept) <= TOLERANCE_S
    tail = slice(len(samples) // 320 + 40, None)
    assert np.corrcoef(curves.jaw[tail], heard.jaw[tail])[0, 1] > 0.6


def test_text_with_missing_words_is_known_and_timed(recordings, tools):
    recording = recordings["en_librivox_austen_0870"]
    words = recording.text.split()
    kept = " ".join(word for index, word in enumerate(words) if index % 5)

    found = align(speak(tools, kept), recording.heard)

    assert found.belongs
    assert np.median(word_start_errors_s(recording, found)) <= TOLERANCE_S


UNSAID = "A heavy truck blocked the narrow road for two whole days in spring."


def test_words_that_nobody_says_are_noticed(recordings, tools):
    for name, recording in recordings.items():
        words = recording.text.split()
        middle = len(words) // 2
        padded = " ".join([*words[:middle], UNSAID, *words[middle:]])

        assert align(speak(tools, padded), recording.heard).has_unsaid_words, name
        assert not align(recording.spoken, recording.heard).has_unsaid_words, name


def test_right_text_of_fast_and_noisy_speech_has_no_unsaid_words(tools):
    text = "Please bring fresh bread and butter from the market. The boat left before sunrise."
    for speed, noise_db in ((1.6, None), (1.0, -10)):
        speech = SpeechOptions(text=text, voice="hibari:heart", speed=speed)
        clip = tools.voices.speak(speech, Event())
        samples = soxr.resample(clip.samples, clip.sample_rate_hz, 16_000).astype(np.float32)
        if noise_db is not None:
            scale = samples.std() * 10 ** (noise_db / 20)
            samples = samples + np.random.default_rng(4).normal(0.0, scale, len(samples))

        found = align(speak(tools, text), tools.listener.listen(samples.astype(np.float32)))

        assert not found.has_unsaid_words, (speed, noise_db)


def test_silence_has_no_words(recordings):
    recording = recordings["en_librivox_austen_0880"]
    silence = Listener().listen(np.zeros(32_000, np.float32))

    assert align(recording.spoken, silence) is None


def test_long_recording_is_aligned_to_its_end(recordings, tools):
    recording = recordings["en_librivox_austen_0880"]
    samples, rate_hz = soundfile.read(recording.wav, dtype="float32")
    times = 20
    heard = tools.listener.listen(np.tile(samples, times))
    spoken = speak(tools, " ".join([recording.text] * times))

    found = align(spoken, heard)

    assert len(found.phonemes) > WINDOW_STATES
    assert found.belongs
    each = len(found.words) // times
    begins_s = np.array([word.start_s for word in found.words[::each]])
    expected_s = np.arange(times) * len(samples) / rate_hz + recording.phonemes[0].start_s
    assert np.abs(begins_s - expected_s).max() <= 0.1


def test_search_finds_the_only_way_and_the_pause_in_it():
    scores = np.full((9, 2), -5.0, np.float32)
    silence = np.full(9, -5.0, np.float32)
    silence[[0, 4, 5]] = 0.0
    scores[1:4, 0] = 0.0
    scores[6:9, 1] = 0.0
    free = np.zeros((2, LONGEST_FRAMES), np.float32)

    spans = search(Chain(np.array([0, 1]), free, np.array([0.0, -1.0])), scores, silence)

    assert spans.tolist() == [[1, 4], [6, 9]]


def test_search_keeps_silence_out_of_words():
    scores = np.zeros((6, 2), np.float32)
    silence = np.full(6, 5.0, np.float32)
    free = np.zeros((2, LONGEST_FRAMES), np.float32)

    spans = search(Chain(np.array([0, 1]), free, np.array([-np.inf, -np.inf])), scores, silence)

    assert spans[0, 1] == spans[1, 0]


def test_search_gives_up_when_there_are_more_sounds_than_frames():
    scores = np.zeros((3, 1), np.float32)
    chain = Chain(np.zeros(5, np.int64), np.zeros((5, LONGEST_FRAMES), np.float32), np.zeros(5))

    assert search(chain, scores, scores[:, 0]) is None


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("He was not an ill-disposed young man.", ()),
        ("Tomorrow the weather will be fine again.", (ErrorCode.SCRIPT_MISMATCH,)),
        ("word " * 1000, (ErrorCode.SCRIPT_MISMATCH,)),
        ("明日は天気がいい", (ErrorCode.SCRIPT_MISMATCH,)),
        ("...", (ErrorCode.SCRIPT_UNREADABLE,)),
    ],
)
def test_text_that_cannot_be_used_is_left_aside_with_a_note(tools, text, notes):
    wav = SPEECH / "en_librivox_austen_0880.wav"

    heard = hear(wav, Script(text), tools, Event())

    assert heard.notes == notes
    assert bool(heard.words) == bool(heard.phonemes) == (not notes)
    alone = tools.listener.listen_wav(wav)
    assert np.array_equal(alone.close, heard.curves.close) == bool(notes)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The cat sat on the mat.", "en"),
        ("Das ist nicht der Weg, den ich meine.", "de"),
        ("C'est la vie que je veux pour toi et moi.", "fr"),
        ("El perro y la casa de mi abuela.", "es"),
        ("Не знаю", "ru"),
        ("Hm", "en"),
    ],
)
def test_language_is_told_by_small_words(text, language):
    assert language_of(text) == language


def test_curves_have_viseme_rows_that_sum_to_one(recordings):
    recording = recordings["en_librivox_austen_0880"]

    curves = curves_from_script(align(recording.spoken, recording.heard), recording.heard)

    assert curves.posteriors.shape == (len(recording.heard), len(VISEMES))
    assert np.allclose(curves.posteriors.sum(axis=1), 1.0, atol=0.02)


def test_voice_without_sounds_gives_nothing(recordings):
    recording = recordings["en_librivox_austen_0880"]

    assert align(replace(recording.spoken, phonemes=(), words=()), recording.heard) is None
