import json

import pytest

from engine.dub.table import read_pasted, read_table
from engine.errors import ErrorCode, InputError
from engine.messages import describe

TABLE = """Name,Language,Voice,Text,Audio
Welcome,en,,"Hello, ""friends"".
Come in.",
Saludo,es_MX,x:y,Hola,
"""


def refusal(data: bytes | str) -> tuple[ErrorCode, str]:
    with pytest.raises(InputError) as caught:
        read_pasted(data) if isinstance(data, str) else read_table(data)
    return caught.value.code, describe(caught.value.code, caught.value.values).sentence


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_table_is_read_as_spreadsheets_save_it(encoding, mark):
    table = "text,language\nHola señor,es\n你好,zh\n".replace(",", mark)

    rows = read_table(table.replace("\n", "\r\n").encode(encoding))

    assert [(row.language, row.text) for row in rows] == [("es", "Hola señor"), ("zh", "你好")]


def test_quoted_cells_keep_their_commas_marks_and_lines():
    first, second = read_table(TABLE.encode())

    assert first.text == 'Hello, "friends".\nCome in.'
    assert (first.name, first.voice, first.audio) == ("Welcome", None, None)
    assert (second.language, second.voice) == ("es-mx", "x:y")


def test_columns_have_other_names_any_order_and_strangers_among_them():
    rows = read_table(b"sep=;\nSCRIPT;notes;lang;recording;rate\nHi;no;EN;a.wav;1,2\n;;;;\n")

    assert [row.model_dump() for row in rows] == [
        {"name": "", "language": "en", "voice": None, "text": "Hi", "audio": "a.wav", "speed": 1.2}
    ]


def test_json_is_a_list_of_rows_or_an_object_that_holds_one():
    rows = [{"name": "a", "language": "de", "text": "Hallo", "speed": 0.9}, {"audio": "b.wav"}]

    bare, held = (read_table(json.dumps(given).encode()) for given in (rows, {"rows": rows}))

    assert bare == held
    assert (bare[0].speed, bare[1].audio, bare[1].text) == (0.9, "b.wav", None)


def test_cells_of_a_spreadsheet_are_pasted_without_names_above():
    two = read_pasted("en\tHello there\nfr\tBonjour, vous\n")
    four = read_pasted("Intro\ten\thibari:heart\tHello\n")
    named = read_pasted("text\tlanguage\nHallo\tde\n")

    assert [(row.language, row.text) for row in two] == [
        ("en", "Hello there"),
        ("fr", "Bonjour, vous"),
    ]
    assert (four[0].name, four[0].voice, four[0].text) == ("Intro", "hibari:heart", "Hello")
    assert (named[0].language, named[0].text) == ("de", "Hallo")


@pytest.mark.parametrize(
    ("data", "code", "reason"),
    [
        (b"", "table_empty", ""),
        (b"text,language\n\n , \n", "table_empty", ""),
        (b"[]", "table_empty", ""),
        ("text\nGr\u00fc\u00dfe\n".encode("cp1252"), "table_not_text", "UTF-8"),
        (b"first,second\na,b\n", "table_nameless", "first row"),
        (b'text\n"open\n', "table_unreadable", "quotation mark"),
        (b"text\n\0\0", "table_not_text", "not a text file"),
        (b"[{]", "table_unreadable", "bracket"),
        (b"[1, 2]", "table_unreadable", "list of rows"),
        (b'{"text": "x"}', "table_unreadable", "list of rows"),
        (b"[" * 100_000, "table_unreadable", "bracket"),
        (
            b"text,speed\nhi,1\nho,fast\n",
            "table_cell",
            "Row 2 of the table has a value under speed",
        ),
        (b"text\n" + b"x" * 20_000_000, "table_too_large", "20 MB"),
        ("a\tb\tc\td\te", "table_nameless", "first row"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_in_one_sentence(data, code, reason):
    found = refusal(data)

    assert found[0] == code
    assert reason in found[1]
