"""Signed requests as this hub receives them, at its public address."""

from __future__ import annotations

import re
import time
from functools import cache
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest

from mailbox.words import ed25519, signatures
from mailbox.words.errors import BadSignatureError, SignatureFault
from mailbox.words.signatures import RequestParts, RequestSignature

# A signature covers each of these headers that is sent, since the hub acts on them.
COVERED_IF_SENT = (
    *(signatures.DIGEST, "A2A-Receive-Attempt-Id", "Idempotency-Key"),
    *("A2A-Version", "A2A-Extensions", "X-A2A-Extensions", "Last-Event-ID", "MCP-Protocol-Version"),
)
_KEYID = re.compile(r';keyid="([1-9A-HJ-NP-Za-km-z]{32,44})"')
_RESERVED = "!$&'()*+,;=:@"  # characters that a path may hold as they are or percent-encoded


def is_signed(request: HttpRequest) -> bool:
    """Whether a request has one of the two headers of a signature. Then only its signature counts."""
    return signatures.INPUT in request.headers or signatures.SIGNATURE in request.headers


def claimed_key(request: HttpRequest) -> str | None:
    """Return the public key that the request names, before anything is verified; None without one."""
    named = _KEYID.search(request.headers.get(signatures.INPUT, ""))
    return named[1] if named else None


def verified(request: HttpRequest) -> RequestSignature:
    """Return the signature of a request, verified except for the digest of the body. Raises `BadSignatureError`."""
    sent = request.headers
    signature = RequestSignature.read(sent.get(signatures.INPUT), sent.get(signatures.SIGNATURE))
    signature.check_time(time.time())
    signature.check_cover([name for name in COVERED_IF_SENT if name in sent])
    if problem := ed25519.problem_with(signature.pubkey):
        raise BadSignatureError(SignatureFault.WRONG, f"Its {problem}.")
    messages = _messages(request)
    if not any(signature.fits(message) for message in messages):
        place = f"{messages[0].method} {messages[0].target_uri}"
        raise BadSignatureError(
            SignatureFault.WRONG, f"It is not the key's signature of this request, which this hub reads as {place}."
        )
    return signature


def check_body(request: HttpRequest, body: bytes) -> None:
    """Raise `BadSignatureError` unless the Content-Digest is that of ``body``. An absent body needs none."""
    field = request.headers.get(signatures.DIGEST)
    if field is not None:
        signatures.check_digest(field, body)
    elif body:
        raise BadSignatureError(SignatureFault.COMPONENTS, 'It must cover "content-digest", since there is a body.')


def _messages(request: HttpRequest) -> list[RequestParts]:
    """Return the request at the public address, once for each usual spelling of its path.

    The server passes the path on decoded, so its spelling is not known. All spellings name the same resource. A
    client may encode the name of an agent, and leave the colon of a route such as ``tasks/<id>:cancel``.
    """
    authority, origin = _public_place(settings.PUBLIC_URL)
    query = f"?{text}" if (text := request.META.get("QUERY_STRING", "")) else ""
    paths = dict.fromkeys(quote(request.path_info, safe=safe) for safe in (f"/{_RESERVED}", "/", "/:"))
    return [
        RequestParts(
            method=request.META["REQUEST_METHOD"],  # as it was sent; Django turns it into capital letters
            authority=authority,
            target_uri=f"{origin}{path}{query}",
            headers=request.headers,
        )
        for path in paths
    ]


@cache
def _public_place(public_url: str) -> tuple[str, str]:
    authority, uri = signatures.place_of(public_url)
    return authority, uri.rstrip("/")
