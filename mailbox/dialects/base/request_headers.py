"""The headers of requests: the request's id, the origin of its page, and its signature."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterable, Mapping, MutableMapping
from functools import cache
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from mailbox.words import ed25519, signatures, tokens
from mailbox.words.errors import BadSignatureError, SignatureFault
from mailbox.words.signatures import RequestParts, RequestSignature

ID_HEADER = "HTTP_X_REQUEST_ID"  # the header in a request's META
CHOSEN_ID = "a2a.request_id"  # in a request's META: its id, once it is chosen
CALLER = "a2a.caller"  # in a request's META: the name of its caller, once it is authenticated
STRANGER = "a2a.stranger"  # in a request's META, beside CALLER: whether anyone may be its caller

_ID_FORM = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


def chosen_id(wanted: str) -> str:
    """Return ``wanted`` if it is fit for an id, else a new id.

    A key or token is not fit, because an id is journalled, logged and answered.
    """
    return wanted if _ID_FORM.fullmatch(wanted) and tokens.redact(wanted) == wanted else uuid.uuid4().hex


def request_id(meta: MutableMapping[str, Any]) -> str:
    """Return the id of the request with this META, which is chosen at the first call."""
    known: str | None = meta.get(CHOSEN_ID)
    if known is None:
        meta[CHOSEN_ID] = known = chosen_id(meta.get(ID_HEADER, ""))
    return known


def admit_page(
    sent: Mapping[str, str], response: HttpResponseBase, *, methods: Iterable[str], headers: Iterable[str]
) -> None:
    """Let a browser show the response to a page of `A2A_CORS_ORIGINS`, and to no other page."""
    if settings.A2A_CORS_ORIGINS:
        response.headers["Vary"] = "Origin"
    origin = sent.get("Origin")
    if origin is not None and origin in settings.A2A_CORS_ORIGINS:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Allow-Headers"] = ", ".join(headers)
        response.headers["Access-Control-Allow-Methods"] = ", ".join(methods)


def is_foreign_page(sent: Mapping[str, str]) -> bool:
    """Whether a request comes from a page that is neither the hub's own nor one of `A2A_CORS_ORIGINS`."""
    origin = sent.get("Origin")
    own = urlsplit(settings.PUBLIC_URL)
    return origin is not None and origin not in (f"{own.scheme}://{own.netloc}", *settings.A2A_CORS_ORIGINS)


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


def verified_signature(request: HttpRequest) -> RequestSignature:
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
