"""Signatures of HTTP requests by an agent's Ed25519 key. Source: RFC 9421, and RFC 9530 for the digest of the body.

A request has one signature. It covers the method, the address and the body, and says when it was made and until when
it holds. Every field of it has one spelling, the canonical one, so that no second spelling of a signature is accepted.
"""

import base64
import hashlib
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self
from urllib.parse import urlsplit

import http_sf
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mailbox.words import ed25519
from mailbox.words.envelopes import is_pubkey
from mailbox.words.errors import BadSignatureError, SignatureFault

INPUT, SIGNATURE, DIGEST = "Signature-Input", "Signature", "Content-Digest"
REQUIRED = ("@method", "@authority", "@target-uri")
DERIVED = {*REQUIRED, "@scheme", "@path", "@query"}
LONGEST_LIFE = 300  # seconds from its creation to its expiry
MOST_AHEAD = 30  # seconds by which the clock of a signer may be ahead
LONGEST_FIELD = 4096  # characters
MOST_COMPONENTS = 16
LABEL = "a2a"
_NONCE = re.compile(r"[A-Za-z0-9._~+/=-]{16,64}", re.ASCII)
_FIELD_NAME = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]{1,100}", re.ASCII)
_PORTS = {"http": 80, "https": 443}
_DIGESTS: Mapping[str, Callable[[bytes], Any]] = {"sha-256": hashlib.sha256, "sha-512": hashlib.sha512}
_TYPES = {"created": int, "expires": int, "nonce": str, "keyid": str, "alg": str}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestParts:
    """The parts of a request that a signature can cover. ``headers`` ignores the case of names."""

    method: str
    authority: str
    target_uri: str
    headers: Mapping[str, str]

    def value(self, component: str) -> str:
        """Return the value of a component; raise `BadSignatureError` for a header that is missing or not ASCII."""
        value = self._derived(component) if component.startswith("@") else self.headers.get(component)
        if value is None:
            raise BadSignatureError(SignatureFault.COMPONENTS, f'It covers "{component[:100]}", which is not sent.')
        value = value.strip(" \t")
        if not (value.isascii() and value.replace("\t", " ").isprintable()):
            raise BadSignatureError(SignatureFault.COMPONENTS, f'The value of "{component}" is not printable ASCII.')
        return value

    def _derived(self, component: str) -> str:
        """Return the value of a derived component. Source: RFC 9421, section 2.2."""
        parts = urlsplit(self.target_uri)
        return {
            "@method": self.method,
            "@authority": self.authority,
            "@target-uri": self.target_uri,
            "@scheme": parts.scheme,
            "@path": parts.path,
            "@query": f"?{parts.query}",
        }[component]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSignature:
    """The signature of a request, as its two headers spell it. ``created`` and ``expires`` are in Unix seconds."""

    pubkey: str
    nonce: str
    created: int
    expires: int
    components: tuple[str, ...]
    parameters: str  # the member of Signature-Input, which is signed too
    signature: bytes

    @classmethod
    def read(cls, signature_input: str | None, signature: str | None) -> Self:
        """Read the two headers; raise `BadSignatureError` unless they hold exactly one signature in canonical form."""
        label, (items, parameters) = _only_member(INPUT, signature_input)
        signed_label, (value, extra) = _only_member(SIGNATURE, signature)
        if label != signed_label:
            raise _malformed("the two headers have different labels")
        if not isinstance(items, list) or type(value) is not bytes or extra:
            raise _malformed("Signature-Input must be a list of components, and Signature a byte sequence")
        return cls(
            pubkey=_parameter(parameters, "keyid"),
            nonce=_parameter(parameters, "nonce"),
            created=_parameter(parameters, "created"),
            expires=_parameter(parameters, "expires"),
            components=_components(items),
            parameters=(signature_input or "").strip(" \t").partition("=")[2],
            signature=value,
        )._checked(parameters)

    def _checked(self, parameters: Mapping[str, Any]) -> Self:
        if unknown := parameters.keys() - _TYPES.keys():
            raise _malformed(f"the parameter {min(unknown)[:50]} is not known")
        if "alg" in parameters and _parameter(parameters, "alg") != "ed25519":
            raise _malformed("alg must be ed25519 or absent")
        if not is_pubkey(self.pubkey):
            raise _malformed("keyid must be the public key in base58")
        if not _NONCE.fullmatch(self.nonce):
            raise _malformed("nonce must be 16 to 64 letters, digits and ._~+/=-")
        if not 0 < self.expires - self.created <= LONGEST_LIFE:
            raise _malformed(f"expires must be at most {LONGEST_LIFE} s after created")
        return self

    @property
    def expires_at(self) -> datetime:
        return datetime.fromtimestamp(self.expires, UTC)

    def check_time(self, now: float) -> None:
        """Raise `BadSignatureError` unless the signature holds at ``now``, in Unix seconds."""
        if now >= self.expires:
            raise BadSignatureError(SignatureFault.EXPIRED, f"It expired {int(now) - self.expires} s ago.")
        if self.created > now + MOST_AHEAD:
            raise BadSignatureError(
                SignatureFault.EXPIRED, f"It was created {self.created - int(now)} s in the future of the hub's clock."
            )

    def check_cover(self, present: Iterable[str]) -> None:
        """Raise `BadSignatureError` unless it covers the method, the address and the ``present`` headers."""
        if missing := {*REQUIRED, *(name.lower() for name in present)} - set(self.components):
            raise BadSignatureError(SignatureFault.COMPONENTS, f'It must cover "{min(missing)}".')

    def base(self, message: RequestParts) -> bytes:
        """Return the text that is signed. Raises `BadSignatureError`. Source: RFC 9421, section 2.5."""
        lines = [f'"{name}": {message.value(name)}' for name in self.components]
        return "\n".join([*lines, f'"@signature-params": {self.parameters}']).encode("ascii")

    def fits(self, message: RequestParts) -> bool:
        """Whether it is the signature of ``message`` by its key. Raises `BadSignatureError`."""
        return ed25519.verifies(self.pubkey, self.signature, self.base(message))


def sign(
    key: Ed25519PrivateKey,
    *,
    method: str,
    url: str,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    now: float | None = None,
) -> dict[str, str]:
    """Return the headers that sign a request. ``headers`` are covered too, and must be sent as given.

    ``now`` is the time in Unix seconds, None for the current one. The signature holds for `LONGEST_LIFE`.
    """
    added = {DIGEST: digest_of(body)} if body else {}
    covered = {name.lower(): value for name, value in {**(headers or {}), **added}.items()}
    created = int(time.time() if now is None else now)
    components = (*REQUIRED, *covered)
    parameters = {
        "created": created,
        "expires": created + LONGEST_LIFE,
        "nonce": secrets.token_urlsafe(24),
        "keyid": ed25519.public_of(key),
        "alg": "ed25519",
    }
    members: Any = {LABEL: ([(name, {}) for name in components], parameters)}
    field = http_sf.ser(members)
    authority, target_uri = place_of(url)
    message = RequestParts(method=method, authority=authority, target_uri=target_uri, headers=covered)
    unsigned = RequestSignature.read(field, http_sf.ser({LABEL: b""}))
    return {**added, INPUT: field, SIGNATURE: http_sf.ser({LABEL: key.sign(unsigned.base(message))})}


def place_of(url: str) -> tuple[str, str]:
    """Return ``@authority`` and ``@target-uri`` of a URL. Source: RFC 9421, sections 2.2.2 and 2.2.3."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    authority = host if parts.port in (None, _PORTS.get(parts.scheme)) else f"{host}:{parts.port}"
    query = f"?{parts.query}" if parts.query else ""
    return authority, f"{parts.scheme}://{authority}{parts.path or '/'}{query}"


def digest_of(body: bytes) -> str:
    """Return the Content-Digest of a body, by SHA-256."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


def check_digest(field: str, body: bytes) -> None:
    """Raise `BadSignatureError` unless ``field`` holds digests of ``body``, by SHA-256, SHA-512 or both."""
    digests = _members(DIGEST, field)
    for name, (value, parameters) in digests.items():
        if name not in _DIGESTS or parameters or type(value) is not bytes:
            raise BadSignatureError(SignatureFault.DIGEST, "Content-Digest must be sha-256, sha-512 or both.")
        if not secrets.compare_digest(_DIGESTS[name](body).digest(), value):
            raise BadSignatureError(SignatureFault.DIGEST, f"The body has another digest than Content-Digest's {name}.")


def _components(items: list[Any]) -> tuple[str, ...]:
    names = [name for name, parameters in items if type(name) is str and not parameters]
    if len(names) != len(items) or not len(names) == len(set(names)) <= MOST_COMPONENTS:
        raise BadSignatureError(
            SignatureFault.COMPONENTS, f"Its components must be at most {MOST_COMPONENTS} names without parameters."
        )
    for name in names:
        if name not in DERIVED and not _FIELD_NAME.fullmatch(name):
            raise BadSignatureError(SignatureFault.COMPONENTS, f'"{name[:100]}" cannot be covered here.')
    return tuple(names)


def _parameter(parameters: Mapping[str, Any], name: str) -> Any:
    value = parameters.get(name)
    if type(value) is not _TYPES[name]:
        raise _malformed(f"the parameter {name} is missing or has another type")
    return value


def _only_member(name: str, field: str | None) -> tuple[str, Any]:
    if field is None:
        raise _malformed(f"{name} is missing")
    members = _members(name, field)
    if len(members) != 1:
        raise _malformed(f"{name} must hold exactly one signature")
    return next(iter(members.items()))


def _members(name: str, field: str) -> dict[str, Any]:
    """Return the members of a dictionary; raise `BadSignatureError` unless ``field`` is its canonical spelling."""
    text = field.strip(" \t")
    if len(text) > LONGEST_FIELD:
        raise _malformed(f"{name} is longer than {LONGEST_FIELD} characters")
    try:
        members: Any = http_sf.parse(text.encode("ascii"), tltype="dictionary")
        canonical = http_sf.ser(members)
    except (ValueError, OverflowError, OSError) as error:
        raise _malformed(f"{name} is not a dictionary of structured fields") from error
    if canonical.replace(", ", ",") != text.replace(", ", ","):  # servers join two lines of a header by either
        raise _malformed(f"{name} is not spelled canonically: one space between components, no name twice")
    return {label: member if isinstance(member, tuple) else (member, {}) for label, member in members.items()}


def _malformed(problem: str) -> BadSignatureError:
    return BadSignatureError(SignatureFault.MALFORMED, f"{problem[0].upper()}{problem[1:]}.")
