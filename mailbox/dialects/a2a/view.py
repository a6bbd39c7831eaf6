"""The base of the views of the official protocol: its callers, its agents, its versions, and its answers.

The events of a task as chunks of a stream, and signs of life before an answer in JSON.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar

from django.conf import settings
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from agentcards import official_agents
from agentcards.official_agents import OfficialAgent
from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.access.limits import rates
from mailbox.dialects.a2a.calls import Call, Version, activated
from mailbox.dialects.a2a.errors import http_status
from mailbox.dialects.a2a.operations import Operation, require
from mailbox.dialects.a2a.requests import Tenanted
from mailbox.dialects.a2a.sending import KEY_HEADER, LAST_EVENT_ID, Frame
from mailbox.dialects.base import authentication, bodies
from mailbox.dialects.base.bodies import Begun, encoded, stream
from mailbox.dialects.base.pages import CrossOriginView
from mailbox.dialects.base.view import DialectView
from mailbox.words.errors import Allowance, InvalidRequestError, MailboxError, UnknownAgentError

COMMENT = b": the hub is here\n\n"
SPACE = b" "  # leading white space is no content of JSON, so it shows a sign of life

Wrap = Callable[[bytes], bytes]
VERSION, EXTENSIONS, EXTENSIONS_0_3 = "A2A-Version", "A2A-Extensions", "X-A2A-Extensions"
Json = dict[str, Any]


def events(source: Generator[Frame | None, None, None], wrap: Wrap, broken: Callable[[Exception], bytes]) -> Begun:
    """Return the events of ``source`` as chunks. ``source`` begins here, so that it can still be refused.

    ``wrap`` puts an event into the envelope of its request. ``broken`` is the body of an error after the beginning.
    """
    first = next(source)
    return Begun(_event_chunks(first, source, wrap, broken), source)


def _event_chunks(
    first: Frame | None, source: Iterator[Frame | None], wrap: Wrap, broken: Callable[[Exception], bytes]
) -> Iterator[bytes]:
    yield _chunk(first, wrap)
    try:
        yield from map(partial(_chunk, wrap=wrap), source)  # which keeps no frame that is on its way
    except Exception as error:  # noqa: BLE001 (the status was sent, so that the stream must report it)
        yield b"event: error\ndata: " + broken(error) + b"\n\n"


def _chunk(frame: Frame | None, wrap: Wrap) -> bytes:
    return COMMENT if frame is None else b"id: %b\ndata: %b\n\n" % (frame.id.encode(), wrap(frame.json))


class OpenAgentAuthentication(authentication.CallerAuthentication):
    """Without credentials, to an agent that is open to anyone. The caller is the hub's anonymous agent."""

    def authenticate(self, request: Request) -> tuple[Caller, OfficialAgent] | None:
        if authentication.presented_key(request.headers) is not None or authentication.is_signed(request._request):
            return None
        if request.META.get(settings.A2A_CLIENT_CERT_META):
            return None
        try:
            official = official_agents.find(request.parser_context["view"].agent_name or "")
        except (UnknownAgentError, InvalidRequestError):
            return None
        address = authentication.address_of(request)
        # The memory of this process refuses no caller. A stranger beyond its rate costs no query.
        with nullcontext() if official.is_open else rates.of_strangers(address, None):
            caller = grants.anonymous_caller(
                official.agent, request_id=authentication.request_id(request.META), address=address
            )
        return None if caller is None else (caller, official)


class OpenAgentThrottle(authentication.CallerThrottle):
    """Counts a request without credentials for the open agent and the address, and any other for its caller."""

    def counted(self, request: Request) -> Allowance | None:
        if isinstance(request.auth, OfficialAgent):
            return rates.take_open(request.auth.agent, authentication.address_of(request))
        return super().counted(request)


class OfficialView(CrossOriginView):
    """A view of the official protocol in one of its bindings. Subclasses wrap results and errors."""

    authentication_classes = (OpenAgentAuthentication, *DialectView.authentication_classes)
    throttle_classes = (OpenAgentThrottle,)
    cors_headers = ("Content-Type", "Authorization", "X-API-Key", VERSION, EXTENSIONS, KEY_HEADER, LAST_EVENT_ID)
    is_rpc: ClassVar[bool]
    agent_name: str | None = None  # as the URL or the tenant names the agent; None until it is known
    activated: tuple[str, ...] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method not in self.allowed_methods:
            self.http_method_not_allowed(request)
        if request.method == "OPTIONS":
            return
        bodies.check_head(request._request, self.media_types)
        self.agent_name = self.named_agent(kwargs)
        super().initial(request, *args, **kwargs)

    def named_agent(self, path: Mapping[str, str]) -> str | None:
        """Return the name of the agent as the URL has it; None if the request names it elsewhere."""
        return path.get("agent")

    def official(self) -> OfficialAgent:
        """Return the agent that the request names. Raises `UnknownAgentError`."""
        if not self.agent_name:
            raise UnknownAgentError('Name the agent in "tenant".')
        return official_agents.find(self.agent_name)

    def named_version(self) -> str:
        """Return the version that the request names, "" without one."""
        return self.request.headers.get(VERSION) or self.request.query_params.get(VERSION, "")

    def call(self, official: OfficialAgent, version: Version) -> Call:
        """Return the call of this request. Raises `ExtensionSupportRequiredError`."""
        headers = self.request.headers
        named = [headers.get(name, "") for name in (EXTENSIONS, EXTENSIONS_0_3)]
        self.activated = tuple(activated(named, official))
        return Call(
            caller=self.caller,
            official=official,
            version=version,
            extensions=self.activated,
            idempotency_key=headers.get(KEY_HEADER, "").strip(),
            last_event_id=headers.get(LAST_EVENT_ID),
        )

    def run(self, call: Call, operation: Operation[Any], params: Tenanted) -> HttpResponseBase:
        """Run an operation; return its response."""
        require(call, operation)
        official = call.official.agent
        if params.tenant not in ("", self.agent_name, official.display, official.local):
            raise InvalidRequestError({"tenant": "is not the agent of this URL"})
        if operation.stream is not None:
            return stream(events(operation.stream(call, params), self.wrap, self.broken))
        if operation.run is None:
            raise TypeError(f"{operation} does nothing")
        result = operation.run(call, params)
        return self._later(result) if isinstance(result, Iterator) else self.answer(self.result(result))

    def _later(self, items: Any) -> HttpResponseBase:
        """Return the response of an operation that waits. A quick result is an ordinary answer with a length."""
        first = next(items)
        if first is not None:
            items.close()
            return self.answer(self.result(first))
        response = StreamingHttpResponse(Begun(self._chunks(items), items), content_type=self.answer_type())
        response.status_code = HTTPStatus.OK
        return response

    def _chunks(self, items: Iterator[Json | None]) -> Iterator[bytes]:
        yield SPACE
        try:
            yield from map(self._chunk, items)
        except Exception as error:  # noqa: BLE001 (the status was sent, so that the body must report it)
            yield self.broken(error)

    def _chunk(self, item: Json | None) -> bytes:
        return SPACE if item is None else self.wrap(encoded(self.result(item)))

    def answer(self, result: object) -> Response:
        """Return the response with this result."""
        raise NotImplementedError

    def result(self, answer: object) -> object:
        """Return the result of an operation in the version of the call."""
        return answer

    def wrap(self, result: bytes) -> bytes:
        """Return the JSON of a result in the envelope of the request."""
        raise NotImplementedError

    def answer_type(self) -> str:
        return "application/json"

    def broken(self, exc: Exception) -> bytes:
        """Return the body of an error that comes after the beginning of the response."""
        return encoded(self.fault(self.reported(exc)))

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        response.content_type = self.answer_type()
        return response

    def status_of(self, error: MailboxError) -> HTTPStatus:
        return http_status(error, is_rpc=self.is_rpc)

    def finalize_response(self, request: Any, response: HttpResponseBase, *args: Any, **kwargs: Any) -> Any:
        if self.activated:
            response.headers[EXTENSIONS] = ", ".join(self.activated)
        return super().finalize_response(request, response, *args, **kwargs)
