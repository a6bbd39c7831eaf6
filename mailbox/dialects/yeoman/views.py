"""The routes of YEOMAN's peers and of Agnostic's task API, at its first path and at its versioned path.

They refuse as FastAPI and Agnostic do: ``{"detail": ...}``. Source: Agnostic ADR-017, ADR-019; SecureYeoman.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from json import JSONDecodeError
from typing import Any, TypeVar

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from mailbox.access.agents import peers
from mailbox.access.limits import rates
from mailbox.dialects.base import authentication, http_errors, openapi
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.yeoman import messages, requests, tasks, wire
from mailbox.life import expiry, sending
from mailbox.words import errors, json_text
from mailbox.words.envelopes import KEY_MAX_LENGTH

Shape = TypeVar("Shape", bound=BaseModel)

IDEMPOTENCY_KEY = "Idempotency-Key"
REPEATABLE = OpenApiParameter(IDEMPOTENCY_KEY, {"type": "string", "maxLength": KEY_MAX_LENGTH}, OpenApiParameter.HEADER)
ITSELF = "self"  # the id of every node in its own messages
UNPROCESSABLE = HTTPStatus(422)
STATUS: Mapping[type[errors.MailboxError], HTTPStatus] = {
    **http_errors.STATUS,
    errors.InvalidJsonError: UNPROCESSABLE,
    errors.InvalidRequestError: UNPROCESSABLE,
    requests.UnprocessableError: UNPROCESSABLE,
}

operation = partial(openapi.operation, refusal=wire.Refusal)

# Agnostic's own messages.
WORDS: Mapping[type[errors.MailboxError], str] = {
    errors.RateLimitedError: "A2A rate limit exceeded",
    errors.UnknownTaskError: "Task not found",
    http_errors.BodyTooLargeError: "Request Entity Too Large",
    http_errors.MethodNotAllowedError: "Method Not Allowed",
}


class HeaderAuthentication(authentication.KeyAuthentication):
    """By the key in X-API-Key; without that header, by the key in Authorization."""

    def presented_key(self, headers: Mapping[str, str]) -> str | None:
        return headers["X-API-Key"] if "X-API-Key" in headers else super().presented_key(headers)


class YeomanView(DialectView):
    authentication_classes: Sequence[type[BaseAuthentication]] = (
        authentication.RouteAuthentication,
        authentication.SignatureAuthentication,
        HeaderAuthentication,
        authentication.CertificateAuthentication,
    )
    error_status = STATUS

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Refuse a wrong method before a missing key, as FastAPI does."""
        if (request.method or "").lower() not in (name.lower() for name in self.allowed_methods):
            raise http_errors.MethodNotAllowedError
        super().initial(request, *args, **kwargs)

    def perform_authentication(self, request: Request) -> None:
        try:
            super().perform_authentication(request)
        except errors.BadSignatureError:
            raise
        except errors.UnauthenticatedError as error:
            raise errors.UnauthenticatedError(_unauthenticated(request.headers)) from error

    def body(self, shape: type[Shape]) -> Shape:
        """Count one more message or task of this credential, and return the body as ``shape``.

        Raises `RateLimitedError`, `requests.UnprocessableError` and `InvalidJsonError`.
        """
        limit = settings.A2A_RECEIVE_RATE_LIMIT_PER_MIN
        rates.take_from_window(f"yeoman:{self.caller.name}", limit=limit, window=timedelta(minutes=1))
        return requests.parse(shape, self.json())

    def query(self, shape: type[Shape]) -> Shape:
        return requests.parse(shape, self.request.query_params.dict(), place="query")

    def repeated_as(self) -> str:
        """Return the name of this request, from its Idempotency-Key; "" without that header.

        Raises `requests.UnprocessableError` for a key that is too long.
        """
        key = self.request.headers.get(IDEMPOTENCY_KEY, "").strip()
        if len(key) > KEY_MAX_LENGTH:
            text = f"String should have at most {KEY_MAX_LENGTH} characters"
            raise requests.UnprocessableError([requests.problem("string_too_long", ("header", IDEMPOTENCY_KEY), text)])
        return f"{IDEMPOTENCY_KEY}: {key}" if key else ""

    def error_body(self, error: errors.MailboxError, status: HTTPStatus) -> object:
        match error:
            case requests.UnprocessableError():
                return {"detail": error.problems}
            case errors.InvalidJsonError():
                return {"detail": [_invalid_json(error)]}
            case errors.InvalidRequestError():
                fields = error.fields.items()
                return {"detail": [requests.problem("value_error", ("body", path), text) for path, text in fields]}
        return {"detail": WORDS.get(type(error)) or errors.text_for_program(error)}


class PublicYeomanView(YeomanView):
    """A view that needs no credentials: a peer has none yet when it looks for capabilities."""

    authentication_classes = ()
    throttle_classes = (authentication.AddressThrottle,)


def _unauthenticated(headers: Mapping[str, str]) -> str:
    if "X-API-Key" in headers:
        return "Invalid API key"
    if headers.get("Authorization", "").partition(" ")[0].lower() == "bearer":
        return "Invalid or expired token"
    return "Missing or invalid authorization header"


def _invalid_json(error: errors.InvalidJsonError) -> requests.Problem:
    cause = error.__cause__
    place = cause.pos if isinstance(cause, JSONDecodeError) else 0
    problem = requests.problem("json_invalid", ("body", place), "JSON decode error", {})
    return {**problem, "ctx": {"error": cause.msg if isinstance(cause, JSONDecodeError) else error.message}}


class ReceiveView(YeomanView):
    http_method_names = ("post",)
    open_to_routes = frozenset({"POST"})

    @operation("receive_message", answer=wire.MessageAccepted, errors=(403, 404, 409, 422, 429))
    def post(self, body: requests.Envelope) -> dict[str, Any]:
        return messages.receive(self.caller, body)


class CapabilitiesView(PublicYeomanView):
    http_method_names = ("get",)
    open_to_routes = frozenset({"GET"})

    @operation("read_capabilities", errors=(429,), public=True)
    def get(self) -> wire.PeerCapabilities:
        return wire.PeerCapabilities(capabilities=messages.capabilities(to_anyone=True))


class DiscoveryView(PublicYeomanView):
    http_method_names = ("get",)
    open_to_routes = frozenset({"GET"})

    @operation("discover", errors=(429,), public=True)
    def get(self) -> wire.Discovery:
        return messages.discovery(to_anyone=True)


class LocalPeersView(YeomanView):
    http_method_names = ("post",)
    open_to_routes = frozenset({"POST"})

    @operation("register_local_peer", errors=(403, 422, 429), status=201)
    def post(self, body: requests.LocalPeer) -> wire.RegisteredPeer:
        capabilities = json_text.dumps(body.capabilities)
        peer = peers.announced(self.caller, ITSELF, name=body.name, url=body.url, capabilities=capabilities)
        if peer is None:
            raise errors.WrongPartyError("Only agents register peers. Use an agent's key.")
        shown: wire.PeerAgent = {**wire.peer(peer, timezone.now()), "id": peer.agent.display}
        return wire.RegisteredPeer(peer=shown)


class WorkflowTasksView(YeomanView):
    """The route of a SecureYeoman workflow step, which reads the task's id and does not poll."""

    http_method_names = ("post",)
    open_to_routes = frozenset({"POST"})

    @operation("send_workflow_task", headers=(REPEATABLE,), errors=(403, 404, 409, 422, 429))
    def post(self, body: requests.WorkflowTask) -> wire.WorkflowTaskStatus:
        work = requests.delegated(body.model_dump(), "body")
        record = tasks.taken(self.caller, work, message_id=self.repeated_as())
        return wire.WorkflowTaskStatus(taskId=record["task_id"], **record)


def _listed(view: YeomanView, query: requests.Slice) -> wire.TaskStatuses:
    items, total = tasks.newest(view.caller, limit=query.limit, offset=query.offset)
    is_cut = len(items) < min(query.limit, total - query.offset)  # a client adds the limit to its offset
    return {"items": items, "total": total, "limit": len(items) if is_cut else query.limit, "offset": query.offset}


def _submitted(view: YeomanView, body: requests.TaskSubmit) -> wire.TaskStatus:
    return tasks.taken(view.caller, requests.submitted(body), message_id=view.repeated_as())


class SubmittedTasksView(YeomanView):
    http_method_names = ("get", "head", "post")
    open_to_routes = frozenset({"GET", "POST"})
    get = operation("list_submitted_tasks", errors=(422,))(_listed)
    post = operation("submit_task", headers=(REPEATABLE,), errors=(403, 404, 409, 422, 429))(_submitted)


class VersionedTasksView(SubmittedTasksView):
    get = operation("list_submitted_tasks_v1", errors=(422,))(_listed)
    post = operation("submit_task_v1", headers=(REPEATABLE,), errors=(403, 404, 409, 422, 429), status=201)(_submitted)


class SubmittedTaskView(YeomanView):
    http_method_names = ("get", "head", "delete")
    open_to_routes = frozenset({"GET"})

    @operation("read_submitted_task", errors=(404,))
    def get(self, task_id: str) -> wire.TaskStatus:
        return tasks.record(self.caller, task_id)

    @operation("cancel_submitted_task", errors=(403, 404, 409))
    def delete(self, task_id: str) -> wire.SubmittedTaskCancelled:
        known = tasks.identify(task_id)
        if known is None:
            raise errors.UnknownTaskError
        try:
            cancelled = sending.cancel(self.caller, known)
        except errors.AlreadyResolvedError as error:
            state = wire.task_word(expiry.current(self.caller, known))
            raise errors.AlreadyResolvedError(f"Cannot cancel task in '{state}' state") from error
        return wire.SubmittedTaskCancelled(
            task_id=str(cancelled.uuid), status="cancelled", message="Task cancelled successfully"
        )
