"""Who signs: a certificate this installation made for itself, or one that was given.

A self-made one proves that nothing was changed since and which installation made it. It is on no
list of trusted signers, and says so in its name.
"""

import contextlib
import datetime as dt
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from engine.errors import EngineError, ErrorCode
from engine.provenance.facts import PRODUCER
from engine.settings import EngineSettings

VALID_YEARS = 20
"""There is no time stamp, so a signature is good while its certificate is."""
RENEWED_DAYS = 365
_CLOCK_DAYS = 1
"""Computers whose clock is a little behind must accept it too."""

_OWN_NAME = "provenance.pem"
_CURVES = {"secp256r1": "es256", "secp384r1": "es384", "secp521r1": "es512"}


@dataclass(frozen=True)
class SigningIdentity:
    """What signs.

    Attributes:
        key_pem: private key, PKCS#8.
        chain_pem: its certificate, then those that vouch for it.
        algorithm: as C2PA names it, such as `es256`.
        is_self_made: whether nobody but this installation vouches for it.
    """

    key_pem: bytes
    chain_pem: bytes
    algorithm: str
    is_self_made: bool

    @property
    def anchor_pem(self) -> str:
        """The certificate at the end of the chain."""
        last = x509.load_pem_x509_certificates(self.chain_pem)[-1]
        return last.public_bytes(serialization.Encoding.PEM).decode()


def load_identity(settings: EngineSettings) -> SigningIdentity:
    """The certificate that was given in the settings, else this installation's own.

    Raises:
        EngineError: CERTIFICATE_UNUSABLE when the given one cannot be read.
    """
    certificate, key = settings.provenance_certificate, settings.provenance_key
    if certificate is None or key is None:
        return _own_identity(settings.data_dir / "keys" / _OWN_NAME)
    try:
        key_pem, chain_pem = key.read_bytes(), certificate.read_bytes()
        x509.load_pem_x509_certificates(chain_pem)
        return SigningIdentity(key_pem, chain_pem, _algorithm(key_pem), is_self_made=False)
    except (OSError, ValueError, TypeError) as error:
        raise EngineError(ErrorCode.CERTIFICATE_UNUSABLE) from error


def known_anchor(settings: EngineSettings) -> str | None:
    """The certificate that vouches for what this installation signed; None before the first."""
    given, own = settings.provenance_certificate, settings.data_dir / "keys" / _OWN_NAME
    if given is not None or own.exists():
        with contextlib.suppress(EngineError):
            return load_identity(settings).anchor_pem
    return None


def _own_identity(path: Path) -> SigningIdentity:
    """Read the file with key and chain; make it when there is none or it ends soon."""
    if not (path.exists() and _is_good(path.read_bytes())):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_new_key_and_chain())
        part.replace(path)  # of two that make one at once the later stays, each is whole
    whole = path.read_bytes()
    at = whole.index(b"-----BEGIN CERTIFICATE")
    return SigningIdentity(whole[:at], whole[at:], "es256", is_self_made=True)


def _is_good(pem: bytes) -> bool:
    try:
        certificates = x509.load_pem_x509_certificates(pem)
    except ValueError:
        return False
    left = certificates[0].not_valid_after_utc - dt.datetime.now(dt.UTC)
    return left > dt.timedelta(days=RENEWED_DAYS)


def _new_key_and_chain() -> bytes:
    """A key with its certificate, vouched for by a second one whose key is thrown away."""
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    number = secrets.token_hex(4)
    root_name = _name(f"Installation {number}, self-made, on no trust list")
    begin = dt.datetime.now(dt.UTC) - dt.timedelta(days=_CLOCK_DAYS)
    end = begin + dt.timedelta(days=365 * VALID_YEARS)
    root = (
        x509.CertificateBuilder(root_name, root_name, root_key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(root_key.public_key()), False)
        .sign(root_key, hashes.SHA256())
    )
    own = (
        x509.CertificateBuilder(root_name, _name(f"Signer {number}, self-made"), key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), False
        )
        .sign(root_key, hashes.SHA256())
    )
    key_pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    pem = serialization.Encoding.PEM
    return key_pem + own.public_bytes(pem) + root.public_bytes(pem)


def _name(common_name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, PRODUCER),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _algorithm(key_pem: bytes) -> str:
    key = serialization.load_pem_private_key(key_pem, None)
    if isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name in _CURVES:
        return _CURVES[key.curve.name]
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return "ed25519"
    if isinstance(key, rsa.RSAPrivateKey):
        return "ps256"
    raise ValueError("a key C2PA does not know")
