"""Encryption of the short keys of second factors. A sealed key has 72 hexadecimal digits, which fit their column."""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings

from mailbox.words.secret_box import UnreadableSecretError, derived

_PURPOSE = b"a2a hub: keys of second factors"


def seal(key: bytes) -> str:
    """Return a random key of 20 bytes, encrypted under a key derived from SECRET_KEY, in hexadecimal digits."""
    return _box(str(settings.SECRET_KEY)).encrypt(key, None).hex()


def unseal(sealed: str) -> bytes:
    """Return the key, decrypted with SECRET_KEY or SECRET_KEY_FALLBACKS. Raises `UnreadableSecretError`."""
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        try:
            return _box(str(secret)).decrypt(bytes.fromhex(sealed), None)
        except InvalidTag:
            continue
    raise UnreadableSecretError


def _box(secret: str) -> AESSIV:
    return AESSIV(derived(secret, _PURPOSE))
