"""``tasks/send`` over HTTP, with corvid-agent's statuses and words."""

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from pydantic import RootModel
from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access.credentials import authentication
from mailbox.dialects.base import openapi
from mailbox.dialects.base.authentication import presented_key
from mailbox.dialects.base.http_errors import BodyTooLargeError, MethodNotAllowedError
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.corvid import handler, wire
from mailbox.words import errors
from mailbox.words.errors import BadSignatureError, MailboxError


class TaskSendBody(RootModel[dict[str, Any]]):
    """The task: ``{"params": {"message", "skill"?, "timeoutMs"?, "depth"?}}``, or these keys at the top level."""


operation = partial(openapi.operation, refusal=wire.CorvidError)

STATUS: Mapping[type[MailboxError], HTTPStatus] = {
    handler.ValidationFailedError: HTTPStatus.BAD_REQUEST,
    handler.DepthExceededError: HTTPStatus.BAD_REQUEST,
    handler.NoRecipientError: HTTPStatus.NOT_FOUND,
    errors.InvalidJsonError: HTTPStatus.BAD_REQUEST,
    errors.InvalidRequestError: HTTPStatus.BAD_REQUEST,
    errors.UnauthenticatedError: HTTPStatus.UNAUTHORIZED,
    errors.RateLimitedError: HTTPStatus.TOO_MANY_REQUESTS,
    errors.QuotaExceededError: HTTPStatus.TOO_MANY_REQUESTS,
    errors.CapabilityMissingError: HTTPStatus.FORBIDDEN,
    errors.CapabilityScopeMismatchError: HTTPStatus.FORBIDDEN,
    errors.WrongPartyError: HTTPStatus.FORBIDDEN,
    errors.UnknownAgentError: HTTPStatus.NOT_FOUND,
    errors.UnknownTaskError: HTTPStatus.NOT_FOUND,
    errors.TaskConflictError: HTTPStatus.CONFLICT,
    MethodNotAllowedError: HTTPStatus.NOT_FOUND,
}

# corvid-agent's own messages.
WORDS: Mapping[type[MailboxError], str] = {
    errors.InvalidJsonError: "Invalid JSON body",
    errors.RateLimitedError: "Rate limit exceeded. Try again later.",
    errors.UnknownTaskError: "Task not found",
    BodyTooLargeError: "Payload too large",
    MethodNotAllowedError: "Not found",
}


class BadKeyError(MailboxError):
    """Invalid API key"""  # noqa: D400 corvid-agent's words

    code = "invalid_api_key"


# The answer names no origin: a browser shows it to no page of another site.
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": "Content-Type, Authorization",
}


class CorvidView(DialectView):
    """A view that refuses as corvid-agent does: ``{"error": <text>}``, with a code where it has one."""

    error_status = {**STATUS, BadKeyError: HTTPStatus.FORBIDDEN}

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        return Response(status=HTTPStatus.NO_CONTENT, headers=PREFLIGHT)

    def perform_authentication(self, request: Request) -> None:
        if request.method == "OPTIONS":
            request.authenticators = ()  # corvid-agent answers it without a key
        try:
            super().perform_authentication(request)
        except BadSignatureError:
            raise
        except errors.UnauthenticatedError as error:
            raise _unauthenticated(request.headers) from error

    def error_body(self, error: MailboxError, status: HTTPStatus) -> object:
        body = {"error": WORDS.get(type(error)) or errors.text_for_program(error)}
        return body | {"code": "NOT_FOUND"} if isinstance(error, handler.NoRecipientError) else body


class TaskSendView(CorvidView):
    open_to_routes = frozenset({"POST"})

    @operation("tasks_send", body=TaskSendBody, errors=(403, 404, 429))
    def post(self) -> wire.CorvidTask:
        body = self.json()
        if not self.request._request.body:  # no JSON to the original; other dialects read it as {}
            raise errors.InvalidJsonError
        return handler.handle_task_send(self.caller, body)

    @operation("get_task_named_send", errors=(403, 404))
    def get(self) -> wire.CorvidTask:
        raise errors.UnknownTaskError


class TaskView(CorvidView):
    open_to_routes = frozenset({"GET"})

    @operation("get_task", errors=(403, 404))
    def get(self, task_id: str) -> wire.CorvidTask:
        task = handler.handle_task_get(self.caller, task_id)
        if task is None:
            raise errors.UnknownTaskError
        return task


def _unauthenticated(headers: Mapping[str, str]) -> MailboxError:
    if key := presented_key(headers):
        expired = authentication.has_expired(key)
        return errors.UnauthenticatedError("API key expired, rotation required") if expired else BadKeyError()
    if headers.get("Authorization"):
        return errors.UnauthenticatedError("Invalid Authorization header format. Expected: Bearer <key>")
    return errors.UnauthenticatedError("Authentication required")
