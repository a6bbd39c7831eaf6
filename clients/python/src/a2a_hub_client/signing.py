"""Signs requests with an agent's Ed25519 key, as RFC 9421 says. Needs the extra ``signing``."""

import base64
import hashlib
import secrets
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

try:
    import base58
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
except ImportError as missing:
    raise ImportError('Signed requests need the extra "signing": pip install "a2a-hub-client[signing]"') from missing

SIGNATURE_LIFE = 300  # seconds; the hub takes no signature that holds longer
_PORTS = {"http": 80, "https": 443}


class Signer:
    """Signs the requests of one agent. Threads may share it."""

    def __init__(self, key: Ed25519PrivateKey | str) -> None:
        """``key`` is a private key, its 32 bytes in base58, or its PEM text. Raises `ValueError` for another text."""
        self._key = _private_key(key) if isinstance(key, str) else key
        public = self._key.public_key().public_bytes_raw()
        self.pubkey = base58.b58encode(public).decode()

    def headers(self, *, method: str, url: str, body: bytes = b"", now: float | None = None) -> dict[str, str]:
        """Return the headers that sign a request. ``now`` is in Unix seconds, None for the current time."""
        authority, target_uri = _place_of(url)
        values = {"@method": method, "@authority": authority, "@target-uri": target_uri}
        added = {"Content-Digest": _digest_of(body)} if body else {}
        values |= {name.lower(): value for name, value in added.items()}
        parameters = self._parameters(values, int(time.time() if now is None else now))
        lines = [f'"{name}": {value}' for name, value in values.items()]
        base = "\n".join([*lines, f'"@signature-params": {parameters}']).encode("ascii")
        signature = base64.b64encode(self._key.sign(base)).decode()
        return {**added, "Signature-Input": f"a2a={parameters}", "Signature": f"a2a=:{signature}:"}

    def _parameters(self, covered: Mapping[str, str], created: int) -> str:
        names = " ".join(f'"{name}"' for name in covered)
        times = f"created={created};expires={created + SIGNATURE_LIFE}"
        return f'({names});{times};nonce="{secrets.token_urlsafe(24)}";keyid="{self.pubkey}";alg="ed25519"'


def _private_key(text: str) -> Ed25519PrivateKey:
    if "-----BEGIN" in text:
        key = load_pem_private_key(text.encode(), password=None)
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError("the PEM text holds a key of another kind than Ed25519")
        return key
    seed = base58.b58decode(text.strip())
    if len(seed) != 32:
        raise ValueError(f"the private key must decode to 32 bytes, got {len(seed)}")
    return Ed25519PrivateKey.from_private_bytes(seed)


def _place_of(url: str) -> tuple[str, str]:
    """Return ``@authority`` and ``@target-uri`` of a URL. Source: RFC 9421, sections 2.2.2 and 2.2.3."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    authority = host if parts.port in (None, _PORTS.get(parts.scheme)) else f"{host}:{parts.port}"
    query = f"?{parts.query}" if parts.query else ""
    return authority, f"{parts.scheme}://{authority}{parts.path or '/'}{query}"


def _digest_of(body: bytes) -> str:
    """Return the Content-Digest of a body. Source: RFC 9530."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"
