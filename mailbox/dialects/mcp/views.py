"""MCP over streamable HTTP, without sessions. Source: MCP, "Streamable HTTP"."""

from collections.abc import Generator, Iterator
from http import HTTPStatus
from typing import Any, Literal, NotRequired

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from pydantic import BaseModel, RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from mailbox.access.limits import rates
from mailbox.dialects.base import pages
from mailbox.dialects.base.bodies import Begun, encoded, stream
from mailbox.dialects.base.http_errors import STATUS, TRANSPORT_STATUS
from mailbox.dialects.base.openapi import operation
from mailbox.dialects.base.pages import CrossOriginView
from mailbox.dialects.mcp import messages, methods
from mailbox.dialects.mcp.messages import McpCall, McpMessage, Waiting
from mailbox.words.errors import InvalidRequestError, MailboxError, UnauthenticatedError

MOST_IN_BATCH = 100
NEVER_IN_BATCH = ("initialize", "resources/read")  # the contents of a hundred artifacts would fill the memory
Json = dict[str, Any]


class McpMessageSent(BaseModel):
    """A request of MCP. A notification has no ``id``."""

    jsonrpc: Literal["2.0"]
    id: str | int | None = None
    method: str
    params: dict[str, Any] = {}


class McpBody(RootModel[McpMessageSent | list[McpMessageSent]]):
    """A request or notification of MCP. A batch of them is taken in version 2025-03-26 alone."""


class McpFault(TypedDict):
    code: int
    message: str
    data: NotRequired[dict[str, Any]]


class McpMembers(TypedDict):
    """A result or an error of JSON-RPC. ``id`` is that of the request."""

    jsonrpc: Literal["2.0"]
    id: str | int | None
    result: NotRequired[dict[str, Any]]
    error: NotRequired[McpFault]


class McpRefusalMembers(TypedDict):
    jsonrpc: Literal["2.0"]
    id: str | int | None
    error: McpFault


class McpAnswer(RootModel[McpMembers | list[McpMembers]]):
    """The answer to a request; to a batch, the answers to its requests."""


class McpView(CrossOriginView):
    http_method_names = ("post", "options")
    error_status = {**STATUS, messages.ForeignOriginError: HTTPStatus.FORBIDDEN}
    cors_headers = (
        *("Content-Type", "Authorization", "X-API-Key", "Last-Event-ID", "Mcp-Session-Id"),
        *(messages.VERSION_HEADER, messages.METHOD_HEADER, messages.NAME_HEADER),
    )
    rpc_id: messages.MessageId | None = None  # of the request, once its body was read
    message: McpMessage | None = None  # None until the whole envelope was read

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if pages.is_foreign_page(request.headers):
            raise messages.ForeignOriginError
        if request.method != "OPTIONS":
            super().initial(request, *args, **kwargs)

    @operation(
        "mcp",
        body=McpBody,
        answer=McpAnswer,
        refusal=McpRefusalMembers,
        errors=(403, 404),
        media_types=("application/json", "text/event-stream"),
        accepts=True,
    )
    def post(self) -> HttpResponseBase:
        body = self.json()
        if isinstance(body, list):
            return self._batch(body)
        self.rpc_id = messages.id_of(body)
        self.message = message = messages.read(body, self.request.headers)
        if message.id is None:
            return HttpResponse(status=HTTPStatus.ACCEPTED)
        result = methods.run(McpCall(caller=self.caller, message=message))
        if not isinstance(result, Generator):
            return Response(_answer(message.id, result))
        takes_events = "text/event-stream" in self.request.headers.get("Accept", "")
        if message.progress_token is not None and takes_events:
            return self._stream(message, result)
        return Response(_answer(message.id, messages.finished(result)))

    def _batch(self, bodies: list[Any]) -> HttpResponseBase:
        """Answer the requests of a batch in their order. Each looks once and does not wait."""
        version = messages.named_version(self.request.headers) or messages.ASSUMED
        if version not in messages.WITH_BATCHES:
            raise messages.InvalidMessageError(f"MCP {version} has no batches. Send one message at a time.")
        if not 1 <= len(bodies) <= MOST_IN_BATCH:
            raise messages.InvalidMessageError(f"A batch has from 1 to {MOST_IN_BATCH} messages.")
        rates.take_for_items(self.caller, len(bodies))
        answered = [answer for body in bodies if (answer := self._item_of_batch(body)) is not None]
        return Response(answered) if answered else HttpResponse(status=HTTPStatus.ACCEPTED)

    def _item_of_batch(self, body: object) -> Json | None:
        try:
            message = messages.read(body, self.request.headers)
            if message.id is None:
                return None
            if message.method in NEVER_IN_BATCH:
                raise messages.InvalidMessageError(f"A batch has no {message.method}. Send it alone.")
            result = methods.run(McpCall(caller=self.caller, message=message, may_wait=False))
            return _answer(message.id, messages.finished(result) if isinstance(result, Generator) else result)
        except UnauthenticatedError:
            raise
        except MailboxError as error:
            return _fault(messages.id_of(body), error)

    def _stream(self, message: McpMessage, steps: Waiting[Json]) -> HttpResponseBase:
        """Return the stream of a call that waits, or an ordinary answer if it need not wait."""
        try:
            first = next(steps)
        except StopIteration as end:
            return Response(_answer(message.id, end.value))
        return stream(Begun(self._events(message, first, steps), steps))

    def _events(self, message: McpMessage, first: messages.WaitProgress, steps: Waiting[Json]) -> Iterator[bytes]:
        yield _event(_progress(message, first))
        try:
            while True:
                try:
                    yield _event(_progress(message, next(steps)))
                except StopIteration as end:
                    yield _event(_answer(message.id, end.value))
                    return
        except Exception as error:  # noqa: BLE001 (the status was sent, so that the stream must report it)
            yield _event(_fault(message.id, self.reported(error)))

    def status_of(self, error: MailboxError) -> HTTPStatus:
        """Return the HTTP status. Clients before 2026-07-28 get the errors of a request that was read with 200."""
        is_old = self.message is not None and self.message.version in messages.BY_HANDSHAKE
        match error:
            case messages.McpError():
                return HTTPStatus.OK if is_old else error.status
            case InvalidRequestError():
                return HTTPStatus.OK if is_old else HTTPStatus.BAD_REQUEST
        return self.error_status.get(type(error)) or TRANSPORT_STATUS[type(error)]

    def fault(self, error: Exception) -> Json:
        return _fault(self.rpc_id, error)


def _answer(rpc_id: messages.MessageId | None, result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": rpc_id, "result": result}


def _fault(rpc_id: messages.MessageId | None, error: Exception) -> Json:
    return {"jsonrpc": "2.0", "id": rpc_id, "error": messages.rpc_error(error)}


def _progress(message: McpMessage, seen: messages.WaitProgress) -> Json:
    params = {
        "progressToken": message.progress_token,
        "progress": seen.waited,
        "total": seen.longest,
        "message": seen.message,
    }
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def _event(message: Json) -> bytes:
    return b"event: message\ndata: %b\n\n" % encoded(message)
