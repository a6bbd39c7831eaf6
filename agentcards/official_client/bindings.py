"""The bindings of the official protocol: requests as each of them carries them, and its answers as 1.0 JSON.

A client of 0.3 gets the requests of 1.0 as 0.3, and its answers become 1.0.
Source: A2A 1.0, "JSON-RPC Protocol Binding", "HTTP+JSON/REST Protocol Binding", "Appendix A"; A2A 0.3, "Protocol RPC
Methods".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from urllib.parse import quote, urlencode

from agentcards.errors import RemoteRefusalError
from agentcards.official_client.interfaces import Binding, Interface
from agentcards.official_client.reading import Json, object_in, objects_in, read_json, read_object, text_in
from mailbox.outbound.errors import ExternalServiceError
from mailbox.outbound.event_streams import ServerEvent
from mailbox.outbound.exchange import ServerResponse
from mailbox.words import json_text
from mailbox.words.a2a import v0_3

METHODS: Mapping[str, str] = {
    "SendMessage": "message/send",
    "SendStreamingMessage": "message/stream",
    "GetTask": "tasks/get",
    "CancelTask": "tasks/cancel",
    "SubscribeToTask": "tasks/resubscribe",
}
REQUEST_ID = 1  # of a JSON-RPC request; each connection carries one
TASK_NOT_FOUND, UNSUPPORTED_OPERATION = "TASK_NOT_FOUND", "UNSUPPORTED_OPERATION"
_REASONS = {-32001: TASK_NOT_FOUND, -32004: UNSUPPORTED_OPERATION, -32601: UNSUPPORTED_OPERATION}
_JSON = {"Content-Type": "application/json", "A2A-Version": "1.0"}


def older_request(operation: str, params: Json) -> tuple[str, Json]:
    """Return the 0.3 method and params of a 1.0 operation."""
    sent = dict(params)
    if "message" in sent:
        sent["message"] = v0_3.message_out(sent["message"])
    if "configuration" in sent:
        configuration = dict(sent["configuration"])
        configuration["blocking"] = not configuration.pop("returnImmediately", False)
        sent["configuration"] = configuration
    return METHODS[operation], sent


def event_of_result(result: Json) -> Json:
    """Return the StreamResponse of a 0.3 event, or of the answer to a message. Raises `ExternalServiceError`."""
    try:
        return v0_3.event_in(result)
    except ValueError as error:
        raise ExternalServiceError(f"the agent's answer {error}") from error


class RemoteOperation(StrEnum):
    """The operations that the hub asks of agents elsewhere, with the names and the params of 1.0."""

    SEND = "SendMessage"
    SEND_STREAMING = "SendStreamingMessage"
    GET = "GetTask"
    CANCEL = "CancelTask"
    SUBSCRIBE = "SubscribeToTask"


SENDS = (RemoteOperation.SEND, RemoteOperation.SEND_STREAMING)


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """A request of HTTP, without credentials."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None


class Wire(Protocol):
    """One binding: pure translation, no calls. Answers raise `RemoteRefusalError` for errors of the agent.

    They raise another `ExternalServiceError` if they are unusable.
    """

    def request(self, interface: Interface, operation: RemoteOperation, params: Json) -> WireRequest:
        """Return the request of an operation."""

    def result(self, operation: RemoteOperation, answer: ServerResponse) -> Json:
        """Return the result of an answer that is no stream, as 1.0 JSON."""

    def event(self, event: ServerEvent) -> Json:
        """Return one event of a stream as a StreamResponse of 1.0."""


class JsonRpc:
    """JSON-RPC of 1.0."""

    def request(self, interface: Interface, operation: RemoteOperation, params: Json) -> WireRequest:
        sent = {**params, "tenant": interface.tenant} if interface.tenant else params
        return _rpc_request(interface.url, str(operation), sent, _JSON)

    def result(self, operation: RemoteOperation, answer: ServerResponse) -> Json:
        return _rpc_result(_rpc_body(answer), answer.status)

    def event(self, event: ServerEvent) -> Json:
        return _rpc_result(read_object(event.data, "an event of the agent"), 200)


class OlderJsonRpc:
    """JSON-RPC of 0.3."""

    def request(self, interface: Interface, operation: RemoteOperation, params: Json) -> WireRequest:
        method, sent = older_request(str(operation), params)
        return _rpc_request(interface.url, method, sent, {"Content-Type": "application/json"})

    def result(self, operation: RemoteOperation, answer: ServerResponse) -> Json:
        """Return the result. 0.3 names no member of a send's answer, and 1.0 none of the other answers."""
        response = event_of_result(_rpc_result(_rpc_body(answer), answer.status))
        return response if operation in SENDS else object_in(response, "task")

    def event(self, event: ServerEvent) -> Json:
        return event_of_result(_rpc_result(read_object(event.data, "an event of the agent"), 200))


class Rest:
    """HTTP+JSON of 1.0."""

    def request(self, interface: Interface, operation: RemoteOperation, params: Json) -> WireRequest:
        tenant = f"/{quote(interface.tenant, safe='')}" if interface.tenant else ""
        base = interface.url.rstrip("/") + tenant
        headers = {**_JSON, "Accept": "application/a2a+json, application/json, text/event-stream"}
        if operation in SENDS:
            route = "message:send" if operation == RemoteOperation.SEND else "message:stream"
            return WireRequest(method="POST", url=f"{base}/{route}", headers=headers, content=_bytes(params))
        rest = dict(params)
        url = f"{base}/tasks/{quote(str(rest.pop('id')), safe='')}"
        if operation == RemoteOperation.GET:
            return WireRequest(method="GET", url=f"{url}?{urlencode(rest)}" if rest else url, headers=headers)
        action = "cancel" if operation == RemoteOperation.CANCEL else "subscribe"
        return WireRequest(method="POST", url=f"{url}:{action}", headers=headers, content=_bytes(rest))

    def result(self, operation: RemoteOperation, answer: ServerResponse) -> Json:
        if not answer.is_success:
            raise _http_refusal(answer)
        return read_object(answer.body, "the agent's answer")

    def event(self, event: ServerEvent) -> Json:
        read = read_object(event.data, "an event of the agent")
        if event.kind == "error" or "error" in read:
            raise _refusal(object_in(read, "error"), 200)
        return read


def wire_of(binding: Binding) -> Wire:
    """Return the translation of a binding."""
    wires: Mapping[Binding, type[Wire]] = {
        Binding.JSONRPC_1_0: JsonRpc,
        Binding.REST_1_0: Rest,
        Binding.JSONRPC_0_3: OlderJsonRpc,
    }
    return wires[binding]()


def _rpc_request(url: str, method: str, params: Json, headers: Mapping[str, str]) -> WireRequest:
    body = {"jsonrpc": "2.0", "id": REQUEST_ID, "method": method, "params": params}
    return WireRequest(method="POST", url=url, headers=headers, content=_bytes(body))


def _rpc_body(answer: ServerResponse) -> Json:
    """Return the body of an answer; raise `RemoteRefusalError` for an HTTP error without a JSON-RPC error."""
    if answer.is_success:
        return read_object(answer.body, "the agent's answer")
    try:
        body = read_object(answer.body, "the agent's answer")
    except ExternalServiceError:
        body = {}
    if "error" not in body:
        raise _http_refusal(answer)
    return body


def _rpc_result(body: Json, status: int) -> Json:
    if "error" in body:
        raise _refusal(object_in(body, "error"), status)
    result = body.get("result")
    if not isinstance(result, dict):
        raise ExternalServiceError("the agent's answer has no result")
    return result


def _http_refusal(answer: ServerResponse) -> RemoteRefusalError:
    """Return the error of an HTTP answer that is no success: a google.rpc.Status, or any other body."""
    try:
        body = read_json(answer.body, "the agent's answer")
    except ExternalServiceError:
        body = None
    error = object_in(body, "error") if isinstance(body, dict) else {}
    if error:
        return _refusal(error, answer.status)
    return RemoteRefusalError(f"HTTP {answer.status} {answer.reason}".rstrip(), status=answer.status)


def _refusal(error: Json, status: int) -> RemoteRefusalError:
    """Return the error of a JSON-RPC error or a google.rpc.Status. An ErrorInfo tells its reason, else the code."""
    details = [*objects_in(error, "data"), *objects_in(error, "details")]
    reasons = [text_in(detail, "reason") for detail in details]
    code = error.get("code")
    reason = next(filter(None, reasons), "") or _REASONS.get(code if isinstance(code, int) else 0, "")
    return RemoteRefusalError(text_in(error, "message") or f"error {code}", status=status, reason=reason)


def _bytes(value: object) -> bytes:
    return json_text.dumps(value).encode()
