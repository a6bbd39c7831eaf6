"""The sign-in of people by OpenID Connect: the calls of the provider, its people as people of the hub, and the routes.

Only a hub with a provider loads this module. It needs the extra ``oidc``.
"""

import logging
import time
from collections.abc import Mapping
from copy import copy
from typing import Any

import httpx
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.contrib.sessions.backends import signed_cookies
from django.core.exceptions import SuspiciousOperation
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.urls import path, reverse
from jwt import PyJWK, PyJWKSet, get_unverified_header
from jwt.exceptions import PyJWTError
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView, OIDCAuthenticationRequestView

from dashboard.base import sessions
from dashboard.people import sign_in
from mailbox.access.callers import Role
from mailbox.access.people import provisioning, second_factor, sign_ins
from mailbox.models import ProviderAccount
from mailbox.words import errors, json_text

LARGEST_ANSWER = 1024 * 1024  # bytes
MOST_SHOWN = 200  # characters of a refusal, for the log
LONGEST_NAME = 150  # characters of a person's name, which is the address
LONGEST_NEXT = 1500  # characters of the page to go on to; a browser keeps 4 KiB of a cookie
WALK_LASTS = 600  # seconds
JWT = "application/jwt"
OF_TOKENS = (PyJWTError, ArithmeticError, LookupError, TypeError, ValueError)  # raised by what reads a foreign token
_logger = logging.getLogger(__name__)


class UnusableAnswerError(Exception):
    """The provider gave no answer in time, or an answer that the hub cannot use."""


class RefusedError(Exception):
    """The hub does not let in the owner of this account at the provider.

    ``username`` is the person who has the account's address but another account; "" for another reason.
    """

    def __init__(self, message: object, username: str = "") -> None:
        super().__init__(message)
        self.username = username


def ask(method: str, url: str, **options: Any) -> tuple[str, bytes]:
    """Return the media type and the body of the provider's answer. ``options`` are arguments of `httpx.Client.stream`.

    Each call has a client of its own, which keeps no cookie. It takes ``HTTPS_PROXY`` and ``SSL_CERT_FILE`` from the
    environment, and follows no redirect. Raises `UnusableAnswerError` if no whole answer of at most 1 MiB comes within
    ``OIDC_TIMEOUT``, and for a status other than 200.
    """
    late_at = time.monotonic() + settings.OIDC_TIMEOUT
    arguments = {"timeout": settings.OIDC_TIMEOUT, **options}
    body = b""
    try:
        with httpx.Client(follow_redirects=False) as client, client.stream(method, url, **arguments) as response:
            for part in response.iter_bytes():
                body += part
                if len(body) > LARGEST_ANSWER:
                    raise UnusableAnswerError(f"{url} answered more than {LARGEST_ANSWER} bytes")
                if time.monotonic() > late_at:
                    raise UnusableAnswerError(f"{url} took longer than {settings.OIDC_TIMEOUT} s")
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise UnusableAnswerError(f"no answer from {url}: {type(error).__name__}: {error}") from error
    if response.status_code != httpx.codes.OK:
        shown = body.decode(errors="replace")[:MOST_SHOWN]
        raise UnusableAnswerError(f"{url} answered {response.status_code}: {shown!r}")
    return response.headers.get("content-type", "").partition(";")[0].strip().lower(), body


def json_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object of an answer. Raises `UnusableAnswerError` for anything else."""
    try:
        answer = json_text.loads(body)
    except errors.InvalidJsonError as error:
        raise UnusableAnswerError(f"the provider's answer is no JSON: {error}") from error
    if not isinstance(answer, dict):
        raise UnusableAnswerError("the provider's answer is no JSON object")
    return answer


def text_of(answer: Mapping[str, Any], name: str) -> str:
    """Return a text of the provider's answer. Raises `UnusableAnswerError` if it is missing, empty or no text."""
    value = answer.get(name)
    if not isinstance(value, str) or not value:
        raise UnusableAnswerError(f"the provider's answer has no text {name!r}")
    return value


class Backend(OIDCAuthenticationBackend):  # type: ignore[misc]  # its package has no types
    """Finds a person by the account at the provider; at its first sign-in, by the address that the provider verified.

    Raises `SuspiciousOperation` for tokens that are not right, `RefusedError` for people, and `UnusableAnswerError` for
    an answer of the provider that cannot be used. It never returns None: django-axes would lock the client's address.
    """

    def get_token(self, payload: dict[str, Any]) -> dict[str, Any]:
        _, body = ask("POST", self.OIDC_OP_TOKEN_ENDPOINT, data=payload)
        answer = json_object(body)
        return {name: text_of(answer, name) for name in ("id_token", "access_token")}

    def retrieve_matching_jwk(self, token: str) -> PyJWK:
        """Return the provider's key that the token names, of the algorithm that the hub expects."""
        _, body = ask("GET", self.OIDC_OP_JWKS_ENDPOINT)
        named = get_unverified_header(token).get("kid")
        for key in PyJWKSet.from_dict(json_object(body)):
            if key.key_id == named and key.algorithm_name == self.OIDC_RP_SIGN_ALGO:
                return key
        raise SuspiciousOperation("The provider has no such key as the token names.")

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """Return the claims of a token that the provider made for this hub. The base class checks its signature.

        The token of a sign-in, which has a ``nonce``, must end. One with the claims about a person need not.
        """
        try:
            claims: dict[str, Any] = super().verify_token(token, **kwargs)
        except OF_TOKENS as error:
            raise UnusableAnswerError(f"the token cannot be used: {type(error).__name__}: {error}") from error
        audience, hub = claims.get("aud"), settings.OIDC_RP_CLIENT_ID
        meant = audience if isinstance(audience, list) else [audience]
        if claims.get("iss") != settings.A2A_OIDC_ISSUER or hub not in meant:
            raise SuspiciousOperation("The token is of another issuer or for another client.")
        if claims.get("azp", hub if meant == [hub] else None) != hub:
            raise SuspiciousOperation("The token is for further clients, and not given to this one.")
        if "nonce" in kwargs and not (claims.get("exp") and _is_subject(claims.get("sub"))):
            raise SuspiciousOperation("The token names no person or no end.")
        return claims

    def get_userinfo(self, access_token: str, id_token: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the claims of the token, and those about the same person at the provider."""
        bearer = {"Authorization": f"Bearer {access_token}"}
        kind, body = ask("GET", self.OIDC_OP_USER_ENDPOINT, headers=bearer)
        about = self.verify_token(body.decode(errors="replace")) if kind == JWT else json_object(body)
        if about.get("sub") != payload.get("sub"):
            raise SuspiciousOperation("The provider tells of another person than the token names.")
        source = about if "email" in about else payload  # an address counts as verified only by its own source
        return {**payload, **about, "email": source.get("email"), "email_verified": source.get("email_verified")}

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> User:
        """Return the person whose account this is, with the role that the provider says."""
        try:
            claims = self.get_userinfo(access_token, id_token, payload)
        except SuspiciousOperation as error:
            raise RefusedError(error) from error
        if not self.verify_claims(claims):
            raise RefusedError("The provider has not verified the address, or the person has no role.")
        address = sessions.address_of(self.request)
        known = provisioning.person_of(claims["sub"])
        person = known or self._with_address(claims)
        if not person.is_active:
            raise RefusedError("The person is inactive.")
        if not known and not provisioning.link(person, claims["sub"], address):
            raise RefusedError("The person with the address has another account at the provider.", person.username)
        role = role_in(claims)
        return provisioning.give_role(person, role, address) if role else person

    def _with_address(self, claims: dict[str, Any]) -> User:
        """Return the person with the address of the claims, who is added if the hub adds people."""
        people = self.filter_users_by_claims(claims)
        if not people and settings.OIDC_CREATE_USER:
            return self.create_user(claims)
        if len(people) != 1:
            raise RefusedError(f"{len(people)} people of the hub have the address.")
        return people[0]

    def filter_users_by_claims(self, claims: dict[str, Any]) -> list[User]:
        """Return the people with this address. Case matters unless both addresses are ASCII.

        A database may take other letters for the same, as the dotless i of Turkish for i.
        """
        address = claims.get("email") or ""
        return [person for person in super().filter_users_by_claims(claims) if _is_same(person.email, address)]

    def verify_claims(self, claims: dict[str, Any]) -> bool:
        """Whether the provider has verified the address, and gives the person a role if it gives roles at all."""
        address = claims.get("email")
        is_address = isinstance(address, str) and address != "" and address.isprintable()
        is_verified = is_address and claims.get("email_verified") is True
        return is_verified and (not settings.A2A_OIDC_ROLES or role_in(claims) is not None)

    def create_user(self, claims: dict[str, Any]) -> User:
        """Add the person; find the person whom another sign-in has added meanwhile."""
        if len(claims["email"]) > LONGEST_NAME:
            raise RefusedError(f"The address has more than {LONGEST_NAME} characters.")
        try:
            return provisioning.add(claims["email"], role_in(claims), sessions.address_of(self.request))
        except IntegrityError:
            people = self.filter_users_by_claims(claims)
            if len(people) != 1:
                raise RefusedError("The address is the name of a person who has another address.") from None
            return people[0]


def _is_subject(text: object) -> bool:
    is_short = isinstance(text, str) and 0 < len(text) <= ProviderAccount.LONGEST_SUBJECT
    return is_short and str(text).isascii() and str(text).isprintable()


def _is_same(address: str, other: str) -> bool:
    return address == other or (address.isascii() and other.isascii() and address.lower() == other.lower())


def role_in(claims: dict[str, Any]) -> Role | None:
    """Return the strongest role of the person's groups at the provider; None without one."""
    groups = claims.get(settings.A2A_OIDC_ROLES_CLAIM, [])
    named = groups if isinstance(groups, list) else [groups]
    roles = {
        settings.A2A_OIDC_ROLES[group] for group in named if isinstance(group, str) and group in settings.A2A_OIDC_ROLES
    }
    return next((role for role in (Role.ADMIN, Role.OPERATOR, Role.VIEWER) if role in roles), None)


class Walk(signed_cookies.SessionStore):
    """The sign-ins that a browser has begun, in a signed cookie: a stranger stores no row of a session."""

    def get_session_cookie_age(self) -> int:
        return WALK_LASTS


def _cookie() -> str:
    return f"{settings.SESSION_COOKIE_NAME}-provider"


def _walking(request: HttpRequest) -> HttpRequest:
    """Return the request with a `Walk` as the session that the library reads and writes."""
    walking = copy(request)
    walking.session = Walk(request.COOKIES.get(_cookie()))
    return walking


def _remember(walking: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Set the browser's cookie to what is left of its walk."""
    walking.session.save()
    response.set_cookie(
        _cookie(),
        walking.session.session_key or "",
        max_age=WALK_LASTS if walking.session.get("oidc_states") else 0,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


class Start(OIDCAuthenticationRequestView):  # type: ignore[misc]  # its package has no types
    """The page that sends a person to the provider. Any link may lead here, so it changes no one's session."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            return HttpResponseRedirect(resolve_url(settings.LOGIN_REDIRECT_URL))
        walking = _walking(request)
        response = super().get(walking)
        if len(walking.session["oidc_login_next"] or "") > LONGEST_NEXT:
            walking.session["oidc_login_next"] = None
        return _remember(walking, response)


class Callback(OIDCAuthenticationCallbackView):  # type: ignore[misc]  # its package has no types
    """The page to which the provider sends a person back. A person with a second factor must enter a code next."""

    walking: HttpRequest

    def get(self, request: HttpRequest) -> HttpResponse:
        self.walking = _walking(request)
        return _remember(self.walking, self._answer())

    def _answer(self) -> HttpResponse:
        """Return the answer to a walk that this browser began. Any other changes nothing, and writes no row."""
        answer, begun = self.request.GET, self.walking.session.get("oidc_states", {})
        if answer.get("state") not in begun:
            return _to_sign_in("failed")
        if answer.get("error") or not answer.get("code"):
            del begun[answer["state"]]  # the library would also end the session
            return self._refused("refused")
        try:
            response: HttpResponse = super().get(self.walking)
        except RefusedError as error:
            _logger.warning("a sign-in by OpenID Connect was refused: %s", error)
            return self._refused("refused", error.username)
        except (UnusableAnswerError, SuspiciousOperation) as error:
            _logger.warning("a sign-in by OpenID Connect failed: %s", error)
            return self._refused("failed")
        return response

    def login_success(self) -> HttpResponse:
        after = self.walking.session.get("oidc_login_next") or resolve_url(settings.LOGIN_REDIRECT_URL)
        if second_factor.of_person(self.user):
            return sign_in.begin_second_step(self.request, self.user, after)
        # The session is one of the hub. It ends with the person's account, and outlives these settings.
        login(self.request, self.user, backend=sign_in.BACKEND)
        sign_ins.signed_in(self.user.get_username(), sessions.address_of(self.request))
        return HttpResponseRedirect(after)

    def _refused(self, why: str, username: str = "") -> HttpResponse:
        """Journal the refusal, with the name of the person whose account at the provider is another one."""
        cause = sign_ins.Cause.ACCOUNT if username else sign_ins.Cause.PROVIDER
        sign_ins.refused(username, cause, sessions.address_of(self.request))
        return _to_sign_in(why)


def _to_sign_in(why: str) -> HttpResponse:
    """Send the person to the sign-in page, which has a sentence for ``refused`` and one for ``failed``."""
    return HttpResponseRedirect(f"{reverse('ops:sign-in')}?{why}")


urlpatterns = [
    path("", Start.as_view(), name="oidc-sign-in"),
    path("callback/", Callback.as_view(), name="oidc-callback"),
]
