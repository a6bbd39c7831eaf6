"""API keys and tokens of public routes: ``<kind>_<8 public>_<32 secret>_<6 checksum>``, all base62.

The kind is ``a2a`` for an API key, ``p`` for the token of a public route. The checksum detects mistyped keys without a
query, and lets tools recognise leaked keys.
"""

import hashlib
import re
import secrets
import string
import zlib
from typing import NamedTuple

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
KEY, ROUTE = "a2a", "p"
_SHAPE = re.compile(r"(a2a|p)_([0-9A-Za-z]{8})_[0-9A-Za-z]{32,64}_[0-9A-Za-z]{6}", re.ASCII)
# A route's token in a path, also a misspelt token, but no token that is shortened already.
_IN_PATH = re.compile(r"(/p/)(?!p_[0-9A-Za-z]{8}_…)[^/\s?#\"']+")


class Minted(NamedTuple):
    """A new key, which is shown once, and the two parts that are stored."""

    key: str
    public_id: str
    digest: str


def mint(kind: str = KEY) -> Minted:
    """Return a new random key of this kind. Its secret part has 190 bits."""
    public_id, secret = _random(8), _random(32)
    body = f"{kind}_{public_id}_{secret}"
    key = f"{body}_{_checksum(body)}"
    return Minted(key, public_id, digest(key))


def public_id(key: str, kind: str = KEY) -> str | None:
    """Return the public part of a well-formed key of this kind, None for other text."""
    match = _SHAPE.fullmatch(key)
    if match is None or match[1] != kind:
        return None
    body, _, checksum = key.rpartition("_")
    return match[2] if secrets.compare_digest(checksum, _checksum(body)) else None


def digest(key: str) -> str:
    """Return the hash that is stored of a key: SHA-256 in hex, which suffices for a random secret of this length."""
    return hashlib.sha256(key.encode()).hexdigest()


def redact(text: str) -> str:
    """Return the text with shortened keys, and without the path segments where a route's token would be."""
    return _IN_PATH.sub(r"\1…", _SHAPE.sub(r"\1_\2_…", text))


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = []
    for _ in range(6):
        number, remainder = divmod(number, 62)
        digits.append(_ALPHABET[remainder])
    return "".join(digits)
