"""How a client says who it is: by an API key, or by the signature of each request."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from a2a_hub_client.errors import UnreachableError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

URL, KEY = "A2A_URL", "A2A_API_KEY"  # environment variables
KeySource = str | Callable[[], str]
NOT_SENDABLE = "the key is empty, or has a character that cannot be sent"


class Credentials(Protocol):
    """Says who sends a request."""

    def headers(self, *, method: str, url: str, body: bytes) -> Mapping[str, str]:
        """Return the headers of one request. Raises `UnreachableError` if it cannot be sent now."""
        ...


class Bearer:
    """Sends an API key. A function that returns the key is called for each request, so that the key can change.

    An error never shows the key.
    """

    def __init__(self, key: KeySource) -> None:
        self._key = key

    def headers(self, *, method: str, url: str, body: bytes) -> Mapping[str, str]:
        """Return the header with the key.

        Raises `UnreachableError` for a key that cannot be sent. The function may return another one at the next try.
        """
        key = self._key() if callable(self._key) else self._key
        if not is_sendable(key):
            raise UnreachableError(NOT_SENDABLE, may_have_arrived=False)
        return {"Authorization": f"Bearer {key}"}


class KeyFile:
    """Returns the key in a file when called, and reads the file again when it was changed or replaced."""

    def __init__(self, path: Path | str) -> None:
        """Read the key. Raises `OSError` for a file that cannot be read, and `ValueError` for a file without a key."""
        self._path = Path(path)
        self._seen: tuple[int, ...] = ()
        self._key = ""
        self._read()

    def __call__(self) -> str:
        """Return the key. While the file is missing or has no key, it is the key before."""
        with contextlib.suppress(OSError, ValueError):
            self._read()
        return self._key

    def _read(self) -> None:
        status = os.stat(self._path)
        seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        if seen == self._seen:
            return
        key = self._path.read_text("utf-8").strip()
        if not is_sendable(key):
            raise ValueError(f"{self._path} has no key")
        self._seen, self._key = seen, key


def is_sendable(key: str) -> bool:
    """Whether the text can be sent as a key, in the header of a request. It is without spaces then."""
    return re.fullmatch("[!-~]+", key) is not None


def address(url: str | None) -> str:
    """Return the hub's URL without a final slash: ``url``, or that of the environment. Raises `ValueError`."""
    base_url = os.environ.get(URL, "") if url is None else url
    if not base_url:
        raise ValueError(f"name the hub: Hub(url), or {URL} in the environment")
    if not _is_address(base_url):
        raise ValueError(f"the URL of a hub starts with http:// or https:// and names a host, unlike {base_url!r}")
    return base_url.rstrip("/")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for a port that is no number
    except ValueError:
        return False
    is_whole = bool(parts.hostname) and not parts.query and not parts.fragment
    return parts.scheme in ("http", "https") and is_whole and url.isprintable() and " " not in url


def credentials(key: KeySource | None, signing_key: Ed25519PrivateKey | str | None) -> Credentials:
    """Return the credentials of a client. Without either key the environment has one. Raises `ValueError`."""
    if signing_key is not None:
        if key is not None:
            raise ValueError("give a key or a signing_key, not both")
        from a2a_hub_client.signing import Signer  # an extra

        return Signer(signing_key)
    if key is None:
        key = os.environ.get(KEY)
    if key is None:
        raise ValueError(f"give a key: Hub(url, key), or {KEY} in the environment")
    if isinstance(key, str) and not is_sendable(key):
        raise ValueError(NOT_SENDABLE)
    return Bearer(key)
