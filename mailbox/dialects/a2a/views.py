"""The two bindings of the official protocol: JSON-RPC, 1.0 and 0.3 on one URL, and HTTP+JSON, 1.0; and the cards.

Source: JSON-RPC 2.0; A2A 1.0, JSON-RPC binding, HTTP+JSON binding.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Self

from django.conf import settings
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.http import http_date
from pydantic import RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from typing_extensions import TypedDict

from agentcards import card_signing, official_agents, official_card
from agentcards.card_signing import Jwk
from mailbox.dialects.a2a import answers, errors, requests
from mailbox.dialects.a2a.calls import Version, version_of
from mailbox.dialects.a2a.operations import OPERATIONS, Operation
from mailbox.dialects.a2a.requests import Tenanted
from mailbox.dialects.a2a.view import VERSION, OfficialView
from mailbox.dialects.base import bodies, openapi
from mailbox.dialects.base.authentication import AddressThrottle
from mailbox.dialects.base.bodies import encoded
from mailbox.dialects.base.http_errors import STATUS, PathNotFoundError
from mailbox.dialects.base.openapi import Handler, Shape
from mailbox.dialects.base.pages import PublicDocumentView
from mailbox.dialects.base.view import parse
from mailbox.words.a2a import v0_3, v0_3_requests
from mailbox.words.a2a.v0_3_requests import OldRequest
from mailbox.words.errors import InvalidRequestError, MailboxError

RpcId = str | int | None
OFFICIAL_JSON, PLAIN_JSON = "application/a2a+json", "application/json"
BODY_ERRORS = (411, 413)  # another media type is an invalid request here
JSON_TYPES, STREAM_TYPES = (PLAIN_JSON, OFFICIAL_JSON), ("text/event-stream",)


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcRequest:
    """The envelope of a call. ``id`` None also stands for an absent id."""

    id: RpcId
    method: str
    params: Mapping[str, Any]

    @classmethod
    def read(cls, body: object, rpc_id: RpcId) -> Self:
        """Read the envelope, whose id was read before. Raises `InvalidEnvelopeError`, also for a batch."""
        if isinstance(body, list):
            raise errors.InvalidEnvelopeError("The hub takes no batches. Send one request at a time.")
        if not isinstance(body, dict):
            raise errors.InvalidEnvelopeError("The body must be a JSON object.")
        if body.get("jsonrpc") != "2.0":
            raise errors.InvalidEnvelopeError('"jsonrpc" must be "2.0".')
        if not is_rpc_id(body.get("id")):
            raise errors.InvalidEnvelopeError('"id" must be text, a whole number or null.')
        method, params = body.get("method"), body.get("params")
        if not isinstance(method, str):
            raise errors.InvalidEnvelopeError('"method" must be text.')
        if params is not None and not isinstance(params, dict):
            raise errors.InvalidEnvelopeError('"params" must be a JSON object.')
        return cls(id=rpc_id, method=method, params=params or {})


def is_rpc_id(value: object) -> bool:
    return value is None or isinstance(value, str) or type(value) is int


class RpcView(OfficialView):
    """The JSON-RPC URL of an agent."""

    http_method_names = ("post", "options")
    is_rpc = True
    status_of_bug = HTTPStatus.OK
    rpc_id: RpcId = None
    version = Version.V1_0
    is_old = False  # whether the call is one of 0.3
    old: OldRequest | None = None  # its parameters, once they were read

    @openapi.operation(
        "a2a_json_rpc",
        body=requests.RpcBody,
        answer=answers.RpcMembers,
        refusal=answers.RpcRefusalMembers,
        errors=(403, 404),
        media_types=("application/json", "text/event-stream"),
    )
    def post(self, agent: str | None = None) -> HttpResponseBase:
        sent = self.json()
        if isinstance(sent, dict) and is_rpc_id(sent.get("id")):
            self.rpc_id = sent.get("id")
        rpc = RpcRequest.read(sent, self.rpc_id)
        official = self.official()
        self.version = version_of(self.named_version())
        self._check_method(rpc.method)
        call = self.call(official, self.version)
        return self.run(call, *self._read(rpc))

    def _check_method(self, method: str) -> None:
        """Raise `UnknownRpcMethodError` or `VersionNotSupportedError` for a method that the version lacks."""
        if method in OPERATIONS:
            if self.version != Version.V1_0:
                raise errors.VersionNotSupportedError(f"{method} is a method of A2A 1.0. Send {VERSION}: 1.0.")
        elif method not in v0_3_requests.METHODS or self.version != Version.V0_3:
            raise errors.UnknownRpcMethodError(f'A2A {self.version} has no method "{method[:50]}".')
        self.is_old = method not in OPERATIONS

    def _read(self, rpc: RpcRequest) -> tuple[Operation[Any], Tenanted]:
        """Return the operation with its parameters. Raises `InvalidRequestError` with paths of the call's version."""
        if not self.is_old:
            operation = OPERATIONS[rpc.method]
            return operation, parse(operation.shape, rpc.params)
        self.old = OldRequest.read(rpc.method, rpc.params)
        operation = OPERATIONS[self.old.method]
        try:
            return operation, parse(operation.shape, self.old.params)
        except InvalidRequestError as error:
            raise self.old.problem(error) from error

    def answer(self, result: object) -> Response:
        return Response({"jsonrpc": "2.0", "id": self.rpc_id, "result": result})

    def result(self, answer: object) -> object:
        return self.old.answer(answer) if self.old else answer

    def wrap(self, result: bytes) -> bytes:
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encoded(self.rpc_id), result)

    def fault(self, error: Exception) -> object:
        fault = errors.rpc_error(error)
        return {
            "jsonrpc": "2.0",
            "id": self.rpc_id,
            "error": v0_3.error_out(fault) if self.is_old else fault,
        }


class TenantRpcView(RpcView):
    """The JSON-RPC URL of all agents: ``tenant`` in the parameters names the agent."""

    unread: MailboxError | None = None  # the error of the body, which is reported once the caller is known

    def named_agent(self, path: Mapping[str, str]) -> str | None:
        try:
            body = self.json()
        except MailboxError as error:
            self.unread = error
            return None
        params = body.get("params") if isinstance(body, dict) else None
        tenant = params.get("tenant") if isinstance(params, dict) else None
        return tenant if isinstance(tenant, str) else None

    def json(self) -> Any:
        if self.unread is not None:
            raise self.unread
        return super().json()


class RestView(OfficialView):
    """A route of the HTTP+JSON binding."""

    is_rpc = False
    media_types = frozenset({OFFICIAL_JSON, PLAIN_JSON})

    def serve(self, name: str, **path: str) -> HttpResponseBase:
        """Run the operation of this name. ``path`` has the parameters that the path gives, which win over others."""
        official = self.official()
        if version_of(self.named_version()) != Version.V1_0:
            raise errors.VersionNotSupportedError(f"This URL serves A2A 1.0. Send {VERSION}: 1.0.")
        call = self.call(official, Version.V1_0)
        sent = self.request.query_params.dict() if self.request.method in ("GET", "DELETE") else self.json()
        if not isinstance(sent, dict):
            raise InvalidRequestError({"body": "must be a JSON object"})
        operation = OPERATIONS[name]
        return self.run(call, operation, parse(operation.shape, sent | path))

    def answer(self, result: object) -> Response:
        return Response({} if result is None else result, content_type=self.answer_type())

    def wrap(self, result: bytes) -> bytes:
        return result

    def answer_type(self) -> str:
        """Return the media type that the request names, as its body's type or as acceptable."""
        accepted = self.request.headers.get("Accept", "").lower()
        named = (
            bodies.media_type(self.request._request),
            *(one.partition(";")[0].strip() for one in accepted.split(",")),
        )
        return OFFICIAL_JSON if OFFICIAL_JSON in named else PLAIN_JSON

    def fault(self, error: Exception) -> object:
        return errors.rest_error(error)


def _served(
    name: str, operation_id: str, answer: Shape, *, task: str = "id", errors: tuple[int, ...] = (403, 404), **more: Any
) -> Handler:
    """Return the method of a route that runs the operation ``name``; ``more`` is of its description.

    The task of the path is the parameter ``task``, and the receiver of the path is the parameter ``id``.
    """

    def method(view: RestView, **path: str) -> HttpResponseBase:
        parameters = {"task_id": task, "config_id": "id"}
        return view.serve(name, **{parameters[key]: value for key, value in path.items() if key in parameters})

    refusal = answers.RestRefusalMembers
    described = {"media_types": JSON_TYPES, "body_errors": BODY_ERRORS, "refusal": refusal, "errors": errors, **more}
    return openapi.operation(operation_id, answer=answer, **described)(method)


def _route(**methods: Handler) -> type[RestView]:
    return type("RestRoute", (RestView,), methods)


ROUTES: Mapping[str, type[RestView]] = {
    "message:send": _route(
        post=_served("SendMessage", "a2a_send_message", answers.SendMessageMembers, body=requests.SendMessageRequest)
    ),
    "message:stream": _route(
        post=_served(
            "SendStreamingMessage",
            "a2a_send_streaming_message",
            answers.StreamMembers,
            body=requests.SendMessageRequest,
            media_types=STREAM_TYPES,
        )
    ),
    "tasks": _route(
        get=_served("ListTasks", "a2a_list_tasks", answers.ListTasksMembers, query=requests.ListTasksRequest)
    ),
    "tasks/<str:task_id>:cancel": _route(
        post=_served("CancelTask", "a2a_cancel_task", answers.OfficialTask, body=requests.NoParams)
    ),
    "tasks/<str:task_id>:subscribe": _route(
        get=_served("SubscribeToTask", "a2a_subscribe_to_task", answers.StreamMembers, media_types=STREAM_TYPES),
        post=_served(
            "SubscribeToTask",
            "a2a_subscribe_to_task_by_post",
            answers.StreamMembers,
            body=requests.NoParams,
            media_types=STREAM_TYPES,
        ),
    ),
    "tasks/<str:task_id>/pushNotificationConfigs": _route(
        get=_served(
            "ListTaskPushNotificationConfigs",
            "a2a_list_push_configs",
            answers.PushConfigPageMembers,
            task="taskId",
            query=requests.PageQuery,
        ),
        post=_served(
            "CreateTaskPushNotificationConfig",
            "a2a_create_push_config",
            answers.PushConfigMembers,
            task="taskId",
            body=requests.PushConfigFields,
        ),
    ),
    "tasks/<str:task_id>/pushNotificationConfigs/<str:config_id>": _route(
        get=_served("GetTaskPushNotificationConfig", "a2a_get_push_config", answers.PushConfigMembers, task="taskId"),
        delete=_served("DeleteTaskPushNotificationConfig", "a2a_delete_push_config", answers.Nothing, task="taskId"),
    ),
    "tasks/<str:task_id>": _route(get=_served("GetTask", "a2a_get_task", answers.OfficialTask)),
    "extendedAgentCard": _route(
        get=_served("GetExtendedAgentCard", "a2a_get_extended_agent_card", answers.CardMembers, errors=(404,))
    ),
}


class UnknownRouteView(RestView):
    """Answers in the binding's shape at a path that is none of its routes. It is no operation, so it has no schema."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise PathNotFoundError


class OfficialCardAnswer(RootModel[dict[str, Any]]):
    """An agent card of A2A 1.0, signed. Its signature is of the card without its signatures and its empty values."""


class KeySet(TypedDict):
    """A JSON Web Key Set. A signature names its key by ``kid``."""

    keys: list[Jwk]


class ErrorDetail(TypedDict):
    """A ``google.rpc`` detail. Its type is in ``@type``."""

    reason: str
    domain: str


class ErrorStatus(TypedDict):
    code: int
    status: str
    message: str
    details: list[ErrorDetail]


class OfficialError(TypedDict):
    """An error. Decide by the ``reason`` of the first detail."""

    error: ErrorStatus


class WellKnownView(PublicDocumentView):
    """A view of a card or of keys. Without keys its requests are counted for their addresses."""

    error_status = STATUS
    cors_headers = ("Content-Type", "Authorization", "X-API-Key", VERSION, "If-None-Match")

    def error_body(self, error: MailboxError, status: HTTPStatus) -> object:
        return errors.rest_error(error)

    def needs_key(self) -> bool:
        """Whether the view answers callers with a key alone."""
        return False

    def perform_authentication(self, request: Request) -> None:
        if request.method == "OPTIONS" or not self.needs_key():
            request.authenticators = ()
        super().perform_authentication(request)

    def get_throttles(self) -> list[BaseThrottle]:
        return super().get_throttles() if self.request.authenticators else [AddressThrottle()]


_document = partial(openapi.operation, refusal=OfficialError, public=True)


class OfficialCardView(WellKnownView):
    def needs_key(self) -> bool:
        return not settings.A2A_PUBLIC_AGENT_CARDS

    @_document("a2a_agent_card", answer=OfficialCardAnswer, errors=(401, 404))
    def get(self, agent: str) -> HttpResponseBase | None:
        official = official_agents.find(agent)
        card = official.card(self.request.headers.get(VERSION) or self.request.query_params.get(VERSION, ""))
        changed_at = official.profile.changed_at or official.agent.created_at
        scope, changed = "private" if self.needs_key() else "public", http_date(changed_at.timestamp())
        return self.shown(card, tag=official_card.tag_of(card), scope=scope, **{"Last-Modified": changed})

    def finalize_response(self, request: Any, response: HttpResponseBase, *args: Any, **kwargs: Any) -> Any:
        patch_vary_headers(response, [VERSION])
        return super().finalize_response(request, response, *args, **kwargs)


class KeySetView(WellKnownView):
    @_document("a2a_key_set", answer=KeySet)
    def get(self) -> HttpResponseBase | None:
        keys: KeySet = {"keys": card_signing.public_keys()}
        return self.shown(keys, tag=official_card.tag_of(keys))
