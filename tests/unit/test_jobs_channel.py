"""The wire between parent and child: what is taken, what is ignored."""

import io
import os

import pytest

from engine.worker.channel import Channel, ChannelClosed, decode, encode


def test_a_message_is_one_line_whatever_its_text() -> None:
    message = {"type": "run", "text": "zwei\nZeilen \u2028 \U0001f642", "path": "C:\\x"}

    line = encode(message)

    assert line.count(b"\n") == 1
    assert line.isascii()
    assert decode(line) == message


@pytest.mark.parametrize(
    "line", [b"\n", b"hello\n", b"[1]\n", b'{"no": "type"}\n', b'{"type": 3}\n', b"\xff\xfe\n"]
)
def test_what_is_no_message_is_ignored(line: bytes) -> None:
    received = io.BytesIO(line + encode({"type": "ping"}))

    assert list(Channel(received, io.BytesIO()).messages()) == [{"type": "ping"}]


def test_half_a_line_at_the_end_is_ignored() -> None:
    received = io.BytesIO(encode({"type": "ping"}) + b'{"type": "resu')

    assert list(Channel(received, io.BytesIO()).messages()) == [{"type": "ping"}]


def test_sending_to_nobody_says_so() -> None:
    reader, writer = os.pipe()
    os.close(reader)

    with os.fdopen(writer, "wb", buffering=0) as pipe:
        channel = Channel(io.BytesIO(), pipe)
        with pytest.raises(ChannelClosed):
            channel.send(type="ping")
