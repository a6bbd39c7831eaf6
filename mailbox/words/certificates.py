"""Client certificates: the fingerprint of a certificate's public key. A renewed certificate may keep its key."""

import base64
import re
from functools import lru_cache
from hashlib import sha256
from urllib.parse import unquote

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

MOST = 16_384  # characters of a certificate
_IN_ENVOYS_HEADER = re.compile(r'(?:^|[;,])Cert="([^"]*)"', re.IGNORECASE)


@lru_cache(maxsize=1024)
def fingerprint(text: str) -> str | None:
    """Return the hex SHA-256 of a certificate's SubjectPublicKeyInfo; None for text that is no certificate.

    The text is PEM, percent-encoded PEM, DER in base64 with or without colons around it, or Envoy's
    ``X-Forwarded-Client-Cert``, of which the right-most certificate counts.
    """
    if len(text) > MOST:
        return None
    within = _IN_ENVOYS_HEADER.findall(text)
    plain = unquote(within[-1] if within else text).strip()
    try:
        if plain.startswith("-----BEGIN CERTIFICATE-----"):
            certificate = x509.load_pem_x509_certificate(plain.encode())
        else:
            certificate = x509.load_der_x509_certificate(base64.b64decode(plain.strip(":"), validate=True))
        key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except (ValueError, UnsupportedAlgorithm):
        return None
    return sha256(key).hexdigest()


def public_id(fingerprint: str) -> str:
    """Return the start of the fingerprint, by which the row of a certificate is looked up."""
    return fingerprint[:8]
