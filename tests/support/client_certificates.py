"""Client certificates for tests."""

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID


def certificate(key: ec.EllipticCurvePrivateKey | None = None) -> x509.Certificate:
    """Return a certificate of the key, which it signs itself; None makes a new key."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "agent")])
    key, start = key or ec.generate_private_key(ec.SECP256R1()), datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    dated = builder.not_valid_before(start).not_valid_after(start + datetime.timedelta(days=9))
    return dated.serial_number(x509.random_serial_number()).sign(key, hashes.SHA256())


def pem(one: x509.Certificate) -> str:
    return one.public_bytes(Encoding.PEM).decode()
