"""Which addresses a speech server may have: this computer and private networks, nothing else."""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from engine.errors import EngineError, ErrorCode

_PRIVATE = tuple(
    ipaddress.ip_network(block)
    for block in (
        "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7",
    )
)  # fmt: skip


@dataclass(frozen=True)
class PrivateServer:
    """Where to connect to and what to call the server there.

    Attributes:
        base_url: with the number that the name stood for: no later look-up can lead elsewhere.
        host: what was typed, for the `Host` header and the certificate.
    """

    base_url: str
    host: str


def private_server(url: str) -> PrivateServer:
    """Look an address up.

    Args:
        url: such as `http://192.168.1.20:8880` or `http://localhost:8000/v1`.

    Raises:
        EngineError: SPEECH_ADDRESS_WRONG, SPEECH_ADDRESS_UNKNOWN or SPEECH_ADDRESS_OUTSIDE.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise EngineError(ErrorCode.SPEECH_ADDRESS_WRONG) from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise EngineError(ErrorCode.SPEECH_ADDRESS_WRONG)
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise EngineError(ErrorCode.SPEECH_ADDRESS_UNKNOWN) from error
    numbers = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    if not numbers or not all(_is_private(number) for number in numbers):
        raise EngineError(ErrorCode.SPEECH_ADDRESS_OUTSIDE)
    number = numbers[0]
    host = f"[{number}]" if number.version == 6 else str(number)
    path = parts.path.rstrip("/").removesuffix("/v1")
    return PrivateServer(f"{parts.scheme}://{host}:{port}{path}", parts.netloc)


def _is_private(number: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    mapped = number.ipv4_mapped if isinstance(number, ipaddress.IPv6Address) else None
    plain = mapped or number
    return any(plain.version == block.version and plain in block for block in _PRIVATE)
