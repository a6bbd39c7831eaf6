"""Views for pages of other sites: of the sites in `A2A_CORS_ORIGINS`, or of any site."""

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.response import Response

from mailbox.dialects.base import view
from mailbox.dialects.base.view import DialectView
from mailbox.words.errors import MailboxError

MAX_AGE = 300  # seconds
_logger = logging.getLogger(__name__)


def is_foreign_page(sent: Mapping[str, str]) -> bool:
    """Whether a request comes from a page that is neither the hub's own nor one of `A2A_CORS_ORIGINS`."""
    origin = sent.get("Origin")
    own = urlsplit(settings.PUBLIC_URL)
    return origin is not None and origin not in (f"{own.scheme}://{own.netloc}", *settings.A2A_CORS_ORIGINS)


class CrossOriginView(DialectView):
    """A view for pages of `A2A_CORS_ORIGINS` alone. It answers also a bug of the hub in the shape of its dialect."""

    cors_headers: ClassVar[tuple[str, ...]]
    status_of_bug: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR

    def fault(self, error: Exception) -> object:
        """Return the JSON of an error of the hub, or of a bug."""
        raise NotImplementedError

    def error_body(self, error: MailboxError, status: HTTPStatus) -> object:
        return self.fault(error)

    def get_exception_handler(self) -> Callable[[Exception, Mapping[str, Any]], Response | None]:
        return _exception_handler

    def reported(self, exc: Exception) -> Exception:
        """Return the error that the client gets. A bug of the hub is logged."""
        error = view.as_mailbox_error(exc, self.request)
        if error is None:
            _logger.error("a request of %s failed", type(self).__name__, exc_info=exc)
        return error or exc

    def finalize_response(self, request: Any, response: HttpResponseBase, *args: Any, **kwargs: Any) -> Any:
        if settings.A2A_CORS_ORIGINS:
            response.headers["Vary"] = "Origin"
        origin = request.headers.get("Origin")
        if origin is not None and origin in settings.A2A_CORS_ORIGINS:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Allow-Headers"] = ", ".join(self.cors_headers)
            response.headers["Access-Control-Allow-Methods"] = ", ".join(self.allowed_methods)
        return super().finalize_response(request, response, *args, **kwargs)


def _exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response | None:
    answering: CrossOriginView = context["view"]
    error = answering.reported(exc)
    response = view.exception_handler(error, context)
    return response or Response(answering.fault(error), status=answering.status_of_bug)


class PublicDocumentView(DialectView):
    """A view of a document for pages of any site. A cache may keep its answer for five minutes."""

    http_method_names = ("get", "head", "options")
    cors_headers: ClassVar[tuple[str, ...]] = ("Content-Type", "Authorization", "If-None-Match")

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        # A Response would be rendered as null.
        return HttpResponse(status=HTTPStatus.NO_CONTENT, content_type="application/json")

    def finalize_response(self, request: Any, response: HttpResponseBase, *args: Any, **kwargs: Any) -> Any:
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Allow-Methods"] = "GET, HEAD, OPTIONS"
        response.headers["Access-Control-Allow-Headers"] = ", ".join(self.cors_headers)
        return super().finalize_response(request, response, *args, **kwargs)

    def shown(
        self, document: Mapping[str, Any], *, tag: str = "", scope: str = "public", **headers: str
    ) -> HttpResponseBase | None:
        """Return the document, indented for people; 304 if the client has it. Its text's hash stands for no ``tag``."""
        text = json.dumps(document, indent=2, ensure_ascii=False)
        tag = tag or f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
        response = HttpResponse(text, content_type="application/json")
        for name, value in {"Cache-Control": f"{scope}, max-age={MAX_AGE}", "ETag": tag, **headers}.items():
            response[name] = value
        return get_conditional_response(self.request._request, etag=tag, response=response)
