"""Recordings of any container and codec become the same mono WAV, or a refusal."""

import struct
import tracemalloc
import wave

import av
import numpy as np
import pytest
import soundfile as sf
import soxr

from engine.errors import EngineError, ErrorCode, InputError
from engine.media.audio import (
    SPEECH_RATE_HZ,
    decode_speech,
    read_blocks,
    read_samples,
    read_stretch,
    write_speech_wav,
    write_wav,
)
from engine.media.container import open_container
from engine.settings import EngineSettings
from tests.media_files import PORTRAIT, SPEECH, base_speech, encode_sound

LIMITS = EngineSettings()

LENGTH_TOLERANCE_S = 0.06
LOUDNESS_TOLERANCE_DB = 0.5
ENVELOPE_CORRELATION = 0.95


@pytest.fixture(scope="module")
def speech():
    return base_speech()


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The base clip through our decoder, at 16 kHz."""
    wav = tmp_path_factory.mktemp("base") / "speech.wav"
    decode_speech(SPEECH, wav, LIMITS)
    return read_samples(wav, 16000)


def envelope(samples):
    """Loudness curve at 100 Hz, as the mouth would follow it."""
    parts = samples[: samples.size // 160 * 160].reshape(-1, 160)
    return np.convolve(np.log(np.sqrt((parts**2).mean(1)) + 3e-3), np.ones(5) / 5, "same")


def loudness_db(samples):
    parts = samples[: samples.size // 1600 * 1600].reshape(-1, 1600)
    powers = (parts**2).mean(1)
    return 10 * np.log10(powers[powers > powers.mean() * 0.1].mean())


def correlation(left, right):
    shorter = min(left.size, right.size)
    return np.corrcoef(envelope(left[:shorter]), envelope(right[:shorter]))[0, 1]


def decoded(source, folder, limits=LIMITS):
    wav = folder / "decoded" / "speech.wav"
    wav.parent.mkdir(exist_ok=True)
    result = decode_speech(source, wav, limits)
    assert sorted(path.name for path in wav.parent.iterdir()) == ["speech.wav"]
    return result, read_samples(wav, 16000)


def refusal(source, folder, limits=LIMITS):
    wav = folder / "refused" / "speech.wav"
    wav.parent.mkdir(exist_ok=True)
    with pytest.raises(InputError) as caught:
        decode_speech(source, wav, limits)
    assert list(wav.parent.iterdir()) == []
    return caught.value


def saved_wav(folder, samples, rate_hz=16000, subtype="PCM_16", container="WAV"):
    path = folder / "upload.bin"
    sf.write(path, np.asarray(samples).T, rate_hz, subtype, format=container)
    return path


FORMATS = {
    "mp3": ("mp3", "libmp3lame", 16000),
    "mp3 44.1": ("mp3", "libmp3lame", 44100),
    "m4a aac": ("ipod", "aac", 44100),
    "bare aac": ("adts", "aac", 16000),
    "alac": ("ipod", "alac", 16000),
    "opus": ("ogg", "libopus", 48000),
    "webm": ("webm", "libopus", 48000),
    "matroska flac": ("matroska", "flac", 16000),
    "wma": ("asf", "wmav2", 16000),
    "amr": ("amr", "libopencore_amrnb", 8000),
    "avi": ("avi", "pcm_s16le", 16000),
    "caf": ("caf", "pcm_s16le", 16000),
    "au": ("au", "pcm_s16be", 16000),
    "w64": ("w64", "pcm_s16le", 16000),
    "rf64": ("wav", "pcm_s16le", 16000),
    "adpcm": ("wav", "adpcm_ima_wav", 16000),
    "mov ac3": ("mov", "ac3", 48000),
    "fragmented": ("mp4", "aac", 48000),
    "live webm": ("webm", "libopus", 48000),
}

# FFmpeg's WMA encoder and decoder together lose the first 28 ms.
LOST_AT_START_S = {"wma": 0.028}

MUXER_OPTIONS = {
    "rf64": {"rf64": "always"},
    "fragmented": {"movflags": "frag_keyframe+empty_moov+default_base_moof", "use_editlist": "0"},
    "live webm": {"live": "1"},
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_sound(name, speech, base, tmp_path):
    container, codec, rate_hz = FORMATS[name]
    samples = soxr.resample(speech, 16000, rate_hz)
    source = encode_sound(
        tmp_path / "upload", container, codec, samples, rate_hz, options=MUXER_OPTIONS.get(name)
    )

    result, sound = decoded(source, tmp_path)

    start = round(LOST_AT_START_S.get(name, 0.0) * 16000)
    assert abs(result.duration_s - 7.1) < LENGTH_TOLERANCE_S
    assert correlation(sound, base[start:]) > ENVELOPE_CORRELATION
    assert abs(loudness_db(sound) - loudness_db(base)) < LOUDNESS_TOLERANCE_DB
    assert result.source_sample_rate_hz == rate_hz
    assert not result.is_silent


@pytest.mark.parametrize(
    ("container", "subtype", "rate_hz"),
    [
        ("WAV", "PCM_U8", 11025), ("WAV", "PCM_24", 48000), ("WAV", "PCM_32", 96000),
        ("WAV", "FLOAT", 44100), ("WAV", "DOUBLE", 16000), ("WAV", "ALAW", 8000),
        ("WAV", "ULAW", 8000), ("WAV", "GSM610", 8000), ("WAVEX", "PCM_16", 22050),
        ("AIFF", "PCM_16", 44100), ("FLAC", "PCM_24", 32000), ("OGG", "VORBIS", 44100),
        ("RF64", "PCM_16", 16000), ("AU", "ULAW", 8000),
    ],
)  # fmt: skip
def test_every_sample_type_gives_the_same_sound(
    container, subtype, rate_hz, speech, base, tmp_path
):
    samples = soxr.resample(speech, 16000, rate_hz)
    source = saved_wav(tmp_path, samples, rate_hz, subtype, container)

    result, sound = decoded(source, tmp_path)

    assert abs(result.duration_s - 7.1) < LENGTH_TOLERANCE_S
    assert correlation(sound, base) > ENVELOPE_CORRELATION
    assert abs(loudness_db(sound) - loudness_db(base)) < LOUDNESS_TOLERANCE_DB


def test_result_is_mono_16_bit_at_the_common_rate(tmp_path):
    decode_speech(SPEECH, tmp_path / "speech.wav", LIMITS)

    with wave.open(str(tmp_path / "speech.wav")) as wav:
        assert (wav.getnchannels(), wav.getsampwidth(), wav.getframerate()) == (1, 2, 48000)
        assert wav.getnframes() == round(7.1 * SPEECH_RATE_HZ)


@pytest.mark.parametrize("rate_hz", [8000, 11025, 16000, 22050, 44100, 48000, 96000])
def test_last_sample_survives_any_rate(rate_hz, tmp_path):
    samples = np.zeros(round(1.37 * rate_hz), np.float32)
    last = round(0.1 * rate_hz)
    samples[-last:] = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(last) / rate_hz)
    samples[:last] = 0.1 * np.sin(2 * np.pi * 700 * np.arange(last) / rate_hz)

    result, sound = decoded(saved_wav(tmp_path, samples, rate_hz), tmp_path)

    assert result.duration_s == pytest.approx(samples.size / rate_hz, abs=1e-4)
    assert abs(sound[-80:]).max() > 0.5 * abs(sound[-1600:]).max()


def test_streamed_wav_with_unknown_sizes_is_read_to_its_end(speech, base, tmp_path):
    source = saved_wav(tmp_path, speech)
    data = bytearray(source.read_bytes())
    data[4:8] = data[40:44] = b"\xff\xff\xff\xff"
    source.write_bytes(data)

    result, sound = decoded(source, tmp_path)

    assert result.duration_s == pytest.approx(7.1, abs=0.001)
    assert correlation(sound, base) > 0.999


def test_right_channel_silent_loses_nothing(speech, base, tmp_path):
    source = saved_wav(tmp_path, [speech, np.zeros_like(speech)])

    result, sound = decoded(source, tmp_path)

    assert result.channels == 2
    assert np.abs(sound - base).max() < 0.002


def test_antiphase_stereo_is_heard(speech, base, tmp_path):
    result, sound = decoded(saved_wav(tmp_path, [speech, -speech]), tmp_path)

    assert np.abs(np.abs(sound) - np.abs(base)).max() < 0.002
    assert "one_channel_used" in result.notes


def test_two_speakers_on_two_channels_are_both_heard(speech, tmp_path):
    half = speech.size // 2
    left, right = speech.copy(), speech.copy()
    left[half:] = 0
    right[:half] = 0

    _, sound = decoded(saved_wav(tmp_path, [left, right]), tmp_path)

    first, second = loudness_db(sound[:half]), loudness_db(sound[half:])
    assert abs((first - second) - (loudness_db(speech[:half]) - loudness_db(speech[half:]))) < 0.5


@pytest.mark.parametrize("channel", [2, 4])
def test_voice_in_one_surround_channel_is_heard(channel, speech, base, tmp_path):
    planes = np.zeros((6, speech.size * 3), np.float32)
    planes[channel] = soxr.resample(speech, 16000, 48000)
    source = encode_sound(tmp_path / "upload", "wav", "pcm_s16le", planes, 48000)

    result, sound = decoded(source, tmp_path)

    assert result.channels == 6
    assert correlation(sound, base) > 0.99
    assert abs(loudness_db(sound) - loudness_db(base)) < LOUDNESS_TOLERANCE_DB


def test_rumble_channel_is_left_out(speech, base, tmp_path):
    planes = np.zeros((6, speech.size * 3), np.float32)
    planes[2] = soxr.resample(speech, 16000, 48000)
    planes[3] = 0.5 * np.sin(2 * np.pi * 45 * np.arange(planes.shape[1]) / 48000)
    source = encode_sound(tmp_path / "upload", "wav", "pcm_s16le", planes, 48000)

    _, sound = decoded(source, tmp_path)

    assert correlation(sound, base) > 0.99


def test_constant_offset_is_removed(speech, base, tmp_path):
    _, sound = decoded(saved_wav(tmp_path, speech * 0.5 + 0.3), tmp_path)

    assert abs(sound.mean()) < 1e-3
    assert correlation(sound, base) > 0.99
    assert np.abs(sound[:400]).max() < 0.05


def test_very_quiet_recording_is_lifted(speech, base, tmp_path):
    result, sound = decoded(saved_wav(tmp_path, speech * 0.01), tmp_path)

    assert "quiet_lifted" in result.notes
    assert correlation(sound, base) > ENVELOPE_CORRELATION
    assert abs(loudness_db(sound) - loudness_db(base)) < LOUDNESS_TOLERANCE_DB


def test_clipped_recording_is_lowered_and_never_clips_again(speech, base, tmp_path):
    result, sound = decoded(saved_wav(tmp_path, np.clip(speech * 16, -1, 1)), tmp_path)

    assert result.gain_db < -10
    assert np.abs(sound).max() < 1.0
    assert correlation(sound, base) > ENVELOPE_CORRELATION


def test_one_loud_click_does_not_hush_the_voice(speech, base, tmp_path):
    clicked = speech * 0.05
    clicked[30000:30008] = 1.0

    _, sound = decoded(saved_wav(tmp_path, clicked), tmp_path)

    assert abs(loudness_db(sound[40000:]) - loudness_db(base[40000:])) < 3


def test_broken_float_samples_become_silence(speech, base, tmp_path):
    broken = speech.copy()
    broken[5000:5010] = np.nan
    broken[6000] = np.inf
    broken[7000] = -1e30

    result, sound = decoded(saved_wav(tmp_path, broken, subtype="FLOAT"), tmp_path)

    assert np.isfinite(sound).all()
    assert result.peak_dbfs < 0
    assert correlation(sound, base) > 0.99


def test_floats_scaled_as_integers_are_brought_down(speech, base, tmp_path):
    _, sound = decoded(saved_wav(tmp_path, speech * 32768, subtype="FLOAT"), tmp_path)

    assert abs(loudness_db(sound) - loudness_db(base)) < LOUDNESS_TOLERANCE_DB


@pytest.mark.parametrize("level", [0.0, 2e-5])
def test_silence_is_told_and_not_amplified(level, tmp_path):
    hiss = np.random.default_rng(1).normal(0, 1, 80000) * level

    result, sound = decoded(saved_wav(tmp_path, hiss, subtype="FLOAT"), tmp_path)

    assert result.is_silent
    assert result.gain_db == 0
    assert np.abs(sound).max() < 1e-3


def test_steady_hiss_of_an_open_microphone_is_silence(tmp_path):
    hiss = np.random.default_rng(1).normal(0, 10 ** (-62 / 20), 80000)

    assert decoded(saved_wav(tmp_path, hiss, subtype="FLOAT"), tmp_path)[0].is_silent


def test_long_pauses_neither_move_the_speech_nor_change_its_loudness(speech, base, tmp_path):
    quiet = np.zeros(5 * 16000, np.float32)

    result, sound = decoded(saved_wav(tmp_path, np.concatenate([quiet, speech, quiet])), tmp_path)

    assert result.duration_s == pytest.approx(17.1, abs=1e-3)
    middle = sound[quiet.size : quiet.size + base.size]
    assert abs(loudness_db(middle) - loudness_db(base)) < LOUDNESS_TOLERANCE_DB
    assert correlation(middle, base) > 0.99
    assert np.abs(sound[: quiet.size - 200]).max() < 1e-3


@pytest.mark.parametrize("start_s", [0.5, 3.0])
def test_late_start_is_moved_to_zero(start_s, speech, base, tmp_path):
    samples = soxr.resample(speech, 16000, 48000)
    source = encode_sound(
        tmp_path / "upload", "matroska", "libopus", samples, 48000, start_s=start_s
    )

    result, sound = decoded(source, tmp_path)

    assert abs(result.duration_s - 7.1) < LENGTH_TOLERANCE_S
    assert correlation(sound, base) > ENVELOPE_CORRELATION


def test_lost_packets_become_silence_of_their_length(speech, tmp_path):
    """A recording that dropped half a second keeps its time line."""
    samples = soxr.resample(speech, 16000, 48000)
    whole = encode_sound(tmp_path / "whole", "matroska", "pcm_s16le", samples, 48000)
    with_gap = tmp_path / "gap"

    with av.open(str(whole)) as source, av.open(str(with_gap), "w", format="matroska") as target:
        stream = target.add_stream_from_template(source.streams.audio[0])
        for packet in source.demux(audio=0):
            if packet.dts is None or 2.0 < float(packet.pts * packet.time_base) < 2.5:
                continue
            packet.stream = stream
            target.mux(packet)

    result, sound = decoded(with_gap, tmp_path)

    assert abs(result.duration_s - 7.1) < LENGTH_TOLERANCE_S
    assert np.abs(sound[round(2.15 * 16000) : round(2.4 * 16000)]).max() < 1e-3


def mp3_of(speech, folder):
    return encode_sound(folder / "upload", "mp3", "libmp3lame", speech, 16000)


def test_truncated_mp3_is_used_as_far_as_it_goes(speech, base, tmp_path):
    source = mp3_of(speech, tmp_path)
    data = source.read_bytes()
    source.write_bytes(data[: len(data) // 3])

    result, sound = decoded(source, tmp_path)

    assert 2.0 < result.duration_s < 2.6
    assert ErrorCode.AUDIO_PARTLY_DAMAGED in result.notes
    assert correlation(sound, base) > 0.9


def test_a_few_broken_packets_are_bridged(speech, base, tmp_path):
    source = encode_sound(tmp_path / "upload", "matroska", "flac", speech, 16000)
    data = bytearray(source.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 3000] = bytes(3000)
    source.write_bytes(data)

    result, sound = decoded(source, tmp_path)

    assert abs(result.duration_s - 7.1) < 0.5
    assert correlation(sound[:40000], base[:40000]) > 0.9
    assert ErrorCode.AUDIO_PARTLY_DAMAGED in result.notes


def test_mostly_broken_packets_are_damaged(speech, tmp_path):
    source = encode_sound(tmp_path / "upload", "ipod", "aac", speech, 16000)
    data = bytearray(source.read_bytes())
    start = data.find(b"mdat") + 4
    noise = np.random.default_rng(2).integers(0, 256, len(data), dtype=np.uint8).tobytes()
    end = data.find(b"moov") - 4
    end = end if end > start else len(data)
    data[start:end] = noise[start:end]
    source.write_bytes(data)

    assert refusal(source, tmp_path).code is ErrorCode.DAMAGED_AUDIO


def test_sound_is_taken_from_a_video(speech, base, tmp_path):

    source = tmp_path / "film"
    samples = soxr.resample(speech, 16000, 48000)
    with av.open(str(source), "w", format="mp4") as output:
        video = output.add_stream("mpeg4", rate=10)
        video.width = video.height = 64
        audio = output.add_stream("aac", rate=48000, layout="mono")
        for start in range(0, samples.size, 4800):
            picture = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8))
            output.mux(video.encode(picture))
            piece = np.ascontiguousarray(samples[None, start : start + 4800])
            sound_frame = av.AudioFrame.from_ndarray(piece, "fltp", "mono")
            sound_frame.sample_rate = 48000
            output.mux(audio.encode(sound_frame))
        output.mux(video.encode(None))
        output.mux(audio.encode(None))

    result, sound = decoded(source, tmp_path)

    assert abs(result.duration_s - 7.1) < LENGTH_TOLERANCE_S
    assert correlation(sound, base) > ENVELOPE_CORRELATION


def test_cover_art_and_odd_tags_are_ignored(speech, base, tmp_path):
    """An ID3 tag with a picture and a title that is no valid text in its stated encoding."""
    picture = PORTRAIT.read_bytes()[:20000]
    frames = b""
    for name, body in (
        (b"TIT2", b"\x03\xff\xfe\xc3\x28 voice"),
        (b"APIC", b"\x00image/jpeg\x00\x03\x00" + picture),
    ):
        frames += name + struct.pack(">I", len(body)) + b"\0\0" + body
    size = bytes(len(frames) >> shift & 0x7F for shift in (21, 14, 7, 0))
    source = mp3_of(speech, tmp_path)
    sound_only = source.read_bytes()
    sound_only = sound_only[10 + int(sound_only[9]) + (int(sound_only[8]) << 7) :]
    source.write_bytes(b"ID3\x03\0\0" + size + frames + sound_only)

    result, sound = decoded(source, tmp_path)

    assert result.duration_s == pytest.approx(7.1, abs=0.001)
    assert correlation(sound, base) > 0.99


def test_video_without_sound_says_so(tmp_path):

    source = tmp_path / "silent film"
    with av.open(str(source), "w", format="mp4") as output:
        video = output.add_stream("mpeg4", rate=10)
        video.width = video.height = 64
        for _ in range(5):
            output.mux(video.encode(av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8))))
        output.mux(video.encode(None))

    assert refusal(source, tmp_path).code is ErrorCode.NO_AUDIO_TRACK


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", ErrorCode.EMPTY_FILE),
        (b"just words, no sound " * 50, ErrorCode.NOT_AUDIO),
        (b"ffconcat version 1.0\nfile secret.wav\n", ErrorCode.NOT_AUDIO),
        (b"PK\x03\x04" + bytes(100), ErrorCode.NOT_AUDIO),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), ErrorCode.NOT_AUDIO),
        (bytes(range(256)) * 40, ErrorCode.DAMAGED_AUDIO),
        (b"RIFF\x24\0\0\0WAVEfmt ", ErrorCode.DAMAGED_AUDIO),
        (b"fLaC" + bytes(500), ErrorCode.DAMAGED_AUDIO),
        (b"OggS" + bytes(500), ErrorCode.DAMAGED_AUDIO),
        (b"\0\0\0\x18ftypisom" + bytes(500), ErrorCode.DAMAGED_AUDIO),
        (b"ID3\x04\0\0\0\0\0\x10" + bytes(600), ErrorCode.DAMAGED_AUDIO),
    ],
)
def test_what_is_no_recording_is_refused(content, code, tmp_path):
    source = tmp_path / "voice.wav"
    source.write_bytes(content)

    assert refusal(source, tmp_path).code is code


def test_tags_that_claim_more_than_the_file_take_no_memory(speech, tmp_path):
    source = saved_wav(tmp_path, speech)
    data = source.read_bytes()
    bomb = b"LIST" + struct.pack("<I", 0x7F000000) + b"INFOIART" + struct.pack("<I", 0x7E000000)
    source.write_bytes(data[:36] + bomb + data[36:])

    assert refusal(source, tmp_path).code is ErrorCode.DAMAGED_AUDIO


def test_honest_tags_are_skipped(speech, base, tmp_path):
    source = saved_wav(tmp_path, speech)
    data = source.read_bytes()
    tags = b"LIST" + struct.pack("<I", 16) + b"INFOIART" + struct.pack("<I", 4) + b"me\0\0"
    source.write_bytes(data[:36] + tags + data[36:] + tags)

    assert correlation(decoded(source, tmp_path)[1], base) > 0.99


def test_header_without_samples_is_empty(tmp_path):
    source = saved_wav(tmp_path, np.zeros(0))

    assert refusal(source, tmp_path).code is ErrorCode.EMPTY_FILE


def test_rate_zero_in_the_header_is_damage(speech, tmp_path):
    source = saved_wav(tmp_path, speech)
    data = bytearray(source.read_bytes())
    data[24:28] = bytes(4)
    source.write_bytes(data)

    assert refusal(source, tmp_path).code is ErrorCode.DAMAGED_AUDIO


def test_too_short_is_refused_with_both_lengths(speech, tmp_path):
    error = refusal(saved_wav(tmp_path, speech[16000:16800]), tmp_path)

    assert error.code is ErrorCode.AUDIO_TOO_SHORT
    assert error.values == {"duration_s": 0.05, "need_s": 0.2}


def test_too_long_is_told_by_the_header(speech, tmp_path):
    error = refusal(saved_wav(tmp_path, speech), tmp_path, EngineSettings(max_audio_s=6))

    assert error.code is ErrorCode.AUDIO_TOO_LONG
    assert error.values == {"duration_min": "0.1", "limit_min": 0.1}


def test_too_long_without_a_header_is_found_while_decoding(speech, tmp_path):
    samples = soxr.resample(speech, 16000, 48000)
    source = encode_sound(
        tmp_path / "upload", "webm", "libopus", samples, 48000, options={"live": "1"}
    )

    error = refusal(source, tmp_path, EngineSettings(max_audio_s=3))

    assert error.code is ErrorCode.AUDIO_TOO_LONG
    assert error.values["duration_min"].startswith(">")


def test_header_that_claims_days_in_a_small_file_is_not_believed(speech, tmp_path):
    source = tmp_path / "upload"
    sf.write(source, speech, 16000, format="FLAC")
    data = bytearray(source.read_bytes())
    # The low 36 bits of these 8 bytes of STREAMINFO count the samples.
    (packed,) = struct.unpack(">Q", data[18:26])
    data[18:26] = struct.pack(">Q", packed & ~(2**36 - 1) | 16000 * 3600 * 200)
    source.write_bytes(data)

    result, _ = decoded(source, tmp_path)

    assert result.duration_s == pytest.approx(7.1, abs=0.01)


def test_progress_is_told_from_start_to_end_and_can_stop_the_work(speech, tmp_path):
    shares = []
    decode_speech(SPEECH, tmp_path / "speech.wav", LIMITS, shares.append)

    assert shares == sorted(shares)
    assert len(shares) >= 14
    assert shares[-1] == pytest.approx(1.0)

    def stop(share):
        if share > 0.6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        decode_speech(SPEECH, tmp_path / "other.wav", LIMITS, stop)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["speech.wav"]


def test_missing_folder_is_not_writable(tmp_path):
    with pytest.raises(EngineError) as caught:
        decode_speech(SPEECH, tmp_path / "nowhere" / "speech.wav", LIMITS)

    assert caught.value.code is ErrorCode.OUTPUT_NOT_WRITABLE


def test_media_library_is_refused_every_other_file(speech, tmp_path):
    """Even with a demuxer that wants to, no neighbouring file can be opened."""
    saved_wav(tmp_path, speech).rename(tmp_path / "secret.wav")
    script = tmp_path / "voice.wav"
    script.write_text("ffconcat version 1.0\nfile secret.wav\n")

    with pytest.raises((PermissionError, ValueError)), open_container(script, "concat") as opened:
        next(opened.demux())


def test_blocks_have_the_asked_length_and_add_up(tmp_path, speech):
    write_wav(tmp_path / "a.wav", soxr.resample(speech, 16000, 48000), 48000)

    blocks = list(read_blocks(tmp_path / "a.wav", 16000, block_s=2.0))

    assert [block.size for block in blocks] == [32000, 32000, 32000, 17600]
    together = np.concatenate(blocks)
    assert together.dtype == np.float32
    assert np.array_equal(together, read_samples(tmp_path / "a.wav", 16000))
    assert np.abs(together - speech).max() < 0.02


@pytest.mark.parametrize("rate_hz", [8000, 22050, 24000, 44100, 48000])
def test_reading_keeps_the_exact_length_at_any_rate(rate_hz, tmp_path):
    write_wav(tmp_path / "a.wav", np.full(rate_hz + 7, 0.25, np.float32), rate_hz)

    samples = read_samples(tmp_path / "a.wav", 16000)

    assert samples.size == round((rate_hz + 7) * 16000 / rate_hz)
    assert samples[8000] == pytest.approx(0.25, abs=1e-3)


def test_written_wav_is_clipped_not_wrapped(tmp_path):
    write_wav(tmp_path / "a.wav", np.array([0.0, 2.0, -2.0, 0.5], np.float32), 24000)

    samples, rate_hz = sf.read(tmp_path / "a.wav")
    assert rate_hz == 24000
    assert samples == pytest.approx([0.0, 1.0, -1.0, 0.5], abs=1e-4)


def test_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "a.wav"
    write_wav(target, np.zeros(100, np.float32), 24000)
    before = target.read_bytes()

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(wave.Wave_write, "writeframes", full)
    with pytest.raises(EngineError) as caught:
        write_wav(target, np.ones(100, np.float32), 24000)

    assert caught.value.code is ErrorCode.DISK_FULL
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_a_stretch_is_that_part_of_the_whole(tmp_path):
    wav = tmp_path / "speech.wav"
    noise = np.random.default_rng(5).uniform(-0.5, 0.5, 5 * 48_000)
    write_wav(wav, np.convolve(noise, np.ones(8) / 8, mode="same").astype(np.float32), 48_000)
    whole = read_samples(wav, 16_000)

    assert np.array_equal(read_stretch(wav, 16_000, 0, 20_000), whole[:20_000])
    assert np.abs(read_stretch(wav, 16_000, 40_001, 9_000) - whole[40_001:49_001]).max() < 1e-3
    assert read_stretch(wav, 16_000, 79_000, 3_000)[1_000:].max() == 0
    assert not read_stretch(wav, 16_000, 90_000, 100).any()


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 24_000, 48_000])
def test_a_spoken_clip_is_written_at_the_common_rate_second_by_second(tmp_path, rate_hz):
    samples = np.sin(np.arange(round(3.7 * rate_hz)) / rate_hz * 2000).astype(np.float32) * 0.8
    path = tmp_path / "spoken.wav"

    write_speech_wav(path, samples, rate_hz)

    written, written_hz = sf.read(path)
    expected = soxr.resample(samples, rate_hz, SPEECH_RATE_HZ)
    assert written_hz == SPEECH_RATE_HZ
    assert abs(written.size - expected.size) <= 1
    middle = slice(1000, 170_000)
    assert np.abs(written[middle] - expected[middle]).max() < 1e-4


def test_writing_a_long_clip_takes_a_few_seconds_of_memory(tmp_path):
    samples = np.zeros(60 * 24_000, np.float32)
    tracemalloc.start()
    write_speech_wav(tmp_path / "long.wav", samples, 24_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < samples.nbytes / 2
