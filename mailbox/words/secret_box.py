"""Encryption of stored secrets that the hub must read again, such as those of callbacks. They are never shown.

The short keys of second factors are sealed to 72 hexadecimal digits, which fit their column.
"""

import base64

from cryptography.exceptions import InvalidTag
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

AT_REST = "secrets at rest"
_PURPOSE = b"a2a hub: keys of second factors"


class UnreadableSecretError(Exception):
    """A text was not sealed for this purpose, or under another SECRET_KEY."""


def seal(secret: str, *, purpose: str = AT_REST) -> str:
    """Return ``secret`` encrypted under a key derived from SECRET_KEY. Each ``purpose`` has a key of its own."""
    return _fernet(purpose).encrypt(secret.encode()).decode()


def unseal(sealed: str, *, purpose: str = AT_REST) -> str:
    """Return what was sealed for ``purpose``, decrypted with SECRET_KEY or SECRET_KEY_FALLBACKS.

    Raises `UnreadableSecretError`.
    """
    try:
        return _fernet(purpose).decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise UnreadableSecretError from error


def is_current(sealed: str) -> bool:
    """Whether ``sealed`` was encrypted under the key that `seal` uses now."""
    try:
        _key(str(settings.SECRET_KEY), AT_REST).decrypt(sealed.encode())
    except InvalidToken:
        return False
    return True


def digest_of(secret: str) -> str:
    """Return a digest by which two secrets can be compared. It does not show the secret."""
    return derived(secret, b"a2a hub: digest of the secret").hex()


def _fernet(purpose: str) -> MultiFernet:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([_key(str(secret), purpose) for secret in secrets])


def _key(secret: str, purpose: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(derived(secret, f"a2a hub: {purpose}".encode())))


def derived(secret: str, purpose: bytes) -> bytes:
    """Return a key of 32 bytes for one purpose, derived from ``secret``."""
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())


def seal_key(key: bytes) -> str:
    """Return a random key of 20 bytes, encrypted under a key derived from SECRET_KEY, in hexadecimal digits."""
    return _box(str(settings.SECRET_KEY)).encrypt(key, None).hex()


def unseal_key(sealed: str) -> bytes:
    """Return the key, decrypted with SECRET_KEY or SECRET_KEY_FALLBACKS. Raises `UnreadableSecretError`."""
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        try:
            return _box(str(secret)).decrypt(bytes.fromhex(sealed), None)
        except InvalidTag:
            continue
    raise UnreadableSecretError


def _box(secret: str) -> AESSIV:
    return AESSIV(derived(secret, _PURPOSE))
