"""The callers of requests: the classes that authenticate and limit them, their signatures, and the ids of requests."""

import base64
import binascii
import re
import time
import uuid
from collections.abc import Mapping, MutableMapping
from datetime import timedelta
from functools import cache
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest
from django.http.request import HttpHeaders
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from mailbox.access.callers import Caller
from mailbox.access.credentials import authentication, public_routes
from mailbox.access.limits import rates
from mailbox.models import AuditEvent, PublicRoute
from mailbox.words import certificates, ed25519, signatures, tokens
from mailbox.words.errors import Allowance, BadSignatureError, SignatureFault
from mailbox.words.signatures import RequestParts, RequestSignature

ID_HEADER = "HTTP_X_REQUEST_ID"  # the header in a request's META
CHOSEN_ID = "a2a.request_id"  # in a request's META: its id, once it is chosen
CALLER = "a2a.caller"  # in a request's META: the name of its caller, once it is authenticated
STRANGER = "a2a.stranger"  # in a request's META, beside CALLER: whether anyone may be its caller

_ID_FORM = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
# The PublicRoute of a request that came by a public route, and the path before the request's own, with the token.
ROUTE_ATTRIBUTE, ROUTE_PATH_ATTRIBUTE = "a2a_route", "a2a_route_path"
# A signature covers each of these headers that is sent, since the hub acts on them.
COVERED_IF_SENT = (
    *(signatures.DIGEST, "A2A-Receive-Attempt-Id", "Idempotency-Key"),
    *("A2A-Version", "A2A-Extensions", "X-A2A-Extensions", "Last-Event-ID", "MCP-Protocol-Version"),
)
_KEYID = re.compile(r';keyid="([1-9A-HJ-NP-Za-km-z]{32,44})"')
_RESERVED = "!$&'()*+,;=:@"  # characters that a path may hold as they are or percent-encoded
# The two headers as META has them, where the look-up for each request takes the least time.
_INPUT_META, _SIGNATURE_META = map(HttpHeaders.to_wsgi_name, (signatures.INPUT, signatures.SIGNATURE))


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


def route_of(request: HttpRequest) -> PublicRoute | None:
    """Return the public route of a request; None for a request that came by no route."""
    return getattr(request, ROUTE_ATTRIBUTE, None)


def address_of(request: Request) -> str:
    """Return the network address of the client."""
    address: str = request.META.get("REMOTE_ADDR", "")
    return address


def _came(request: Request) -> dict[str, Any]:
    return {
        "source": AuditEvent.Source.API,
        "request_id": request_id(request.META),
        "address": address_of(request),
    }


class CallerAuthentication(BaseAuthentication):
    """The base of the classes that find the caller, DRF's ``request.user``. ``request.auth`` is what the caller sent.

    Each returns None for a request with another credential, and raises `UnauthenticatedError` for a wrong one.
    """

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class RouteAuthentication(CallerAuthentication):
    """By a public route."""

    def authenticate(self, request: Request) -> tuple[Caller, PublicRoute] | None:
        route = route_of(request._request)
        if route is None:
            return None
        return public_routes.caller(route, request_id=request_id(request.META), address=address_of(request)), route


class SignatureAuthentication(CallerAuthentication):
    """By a signature, except for the digest of the body. An API key beside the signature is not looked at."""

    def authenticate(self, request: Request) -> tuple[Caller, RequestSignature] | None:
        signed = request._request
        if not is_signed(signed):
            return None
        with rates.of_strangers(address_of(request), claimed_key(signed)):
            signature = verified_signature(signed)
            return authentication.authenticate_signature(signature, **_came(request)), signature


class KeyAuthentication(CallerAuthentication):
    """By an API key. A request with neither a key nor a certificate is refused here."""

    def presented_key(self, headers: Mapping[str, str]) -> str | None:
        """Return the API key of a request; None without a key. A dialect may override the order of headers."""
        return presented_key(headers)

    def authenticate(self, request: Request) -> tuple[Caller, str] | None:
        key = self.presented_key(request.headers)
        if key is None and request.META.get(settings.A2A_CLIENT_CERT_META) is not None:
            return None
        with rates.of_strangers(address_of(request), key):
            caller = authentication.authenticate(key, **_came(request))
        return caller, caller.credential


class CertificateAuthentication(CallerAuthentication):
    """By a client certificate, which a trusted proxy has verified. It stands after `KeyAuthentication`."""

    def authenticate(self, request: Request) -> tuple[Caller, str]:
        fingerprint = certificates.fingerprint(request.META[settings.A2A_CLIENT_CERT_META])
        with rates.of_strangers(address_of(request), None):
            caller = authentication.authenticate_certificate(fingerprint, **_came(request))
        return caller, caller.credential


class RequestThrottle(BaseThrottle):
    """The base of the classes that count a request. It counts a request for its public route, if it came by one.

    A class raises `RateLimitedError` instead of returning False: the error has the state of the limit for the headers.
    """

    def allow_request(self, request: Request, view: Any) -> bool:
        route = route_of(request._request)
        if route is None:
            view.allowance = self.counted(request)
        else:
            view.allowance = rates.take_from_window(
                f"route:{route.public_id}", limit=route.rate_limit, window=timedelta(minutes=1)
            )
        return True

    def counted(self, request: Request) -> Allowance | None:
        """Count a request that came by no public route; return the state of the limit, None without a limit."""
        raise NotImplementedError


class CallerThrottle(RequestThrottle):
    """Counts a request for its caller. One without a caller is not counted."""

    def counted(self, request: Request) -> Allowance | None:
        caller: Any = request.user
        return None if caller is None else rates.take(caller)


class AddressThrottle(RequestThrottle):
    """Counts a request for its address. It limits views that need no credentials."""

    def counted(self, request: Request) -> Allowance | None:
        return rates.take_anonymous(address_of(request))


def presented_key(headers: Mapping[str, str]) -> str | None:
    """Return the API key of a request: Bearer, X-API-Key, or the password of HTTP Basic; None without one."""
    scheme, _, value = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value.strip(), validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return headers.get("X-API-Key")


def is_signed(request: HttpRequest) -> bool:
    """Whether a request has one of the two headers of a signature. Then only its signature counts."""
    return _INPUT_META in request.META or _SIGNATURE_META in request.META


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
