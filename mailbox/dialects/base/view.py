"""The base of every dialect's views: it reads bodies, authenticates callers and answers errors.

Clients that cannot authenticate but take any base URL use a public route, ``/p/<token>/...``. Its middleware is the
first one. All code after it sees the path without the token, or a path that no view answers.
"""

import errno
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, register_converter, resolve
from django.urls.converters import StringConverter
from pydantic import BaseModel, ValidationError
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from mailbox.access.callers import Caller
from mailbox.access.credentials import public_routes
from mailbox.access.credentials.authentication import count_failure
from mailbox.database import outages
from mailbox.dialects.base import authentication, bodies, http_errors
from mailbox.dialects.base.bodies import AlwaysJSON, JSONRenderer, JSONRequest, StrictJSONParser
from mailbox.models import PublicRoute
from mailbox.words import errors
from mailbox.words.errors import Allowance, BadSignatureError, InvalidRequestError, MailboxError, RateLimitedError
from mailbox.words.signatures import RequestSignature

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_OBJECT, _ARRAY, _NUMBER = "must be a JSON object", "must be a JSON array", "must be a whole number"
Shape = TypeVar("Shape", bound=BaseModel)
_logger = logging.getLogger(__name__)
_PREFIXED = re.compile(r"/p/([^/]*)(.*)", re.DOTALL)
PREFIX = "/p/"  # of a public route; no view answers at it
# A cache would keep the address, and would answer after the route's revocation.
HEADERS = {"Referrer-Policy": "no-referrer", "Cache-Control": "private, no-store", "Vary": "*"}
# Headers in which a client or a proxy may have left a copy of the address.
_COPIES = ("HTTP_REFERER", "HTTP_X_REQUEST_ID", "HTTP_X_ORIGINAL_URL", "HTTP_X_FORWARDED_URI", "RAW_URI", "REQUEST_URI")


class MalformedId(str):
    """A part of a path that should be a UUID and is none."""

    __slots__ = ()


class IdConverter:
    """``<id:...>``, a UUID in upper or lower case.

    Any other text matches too, as a `MalformedId`: the view then answers with a clear error.
    """

    regex = "[^/]+"

    def to_python(self, text: str) -> UUID | MalformedId:
        return UUID(text) if _UUID.fullmatch(text) else MalformedId(text)

    def to_url(self, value: UUID) -> str:
        return str(value)


class TextConverter(StringConverter):
    """``<text:...>``, any text at the end of a path, also with slashes and line breaks."""

    regex = "(?s:.+)"


register_converter(IdConverter, "id")
register_converter(TextConverter, "text")

_WORDS: Mapping[str, str] = {
    "missing": "is required",
    "extra_forbidden": "is not a field of this request",
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dict_type": _OBJECT,
    "list_type": _ARRAY,
    "string_type": "must be text",
    "int_type": _NUMBER,
    "int_parsing": _NUMBER,
    "int_parsing_size": _NUMBER,
    "int_from_float": _NUMBER,
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "uuid_type": "must be a UUID",
    "uuid_parsing": "must be a UUID",
    "literal_error": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "union_tag_not_found": "must have the field {discriminator}",
    "union_tag_invalid": "must have one of {expected_tags} as its {discriminator}",
    "value_error": "{error}",
}


def problem(error: Mapping[str, Any]) -> str:
    """Return the problem that one of pydantic's errors reports. Pydantic's words about Python are replaced."""
    words = _WORDS.get(error["type"])
    return words.format_map(error.get("ctx", {})) if words else str(error["msg"])


class DialectView(APIView):
    """A view of a dialect. Subclasses give ``error_status`` and may override `error_body`.

    ``open_to_routes`` are the methods that are also answered under ``/p/<token>/``. OPTIONS is answered there if any
    method is, because a browser asks with it before its request.
    """

    authentication_classes: Sequence[type[BaseAuthentication]] = (
        authentication.RouteAuthentication,
        authentication.SignatureAuthentication,
        authentication.KeyAuthentication,
        authentication.CertificateAuthentication,
    )
    throttle_classes: Sequence[type[BaseThrottle]] = (authentication.CallerThrottle,)
    parser_classes = (StrictJSONParser,)
    renderer_classes = (JSONRenderer,)
    content_negotiation_class = AlwaysJSON
    error_status: ClassVar[Mapping[type[MailboxError], HTTPStatus]] = {}
    open_to_routes: ClassVar[frozenset[str]] = frozenset()
    media_types: ClassVar[frozenset[str]] = bodies.JSON  # of the bodies that it reads
    items: ClassVar[str | None] = None  # the member of a batch that lists its items, as in `json_text.loads`
    operation_suffix = ""  # names the route in the OpenAPI document, where the view serves several
    allow: ClassVar[str]  # the methods of the view, for the header
    caller: Caller
    request_id: str
    allowance: Allowance | None = None  # of the limit that counted the request; None if no limit has counted it

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.allow = ", ".join(cls().allowed_methods)

    @property
    def default_response_headers(self) -> dict[str, str]:
        return {"Allow": self.allow}

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        self.request_id = authentication.request_id(request.META)
        return JSONRequest(
            request,
            parsers=self.get_parsers(),
            authenticators=self.get_authenticators(),
            parser_context=self.get_parser_context(request),
        )

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer the request. The view does not keep the answer: the garbage collector would free a large one late."""
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        del self.response
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find the caller and count the request.

        DRF would also negotiate here, but each request of a dialect gets JSON. The caller of a key is set before the
        count, so that the log names it. Any other is set after: the nonce of a signature stays unspent until then, and
        a request beyond the rate costs no transaction.
        """
        if self.route() is not None:
            method = "GET" if request.method == "HEAD" else request.method
            if method not in self.open_to_routes and not (method == "OPTIONS" and self.open_to_routes):
                raise http_errors.MethodNotAllowedError(f"{method} is not answered here")
        self.perform_authentication(request)
        caller: Any = request.user
        if isinstance(request.auth, str):
            self.caller = caller
        self.check_throttles(request)
        if isinstance(request.auth, RequestSignature):
            authentication.check_body(request._request, bodies.bytes_of(request._request, self.stalled))
        self.caller = caller
        malformed = [name for name, value in kwargs.items() if isinstance(value, MalformedId)]
        if malformed:
            raise InvalidRequestError(dict.fromkeys(malformed, "in the path must be a UUID, 32 digits with hyphens"))

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        """Answer with the methods of the route in Allow, and no body."""
        return Response(status=HTTPStatus.NO_CONTENT)

    def route(self) -> PublicRoute | None:
        """Return the public route of the request; None for a request that came by no route."""
        return authentication.route_of(self.request._request)

    def base_url(self) -> str:
        """Return the base URL under which the hub answers this client. A public route's ends in its token, a secret."""
        path: str = getattr(self.request._request, authentication.ROUTE_PATH_ATTRIBUTE, "")
        return f"{settings.PUBLIC_URL}{path}"

    def body(self, shape: type[Shape]) -> Shape:
        """Return the request's JSON body as ``shape``; an absent body reads as ``{}``.

        Raises `InvalidRequestError` and the errors of `json`.
        """
        return parse(shape, self.json())

    def query(self, shape: type[Shape]) -> Shape:
        """Return the query parameters as ``shape``; raise `InvalidRequestError`."""
        return parse(shape, self.request.query_params.dict())

    def json(self) -> Any:
        """Return the request's JSON body of any type; an absent body reads as ``{}``.

        It is DRF's ``request.data``, once the head of the body is admitted. Raises `InvalidJsonError`,
        `LengthRequiredError`, `BodyTooLargeError`, `UnsupportedMediaTypeError`, `StalledBodyError`. After an error of
        the body itself, DRF has an empty body.
        """
        bodies.check_head(self.request._request, self.media_types)
        return self.request.data

    def stalled(self) -> Response:
        """Return the answer to a request whose body does not arrive in time. Another thread calls this."""
        response: Response = self.finalize_response(self.request, self.handle_exception(http_errors.StalledBodyError()))
        response.render()
        return response

    def get_exception_handler(self) -> Callable[[Exception, Mapping[str, Any]], Response | None]:
        return exception_handler

    def status_of(self, error: MailboxError) -> HTTPStatus:
        return self.error_status.get(type(error)) or http_errors.TRANSPORT_STATUS[type(error)]

    def error_body(self, error: MailboxError, status: HTTPStatus) -> object:
        """Return the JSON of ``error`` in this dialect's shape."""
        fields = {"fields": error.fields} if isinstance(error, InvalidRequestError) else {}
        return {"kind": "error", "code": error.code, "message": errors.text_for_program(error), **error.ids, **fields}

    def finalize_response(self, request: Any, response: HttpResponseBase, *args: Any, **kwargs: Any) -> Any:
        response = self._answered_once(response)
        response = super().finalize_response(request, response, *args, **kwargs)  # type: ignore[arg-type]
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers["X-Request-Id"] = self.request_id
        if (caller := getattr(self, "caller", None)) is not None:
            self.request.META[authentication.CALLER] = caller.name
            self.request.META[authentication.STRANGER] = caller.is_stranger
        response = self._rendered(request, response)
        for name, value in self.allowance.headers().items() if self.allowance else ():
            response.headers[name] = value
        return response

    def _rendered(self, request: Any, response: HttpResponseBase) -> HttpResponseBase:
        """Return the response with its bytes; or an error, where a read has too many large answers under way.

        The response lets go of its context, which refers back to it. The garbage collector would free both late.
        """
        if not isinstance(response, Response):
            return response
        response.render()
        vars(response).pop("renderer_context")
        if len(response.content) > bodies.LARGE and request.method in SAFE_METHODS:
            try:
                bodies.large_answers.check(self.request.META, len(response.content))
            except RateLimitedError as error:
                refusal = super().finalize_response(request, self.handle_exception(error))
                return self._rendered(request, refusal)
        return response

    def _answered_once(self, response: HttpResponseBase) -> HttpResponseBase:
        """Spend the nonce of a signed request that changed nothing; return its answer, or the error of a replay."""
        caller: Caller | None = getattr(self, "caller", None)
        if caller is None or caller.nonce is None:
            return response
        try:
            caller.nonce.spend_alone()
        except (MailboxError, OperationalError, InterfaceError) as error:
            return self.handle_exception(error)
        return response


def parse(shape: type[Shape], value: object) -> Shape:
    """Return ``value`` as ``shape``; raise `InvalidRequestError` with the path of each invalid field."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        fields = {".".join(map(str, one["loc"])) or "body": problem(one) for one in problems}
        raise InvalidRequestError(fields) from error


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response | None:
    """Answer an error in the shape of the view's dialect. Return None for a bug of the hub, which DRF then raises."""
    view: DialectView = context["view"]
    error = as_mailbox_error(exc, view.request)
    if error is None:
        return None
    if isinstance(error, BadSignatureError):
        count_failure(f"signature {error.fault}", view.request.META.get("REMOTE_ADDR", ""))
    status = view.status_of(error)
    response = Response(view.error_body(error, status), status=status)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        response["Retry-After"] = "1"
    if isinstance(error, RateLimitedError):
        response["Retry-After"] = str(error.retry_after)
        view.allowance = error.allowance
    if isinstance(error, http_errors.MethodNotAllowedError):
        response["Allow"] = view.allow
    if status == HTTPStatus.UNAUTHORIZED and (scheme := view.get_authenticate_header(view.request)):
        response["WWW-Authenticate"] = scheme
    return response


def as_mailbox_error(exc: Exception, request: Request) -> MailboxError | None:
    """Return the error that tells the client of ``exc``; None for a bug of the hub."""
    match exc:
        case MailboxError():
            return exc
        case OperationalError() | InterfaceError():
            outages.note(exc)
            outage = outages.kind(exc)
            return http_errors.UnavailableError(f"{outage.capitalize()}." if outage else None)
        case MemoryError() | OSError(errno=errno.EMFILE | errno.ENFILE | errno.ENOMEM):
            _logger.error("the hub lacks memory or open files for a request: %r", exc)
            return http_errors.UnavailableError("The hub lacks memory or open files.")
        case exceptions.MethodNotAllowed():
            return http_errors.MethodNotAllowedError(f"{request.method} is not answered here")
        case TooManyFieldsSent():
            return InvalidRequestError({"query": f"has more than {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS} parameters"})
        case Http404() | exceptions.NotFound():
            return http_errors.PathNotFoundError()
    return None


class RouteMiddleware:
    """Take the token off the path and note its route on the request, for views that are open to public routes.

    An unknown token, a revoked token and a path that is not open all answer as a path that does not exist.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        prefixed = _PREFIXED.fullmatch(request.path_info)
        if prefixed is None:
            return self.get_response(request)
        token, path = prefixed[1], "/" + prefixed[2].lstrip("/")
        _forget(request, token)
        response = self._answer(request, token, path)
        for name, value in HEADERS.items():
            response[name] = value
        return response

    def _answer(self, request: HttpRequest, token: str, path: str) -> HttpResponse:
        try:
            route = public_routes.recognise(token)
        except (OperationalError, InterfaceError) as error:
            return _unavailable(error)
        if route is None or not _is_open(path):
            readdress(request, PREFIX)
        else:
            readdress(request, path)
            setattr(request, authentication.ROUTE_ATTRIBUTE, route)
            setattr(request, authentication.ROUTE_PATH_ATTRIBUTE, f"{PREFIX}{token}")
        return self.get_response(request)


def _is_open(path: str) -> bool:
    try:
        view = getattr(resolve(path).func, "cls", None)
    except Resolver404:
        return False
    return isinstance(view, type) and issubclass(view, DialectView) and bool(view.open_to_routes)


def readdress(request: HttpRequest, path: str) -> None:
    """Let the request ask for ``path``, without a redirect."""
    request.path_info = request.META["PATH_INFO"] = path
    request.path = request.META.get("SCRIPT_NAME", "").rstrip("/") + path


def _forget(request: HttpRequest, token: str) -> None:
    for name in _COPIES:
        if token and token in request.META.get(name, ""):
            del request.META[name]


def _unavailable(cause: Exception) -> HttpResponse:
    outages.note(cause)
    error = http_errors.UnavailableError()
    body = {"kind": "error", "code": error.code, "message": error.message}
    return JsonResponse(body, status=503, headers={"Retry-After": "1"})
