"""The routes of YEOMAN's peers and of Agnostic's task API, at its first path and at its versioned path.

They refuse as FastAPI and Agnostic do: ``{"detail": ...}``. Source: Agnostic ADR-017, ADR-019; SecureYeoman.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from json import JSONDecodeError
from typing import TypeVar

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access.agents import peers
from mailbox.access.limits import rates
from mailbox.dialects.base import http_errors
from mailbox.dialects.base.authentication import (
    AddressThrottle,
    CertificateAuthentication,
    KeyAuthentication,
    RouteAuthentication,
    SignatureAuthentication,
)
from mailbox.dialects.base.http_errors import BodyTooLargeError, MethodNotAllowedError
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.yeoman import messages, requests, tasks, wire
from mailbox.life import expiry, sending
from mailbox.words import errors, json_text
from mailbox.words.envelopes import KEY_MAX_LENGTH
from mailbox.words.errors import (
    AlreadyResolvedError,
    BadSignatureError,
    InvalidJsonError,
    InvalidRequestError,
    MailboxError,
    UnauthenticatedError,
    UnknownTaskError,
    WrongPartyError,
)

Shape = TypeVar("Shape", bound=BaseModel)

IDEMPOTENCY_KEY = "Idempotency-Key"
REPEATABLE = OpenApiParameter(
    IDEMPOTENCY_KEY,
    {"type": "string", "maxLength": KEY_MAX_LENGTH},
    OpenApiParameter.HEADER,
    description="Names this submission: sent again under the same name it makes no second task.",
)
ITSELF = "self"  # the id of every node in its own messages
UNPROCESSABLE = HTTPStatus(422)
STATUS: Mapping[type[MailboxError], HTTPStatus] = {
    **http_errors.STATUS,
    errors.InvalidJsonError: UNPROCESSABLE,
    errors.InvalidRequestError: UNPROCESSABLE,
    requests.UnprocessableError: UNPROCESSABLE,
}

_describe = partial(describe, tag="YEOMAN", refusal=wire.Refusal)
_describe_task = partial(describe, tag="YEOMAN tasks", refusal=wire.Refusal)

# Agnostic's own messages.
WORDS: Mapping[type[MailboxError], str] = {
    errors.RateLimitedError: "A2A rate limit exceeded",
    errors.UnknownTaskError: "Task not found",
    BodyTooLargeError: "Request Entity Too Large",
    MethodNotAllowedError: "Method Not Allowed",
}


class HeaderAuthentication(KeyAuthentication):
    """By the key in X-API-Key; without that header, by the key in Authorization."""

    def presented_key(self, headers: Mapping[str, str]) -> str | None:
        return headers["X-API-Key"] if "X-API-Key" in headers else super().presented_key(headers)


class YeomanView(DialectView):
    authentication_classes: Sequence[type[BaseAuthentication]] = (
        RouteAuthentication,
        SignatureAuthentication,
        HeaderAuthentication,
        CertificateAuthentication,
    )
    error_status = STATUS

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Refuse a wrong method before a missing key, as FastAPI does."""
        if (request.method or "").lower() not in (name.lower() for name in self.allowed_methods):
            raise MethodNotAllowedError
        super().initial(request, *args, **kwargs)

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
    """A view that needs no credentials: a peer has none yet when it looks for capabilities."""

    authentication_classes = ()
    throttle_classes = (AddressThrottle,)


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


class ReceiveView(YeomanView):
    http_method_names = ("post",)
    open_to_routes = frozenset({"POST"})

    @_describe(
        summary="Receive a message of any type",
        body=requests.Envelope,
        answer=wire.MessageAccepted,
        errors=(403, 404, 409, 422, 429),
        operation_id="receive_message",
    )
    def post(self, request: Request) -> Response:
        self.count()
        return Response(messages.receive(self.caller, self.fitting(requests.Envelope)))


class CapabilitiesView(PublicYeomanView):
    http_method_names = ("get",)
    open_to_routes = frozenset({"GET"})

    @_describe(
        summary="List the hub's capabilities",
        answer=wire.PeerCapabilities,
        errors=(429,),
        public=True,
        operation_id="read_capabilities",
    )
    def get(self, request: Request) -> Response:
        return Response(wire.PeerCapabilities(capabilities=messages.capabilities(to_anyone=True)))


class DiscoveryView(PublicYeomanView):
    http_method_names = ("get",)
    open_to_routes = frozenset({"GET"})

    @_describe(
        summary="Describe the hub as a peer",
        answer=wire.Discovery,
        errors=(429,),
        public=True,
        operation_id="discover",
    )
    def get(self, request: Request) -> Response:
        return Response(messages.discovery(to_anyone=True))


class LocalPeersView(YeomanView):
    http_method_names = ("post",)
    open_to_routes = frozenset({"POST"})

    @_describe(
        summary="Register a node as the peer of your key",
        body=requests.LocalPeer,
        answer=wire.RegisteredPeer,
        errors=(403, 422, 429),
        status=201,
        operation_id="register_local_peer",
    )
    def post(self, request: Request) -> Response:
        self.count()
        node = self.fitting(requests.LocalPeer)
        capabilities = json_text.dumps(node.capabilities)
        peer = peers.announced(self.caller, ITSELF, name=node.name, url=node.url, capabilities=capabilities)
        if peer is None:
            raise WrongPartyError("Only agents register peers. Use an agent's key.")
        shown: wire.PeerAgent = {**wire.peer(peer, timezone.now()), "id": peer.agent.display}
        return Response(wire.RegisteredPeer(peer=shown), HTTPStatus.CREATED)


class WorkflowTasksView(YeomanView):
    """The route of a SecureYeoman workflow step, which reads the task's id and does not poll."""

    http_method_names = ("post",)
    open_to_routes = frozenset({"POST"})

    @_describe(
        summary="Send a task as a workflow step",
        body=requests.WorkflowTask,
        answer=wire.WorkflowTaskStatus,
        headers=(REPEATABLE,),
        errors=(403, 404, 409, 422, 429),
        operation_id="send_workflow_task",
    )
    def post(self, request: Request) -> Response:
        self.count()
        work = requests.delegated(self.fitting(requests.WorkflowTask).model_dump(), "body")
        record = tasks.taken(self.caller, work, message_id=self.repeated_as())
        return Response(wire.WorkflowTaskStatus(taskId=record["task_id"], **record))


class SubmittedTasksView(YeomanView):
    http_method_names = ("get", "head", "post")
    open_to_routes = frozenset({"GET", "POST"})
    created = HTTPStatus.OK

    @_describe_task(
        summary="List the tasks you sent in this dialect, newest first",
        query=requests.Slice,
        answer=wire.TaskStatuses,
        errors=(422,),
        operation_id="list_submitted_tasks",
    )
    def get(self, request: Request) -> Response:
        query = requests.parse(requests.Slice, request.query_params.dict(), place="query")
        items, total = tasks.newest(self.caller, limit=query.limit, offset=query.offset)
        is_cut = len(items) < min(query.limit, total - query.offset)  # a client adds the limit to its offset
        limit = len(items) if is_cut else query.limit
        return Response(wire.TaskStatuses(items=items, total=total, limit=limit, offset=query.offset))

    @_describe_task(
        summary="Submit a task to the default agent",
        body=requests.TaskSubmit,
        answer=wire.TaskStatus,
        headers=(REPEATABLE,),
        errors=(403, 404, 409, 422, 429),
        operation_id="submit_task",
    )
    def post(self, request: Request) -> Response:
        self.count()
        work = requests.submitted(self.fitting(requests.TaskSubmit))
        return Response(tasks.taken(self.caller, work, message_id=self.repeated_as()), self.created)


class VersionedTasksView(SubmittedTasksView):
    created = HTTPStatus.CREATED

    @_describe_task(
        summary="List the tasks you sent in this dialect, newest first",
        query=requests.Slice,
        answer=wire.TaskStatuses,
        errors=(422,),
        operation_id="list_submitted_tasks_v1",
    )
    def get(self, request: Request) -> Response:
        return super().get(request)

    @_describe_task(
        summary="Submit a task to the default agent",
        body=requests.TaskSubmit,
        answer=wire.TaskStatus,
        headers=(REPEATABLE,),
        errors=(403, 404, 409, 422, 429),
        status=201,
        operation_id="submit_task_v1",
    )
    def post(self, request: Request) -> Response:
        return super().post(request)


class SubmittedTaskView(YeomanView):
    http_method_names = ("get", "head", "delete")
    open_to_routes = frozenset({"GET"})

    @_describe_task(
        summary="Read a task, sent through any protocol",
        answer=wire.TaskStatus,
        errors=(404,),
        operation_id="read_submitted_task",
    )
    def get(self, request: Request, task_id: str) -> Response:
        return Response(tasks.record(self.caller, task_id))

    @_describe_task(
        summary="Cancel a task you sent",
        answer=wire.SubmittedTaskCancelled,
        errors=(403, 404, 409),
        operation_id="cancel_submitted_task",
    )
    def delete(self, request: Request, task_id: str) -> Response:
        known = tasks.identify(task_id)
        if known is None:
            raise UnknownTaskError
        try:
            cancelled = sending.cancel(self.caller, known)
        except AlreadyResolvedError as error:
            state = wire.task_word(expiry.current(self.caller, known))
            raise AlreadyResolvedError(f"Cannot cancel task in '{state}' state") from error
        return Response(
            wire.SubmittedTaskCancelled(
                task_id=str(cancelled.uuid), status="cancelled", message="Task cancelled successfully"
            )
        )
