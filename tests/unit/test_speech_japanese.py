# ruff: noqa: RUF001 - kana and IPA letters look like others
"""How Japanese with kanji, numbers and Latin words is read."""

import pytest

from engine.speech.english import EnglishReader
from engine.speech.espeak import EspeakEngine
from engine.speech.japanese import JapaneseReader
from engine.speech.japanese_kana import sounds_of
from engine.speech.japanese_numbers import counted, kanji_value
from engine.speech.kokoro import KokoroEngine


@pytest.fixture(scope="module")
def reader():
    return JapaneseReader(EnglishReader())


def kana_of(reader, text):
    return " ".join(word.kana or word.latin for word in reader.words(text))


@pytest.mark.parametrize(
    ("text", "kana"),
    [
        ("今日は良い天気ですね。", "キョーワ ヨイ テンキデスネ"),
        ("東京へ行きました", "トーキョーエ イキマシタ"),
        ("2025年11月30日、", "ニセンニジューゴネン ジューイチガツ サンジューニチ"),
        ("15:30に", "ジューゴジサンジュップンニ"),
        ("三匹の猫と一人の人", "サンビキノ ネコト ヒトリノ ヒト"),
        ("¥1,250と10.5%", "センニヒャクゴジューエン ト ジュッテンゴパーセント"),
        ("電話は0312345678", "デンワワ ゼロサンイチニサンヨンゴロクナナハチ"),
        ("SUVが好き", "SUV ガスキ"),
        ("人々は時々", "ヒトビトワ トキドキ"),
        ("ｶﾀｶﾅとひらがな", "カタカナト ヒラガナ"),
    ],
)  # fmt: skip
def test_text_is_read_as_it_is_said(reader, text, kana):
    assert kana_of(reader, text) == kana


@pytest.mark.parametrize(
    ("value", "counter", "said"),
    [
        (1, "本", "イッポン"),
        (3, "本", "サンボン"),
        (4, "分", "ヨンプン"),
        (10, "分", "ジュップン"),
        (20, "日", "ハツカ"),
        (7, "時", "シチジ"),
        (2, "つ", "フタツ"),
        (8600, "", "ハッセンロッピャク"),
        (100_000_001, "円", "イチオクイチエン"),
        (10**20, "円", "イチ" + "ゼロ" * 20 + "エン"),
    ],
)
def test_counter_changes_the_number_and_itself(value, counter, said):
    assert counted(value, counter) == said


@pytest.mark.parametrize(
    ("numerals", "value"),
    [("二千二十五", 2025), ("二〇二五", 2025), ("十", 10), ("三万五百", 30_500), ("百万", 10**6)],
)
def test_numerals_in_kanji_have_their_value(numerals, value):
    assert kanji_value(numerals) == value


@pytest.mark.parametrize(
    ("kana", "ipa"),
    [
        ("トーキョー", "toːkʲoː"),
        ("シンブン", "ɕimbɯɴ"),
        ("カンコク", "kaŋkokɯ"),
        ("チョット", "ʨoʔto"),
        ("フィルム", "ɸiɾɯmɯ"),
        ("ティッシュ", "tiʔɕɯ"),
    ],
)
def test_kana_has_its_sounds(kana, ipa):
    assert sounds_of(kana) == ipa


def test_sounds_lie_under_the_words_people_typed(reader):
    reading = reader.read("東京へ、行く。")

    assert [span.text for span in reading.spans] == ["東京へ、", "行く。"]
    letters = "".join(symbol.letter for symbol in reading.symbols)
    assert letters == "toːkʲoːe, ikɯ. "


def test_kana_for_espeak_know_where_they_came_from(reader):
    text = "今日は、行く。"
    read, origins = reader.in_kana(text)

    assert read.split() == ["きょーわ、", "いく。"]
    assert len(read) == len(origins)
    assert text[origins[read.index("い")]] == "行"


def test_espeak_speaks_kanji_and_shows_them():
    engine = EspeakEngine()
    clip = engine.speak("今日は東京へ行きます。", "espeak:ja", "ja", 1.0)
    engine.unload()

    assert [word.text for word in clip.words] == ["今日は", "東京へ", "行きます。"]
    assert all(
        a.end_s <= b.start_s + 1e-9 for a, b in zip(clip.words, clip.words[1:], strict=False)
    )
    assert clip.words[-1].end_s > 1.0


def test_kokoro_offers_japanese_voices():
    engine = EspeakEngine()
    voices = [voice.voice_id for voice in KokoroEngine(engine).voices() if "ja" in voice.languages]
    engine.unload()

    assert voices == ["kokoro:jf_alpha", "kokoro:jm_kumo"]
