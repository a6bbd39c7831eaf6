"""The middlewares of the hub: proxies, paths with a slash too many, programs, people, strangers, and compression.

Sessions, form tokens, messages, htmx and sign-ins serve people's browsers, and programs do without them. This module
alone decides which requests come from programs. A page for people requires a session of some age, a second factor, and
a recent proof.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any
from urllib.parse import urlencode

from csp.middleware import CSPMiddleware
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest, DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed, HttpResponseRedirect
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.gzip import GZipMiddleware
from django.middleware.security import SecurityMiddleware
from django.urls import Resolver404, resolve, reverse
from django.utils.cache import add_never_cache_headers
from django.utils.crypto import constant_time_compare
from rest_framework.views import APIView

from a2aproject.web.errors import PAGES_FOR_PEOPLE, too_many_requests
from dashboard.base import sessions
from dashboard.base.frame import HtmxRequest
from dashboard.people import proof
from mailbox.access.callers import Role
from mailbox.access.credentials.authentication import role_of
from mailbox.access.limits import rates
from mailbox.access.people import second_factor
from mailbox.dialects.base import view as view_module
from mailbox.words import json_text
from mailbox.words.errors import RateLimitedError

Handler = Callable[[HttpRequest], HttpResponseBase]
# How the paths of programs begin. Every other path has all middlewares, also a path of no view.
PROGRAM_PATHS = (
    *("/a2a/", "/capabilities/", "/audit/", "/.well-known/", "/api/agents", "/api/tasks", "/api/v1/"),
    *("/agents/", "/tenants/", "/mcp"),
    *("/healthz", "/readyz", "/metrics"),
)
ICON = "/ops/favicon.svg"
SIGN_IN_PATHS = ("/ops/sign-in/", "/ops/sign-out/", "/admin/login/", "/admin/logout/", ICON)
ENROLMENT = ("/ops/settings/second-factor/", "/ops/settings/password/", "/admin/password_change/")
# Pages of the admin on which an admin types a password: the proof comes before, so that no typed password is lost.
FORMS_WITH_A_PASSWORD = re.compile(r"/admin/auth/user/(add|[^/]+/password)/")
CHAIN, SCHEME, SECRET = "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_HUB_PROXY_SECRET"
REPORTS = ("HTTP_X_FORWARDED", "HTTP_FORWARDED", "HTTP_X_REAL_IP")  # how the names of such headers begin
MOST_HOPS = 32
# An address as proxies write it: 192.0.2.1, 192.0.2.1:5678, 2001:db8::1, [2001:db8::1] or [2001:db8::1]:5678.
_HOP = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::\d{1,5})?|([\d.]+):\d{1,5}|([0-9A-Fa-f:.]+)", re.ASCII)
ADMIN = "/admin/"
ADMIN_METHODS = ("GET", "HEAD", "POST")


class Middleware:
    """A step on the way of a request. ``get_response`` is the rest of the way."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response


class ProgramsMiddleware:
    """Takes a program's request past all later middlewares, straight to its view.

    The answer carries the headers that these middlewares add to every answer. A request with a foreign ``Host`` takes
    the whole way, where it is refused. ``process_view`` and ``process_exception`` of all middlewares still run.
    """

    def __init__(self, get_response: Handler) -> None:
        self._through_all = get_response
        self._view = _innermost(get_response)
        self._headers: dict[bool, Mapping[str, tuple[str, str]]] = {}  # by whether the request came over https

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(PROGRAM_PATHS) or not _is_for_this_host(request):
            return self._through_all(request)
        response = self._view(request)
        if isinstance(response, HttpResponse):  # no stream
            response.headers.setdefault("Content-Length", str(len(response.content)))
        # The class of headers would check and decode each value again.
        response.headers._store = {**self._headers_for(request), **response.headers._store}
        return response

    def _headers_for(self, request: HttpRequest) -> Mapping[str, tuple[str, str]]:
        is_secure = request.is_secure()
        if is_secure not in self._headers:
            self._headers[is_secure] = _common_headers(request)
        return self._headers[is_secure]


def _innermost(handler: Handler) -> Handler:
    """Return the handler that runs the view, behind all middlewares of ``handler``."""
    while hasattr(middleware := handler.__wrapped__, "get_response"):  # type: ignore[attr-defined]
        handler = middleware.get_response
    return handler


def _is_for_this_host(request: HttpRequest) -> bool:
    try:
        request.get_host()
    except DisallowedHost:
        return False
    return True


def _common_headers(request: HttpRequest) -> Mapping[str, tuple[str, str]]:
    """Return the headers that the later middlewares add to an empty answer, as the answer holds them."""
    handler: Any = _empty
    for middleware in (CSPMiddleware, XFrameOptionsMiddleware, SecurityMiddleware):
        handler = middleware(handler)
    return dict(handler(request).headers._store)


def _empty(request: HttpRequest) -> HttpResponse:
    response = HttpResponse()
    del response.headers["Content-Type"]
    return response


class LeadingSlashesMiddleware(Middleware):
    """Reads several slashes at the start of an API path as one, without a redirect.

    Paths of pages for people keep theirs: a proxy may guard these paths by their spelling.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith("//"):
            path = "/" + request.path_info.lstrip("/")
            if path.startswith(view_module.PREFIX) or _is_api(path):
                view_module.readdress(request, path)
        return self.get_response(request)


def _is_api(path: str, kind: type[APIView] = APIView) -> bool:
    try:
        view = getattr(resolve(path).func, "cls", None)
    except Resolver404:
        return False
    return isinstance(view, type) and issubclass(view, kind)


class PeopleMiddleware(Middleware):
    """Ends old sessions, asks for the second factor that a setting requires, and for a proof before admins' changes.

    It covers the dashboard and Django's admin. It lets no cache keep an answer, redirects and errors included.
    """

    def __call__(self, request: HtmxRequest) -> HttpResponseBase:
        if not request.path.startswith(PAGES_FOR_PEOPLE) or request.path == ICON:
            return self.get_response(request)
        sessions.keep(request)
        response = self.get_response(request)
        add_never_cache_headers(response)
        return response

    def process_view(self, request: HtmxRequest, *view: Any) -> HttpResponseBase | None:
        if not request.path.startswith(PAGES_FOR_PEOPLE) or request.path in SIGN_IN_PATHS:
            return None
        user = request.user
        if not isinstance(user, User):
            return None
        if request.path not in ENROLMENT and _lacks_second_factor(request, user):
            return _to_second_factor(request, user)
        if not request.path.startswith(ADMIN) or not user.is_staff:
            return None
        is_change = request.method == "POST" or FORMS_WITH_A_PASSWORD.fullmatch(request.path)
        return proof.demanded(request) if is_change else None


def _lacks_second_factor(request: HtmxRequest, user: User) -> bool:
    required = settings.A2A_REQUIRE_SECOND_FACTOR
    if required == "off" or request.session.get(sessions.SECOND_FACTOR):
        return False
    return required == "everyone" or role_of(user) == Role.ADMIN


def _to_second_factor(request: HtmxRequest, user: User) -> HttpResponseBase:
    """Redirect to the set-up; or to the sign-in, if the session began before there was a second factor."""
    here = request.htmx.current_url_abs_path if request.htmx else request.get_full_path()
    if second_factor.of_person(user) is not None:
        sessions.end(request, "second factor")
        target = reverse("ops:sign-in")
    else:
        target = reverse("ops:second-factor")
    address = f"{target}?{urlencode({'next': here or reverse('ops:overview')})}"
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return HttpResponseRedirect(address)


class ProxyMiddleware(Middleware):
    """Takes the client's address and scheme from a trusted proxy, and drops what other clients report of themselves.

    The address is the right-most one of ``X-Forwarded-For`` that is no trusted proxy. Addresses further left are the
    client's own words. The scheme is the right-most one of ``X-Forwarded-Proto``. No later code sees other headers of
    this kind: ``X-Forwarded-*``, ``Forwarded`` and ``X-Real-IP``. The client certificate of ``A2A_CLIENT_CERT_HEADER``
    is taken from a trusted proxy alone, too. With ``A2A_PROXY_SECRET`` a proxy is trusted if it also sends the secret.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        meta = request.META
        reports = {name: meta.pop(name) for name in [name for name in meta if name.startswith(REPORTS)]}
        certificate = reports.pop(settings.A2A_CLIENT_CERT_META, "") or meta.pop(settings.A2A_CLIENT_CERT_META, "")
        secret = meta.pop(SECRET, "")
        peer = address_in(meta.get("REMOTE_ADDR", ""))
        if peer is not None:
            has_secret = not settings.A2A_PROXY_SECRET or constant_time_compare(secret, settings.A2A_PROXY_SECRET)
            by_proxy = has_secret and is_trusted(peer)
            meta["REMOTE_ADDR"] = str(_client(peer, reports.get(CHAIN, "")) if by_proxy else peer)
            if by_proxy and certificate:
                meta[settings.A2A_CLIENT_CERT_META] = certificate
            if by_proxy and SCHEME in reports:
                meta[SCHEME] = reports[SCHEME].rpartition(",")[2].strip().lower()
        return self.get_response(request)


def _client(peer: IPv4Address | IPv6Address, chain: str) -> IPv4Address | IPv6Address:
    """Return the address of the client. The proxy's own address stands for a client that it does not name."""
    client = peer
    for hop in reversed(chain.split(",")[-MOST_HOPS:]):
        address = address_in(hop.strip())
        if address is None:
            break
        client = address
        if not is_trusted(address):
            break
    return client


@lru_cache(maxsize=4096)
def address_in(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address without port, brackets and zone; None for other text. An IPv4 address in IPv6 is IPv4."""
    whole = _HOP.fullmatch(text.partition("%")[0])
    if whole is None:
        return None
    try:
        address = ip_address(whole[1] or whole[2] or whole[3])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_trusted(address: IPv4Address | IPv6Address) -> bool:
    """Whether ``A2A_TRUSTED_PROXIES`` holds the address."""
    return _is_in(address, tuple(settings.A2A_TRUSTED_PROXIES))


@lru_cache(maxsize=4096)
def _is_in(address: IPv4Address | IPv6Address, networks: tuple[object, ...]) -> bool:
    return any(address in network for network in networks)  # type: ignore[operator]


class StrangersMiddleware(Middleware):
    """Counts each request without a signed-in person for its address. Beyond the rate of the address it answers 429.

    Only pages for people tell who is signed in. Everyone gets the same answer at all other paths, so their cookies are
    not read, and each request there counts. A dialect counts its requests itself.
    """

    def __call__(self, request: HtmxRequest) -> HttpResponseBase:
        is_page = request.path.startswith(PAGES_FOR_PEOPLE) and request.path != ICON
        is_known = request.user.is_authenticated if is_page else _is_api(request.path, view_module.DialectView)
        if not is_known:
            try:
                rates.take_anonymous(sessions.address_of(request))
            except RateLimitedError as error:
                return too_many_requests(request, error)
        return self.get_response(request)


class AdminMiddleware(Middleware):
    """Answers 405 to other methods than those of a browser.

    A query with text that PostgreSQL cannot store, such as NUL, is answered with 400: comparing it fails there.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(ADMIN):
            return self.get_response(request)
        if request.method not in ADMIN_METHODS:
            return HttpResponseNotAllowed(ADMIN_METHODS)
        if json_text.problem_in(dict(request.GET.lists())):
            raise BadRequest
        return self.get_response(request)


class CompressionMiddleware(GZipMiddleware):
    """Compresses text of pages for people. Its random padding hides the length of a page (BREACH)."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_text = response.headers.get("Content-Type", "").startswith(("text/", "application/json", "image/svg"))
        if not is_text or not request.path_info.startswith(PAGES_FOR_PEOPLE):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
