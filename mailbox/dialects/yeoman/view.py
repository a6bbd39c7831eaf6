"""Views that refuse as FastAPI and Agnostic do: ``{"detail": ...}``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from json import JSONDecodeError
from typing import TypeVar

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel
from rest_framework.request import Request

from mailbox.access.limits import rates
from mailbox.dialects.base import statuses, view
from mailbox.dialects.base.transport import BodyTooLargeError, MethodNotAllowedError
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.yeoman import requests
from mailbox.words import errors
from mailbox.words.envelopes import KEY_MAX_LENGTH
from mailbox.words.errors import (
    BadSignatureError,
    InvalidJsonError,
    InvalidRequestError,
    MailboxError,
    UnauthenticatedError,
)

Shape = TypeVar("Shape", bound=BaseModel)

IDEMPOTENCY_KEY = "Idempotency-Key"
REPEATABLE = OpenApiParameter(
    IDEMPOTENCY_KEY,
    {"type": "string", "maxLength": KEY_MAX_LENGTH},
    OpenApiParameter.HEADER,
    description="Names this submission: sent again under the same name it makes no second task.",
)
UNPROCESSABLE = HTTPStatus(422)
STATUS: Mapping[type[MailboxError], HTTPStatus] = {
    **statuses.STATUS,
    errors.InvalidJsonError: UNPROCESSABLE,
    errors.InvalidRequestError: UNPROCESSABLE,
    requests.UnprocessableError: UNPROCESSABLE,
}

# Agnostic's own messages.
WORDS: Mapping[type[MailboxError], str] = {
    errors.RateLimitedError: "A2A rate limit exceeded",
    errors.UnknownTaskError: "Task not found",
    BodyTooLargeError: "Request Entity Too Large",
    MethodNotAllowedError: "Method Not Allowed",
}


class YeomanView(DialectView):
    error_status = STATUS

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Refuse a wrong method before a missing key, as FastAPI does."""
        if (request.method or "").lower() not in (name.lower() for name in self.allowed_methods):
            raise MethodNotAllowedError
        super().initial(request, *args, **kwargs)

    def presented_key(self, headers: Mapping[str, str]) -> str | None:
        """Return the key in X-API-Key; without that header, the key in Authorization."""
        return headers["X-API-Key"] if "X-API-Key" in headers else view.presented_key(headers)

    def perform_authentication(self, request: Request) -> None:
        try:
            super().perform_authentication(request)
        except BadSignatureError:
            raise
        except UnauthenticatedError as error:
            raise UnauthenticatedError(_unauthenticated(request.headers)) from error

    def fitting(self, shape: type[Shape]) -> Shape:
        """Return the body as ``shape``; raise `requests.UnprocessableError` or `InvalidJsonError`."""
        return requests.parse(shape, self.json())

    def repeated_as(self) -> str:
        """Return the name of this request, from its Idempotency-Key; "" without that header.

        Raises `requests.UnprocessableError` for a key that is too long.
        """
        key = self.request.headers.get(IDEMPOTENCY_KEY, "").strip()
        if len(key) > KEY_MAX_LENGTH:
            text = f"String should have at most {KEY_MAX_LENGTH} characters"
            raise requests.UnprocessableError([requests.problem("string_too_long", ("header", IDEMPOTENCY_KEY), text)])
        return f"{IDEMPOTENCY_KEY}: {key}" if key else ""

    def count(self) -> None:
        """Count one more message or task of this credential; raise `RateLimitedError`."""
        limit = settings.A2A_RECEIVE_RATE_LIMIT_PER_MIN
        rates.take_from_window(f"yeoman:{self.caller.counted_as}", limit=limit, window=timedelta(minutes=1))

    def error_body(self, error: MailboxError, status: HTTPStatus) -> object:
        match error:
            case requests.UnprocessableError():
                return {"detail": error.problems}
            case InvalidJsonError():
                return {"detail": [_invalid_json(error)]}
            case InvalidRequestError():
                fields = error.fields.items()
                return {"detail": [requests.problem("value_error", ("body", path), text) for path, text in fields]}
        return {"detail": WORDS.get(type(error)) or errors.text_for_program(error)}


class PublicYeomanView(YeomanView):
    """A view that needs no credentials."""

    def perform_authentication(self, request: Request) -> None:
        """Let any client read: a peer has no credentials yet when it looks for capabilities."""
        self.let_anyone_in(request)


def _unauthenticated(headers: Mapping[str, str]) -> str:
    if "X-API-Key" in headers:
        return "Invalid API key"
    if headers.get("Authorization", "").partition(" ")[0].lower() == "bearer":
        return "Invalid or expired token"
    return "Missing or invalid authorization header"


def _invalid_json(error: InvalidJsonError) -> requests.Problem:
    cause = error.__cause__
    place = cause.pos if isinstance(cause, JSONDecodeError) else 0
    problem = requests.problem("json_invalid", ("body", place), "JSON decode error", {})
    return {**problem, "ctx": {"error": cause.msg if isinstance(cause, JSONDecodeError) else error.message}}
