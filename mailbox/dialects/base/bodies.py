"""The bodies of requests and answers, and the types of their fields. All dialects speak JSON.

JSON types are not converted: the text "1" is no integer. The shapes of content blocks describe them in the OpenAPI
document, and `mailbox.words.content` checks the blocks.
"""

from __future__ import annotations

import ctypes
import json
import re
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, Strict
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from typing_extensions import TypeAliasType, TypedDict

from mailbox.access.limits.rates import network_of
from mailbox.dialects.base import authentication, http_errors
from mailbox.dialects.base.wire import AgentId, ShownAs
from mailbox.words import json_text
from mailbox.words.envelopes import MAX_DEADLINE_MS, AgentRef
from mailbox.words.errors import Allowance, InvalidRequestError, RateLimitedError
from mailbox.words.times import LONGEST_MS

JSON = frozenset({"application/json"})
MAX_DATE_MS = 253_402_300_799_999  # the last millisecond of the year 9999
Text = Annotated[str, Strict()]
Integer = Annotated[int, Strict()]
Number = Annotated[float, Strict()]  # also a whole one
EpochMs = Annotated[int, Strict(), Field(ge=0, le=MAX_DEADLINE_MS, description="Unix epoch milliseconds")]
DateMs = Annotated[int, Strict(), Field(ge=0, le=MAX_DATE_MS, description="Unix epoch milliseconds")]
WorkTimeoutMs = Annotated[int, Strict(), Field(ge=1, le=LONGEST_MS, description="Milliseconds from the lease")]
LARGE = 256 * 1024  # bytes; a larger answer is sent in pieces
PIECE = 32 * 1024  # bytes that are handed to the web server at once, which takes few pieces before the client has
MOST_LARGE = 64 * 1024 * 1024  # bytes of large answers that one process holds for their readers
SHARE = 4  # one reader may have one byte of so many, and all readers together one web thread of so many
THREADS_SHARE = 32  # one reader may have one web thread of so many
FEW = 8  # web threads that readers may have in any process
RETRY_AFTER = 1  # second
QUIET = 2.0  # seconds after a large answer, at least, until freed memory is given back
_give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
_DIGITS = re.compile(r"-?[0-9]{1,40}")


def check_head(request: HttpRequest, media_types: Collection[str] = JSON) -> None:
    """Raise `UnsupportedMediaTypeError` for a body of another type, and the errors of its length. Reads no body."""
    if _length_of(request) == 0:
        return
    headers = request.headers
    if media_type(request) not in media_types or headers.get("Content-Encoding", "identity").lower() != "identity":
        raise http_errors.UnsupportedMediaTypeError


def media_type(request: HttpRequest) -> str:
    """Return the type of the request's body in lower case, without parameters; "" without one."""
    return request.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def bytes_of(request: HttpRequest, stalled: Callable[[], HttpResponse]) -> bytes:
    """Return the bytes of the body, b"" without one.

    If the body does not arrive in time, another thread calls ``stalled`` for the answer to the request. Raises
    `LengthRequiredError`, `BodyTooLargeError`, `StalledBodyError`.
    """
    if _length_of(request) == 0:
        return b""
    request.META[http_errors.STALLED_ANSWER] = stalled
    try:
        return request.body
    except UnreadablePostError as error:
        raise http_errors.StalledBodyError from error
    finally:
        del request.META[http_errors.STALLED_ANSWER]


def _length_of(request: HttpRequest) -> int:
    headers = request.headers
    if "chunked" in headers.get("Transfer-Encoding", "").lower():
        raise http_errors.LengthRequiredError
    digits = headers.get("Content-Length") or "0"
    if not (digits.isascii() and digits.isdigit()):
        raise http_errors.LengthRequiredError
    length = int(digits)
    if length > settings.A2A_MAX_BODY_BYTES:
        raise http_errors.BodyTooLargeError(
            f"the body is {length} bytes; this hub accepts {settings.A2A_MAX_BODY_BYTES}"
        )
    return length


def encoded(data: Any) -> bytes:
    """Return data as JSON text in UTF-8."""
    try:
        return orjson.dumps(data)
    except TypeError:  # an integer beyond 64 bits
        return json.dumps(data, default=str, separators=(",", ":")).encode()


class JSONRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        return encoded(data)


class StrictJSONParser(BaseParser):
    """Reads a body as the one strict reader of JSON does. The view has checked the head, which DRF does not look at.

    Raises `InvalidJsonError` and the errors of `bytes_of`.
    """

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        if parser_context is None:
            raise TypeError("the parser needs the request and its view")
        view = parser_context["view"]
        return json_text.loads(bytes_of(parser_context["request"]._request, view.stalled), items=view.items)


class AlwaysJSON(BaseContentNegotiation):
    """Answer JSON to every Accept header: no program reads an error page."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class JSONRequest(Request):
    """A request to a dialect. Its answer is always JSON."""

    def __init__(self, request: HttpRequest, **of_view: Any) -> None:
        """``of_view`` are the parsers, and the context that they get."""
        super().__init__(request, negotiator=_NEGOTIATOR, **of_view)
        # The attributes that each request needs. The base class reads them through a failed look-up.
        self.method, self.headers, self.META = request.method, request.headers, request.META
        self.accepted_renderer, self.accepted_media_type = _RENDERER, JSONRenderer.media_type


_NEGOTIATOR = AlwaysJSON()
_RENDERER = JSONRenderer()


class Begun:
    """The chunks of a response whose source has begun. Closing it closes the source, also if nothing was sent."""

    def __init__(self, chunks: Iterator[bytes], source: Generator[object, None, Any] | HttpResponseBase) -> None:
        self._chunks, self._source = chunks, source

    def __iter__(self) -> Begun:
        return self

    def __next__(self) -> bytes:
        return next(self._chunks)

    def close(self) -> None:
        self._source.close()


class LargeAnswer:
    """A large answer in pieces. Its thread waits until the client has taken them, or the connection has ended.

    A cut answer has lost its bytes, and its connection ends after the pieces under way.
    """

    def __init__(self, content: bytes, reader: str, answers: LargeAnswers) -> None:
        self.reader, self.size = reader, len(content)
        self._content, self._sent, self._answers = content, 0, answers

    def __iter__(self) -> LargeAnswer:
        return self

    def __next__(self) -> bytes:
        start, self._sent = self._sent, self._sent + PIECE
        piece = self._content[start : self._sent]
        if not piece:
            raise StopIteration
        return piece

    def close(self) -> None:
        self._answers.end(self)

    def cut(self) -> None:
        self._content, self.size = b"", 0


class LargeAnswers:
    """The large answers that this process holds for their readers: at most ``most`` bytes, and a share for each reader.

    A reader is a caller, or the network of a client without one. Answers beyond a bound cut the reader's oldest answer,
    or that of the reader with most bytes. A reader's only answer is never cut for its size. Cut or not, an answer holds
    a thread until it is closed. Beyond the threads of its reader, or of all readers, an answer is cut at once.
    """

    def __init__(self, most: int = MOST_LARGE) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._by_reader: dict[str, dict[LargeAnswer, None]] = {}
        self._trim: threading.Timer | None = None

    def __len__(self) -> int:
        """Return how many bytes are held."""
        return sum(map(_size, self._by_reader.values()))

    def check(self, meta: Mapping[str, Any], size: int) -> None:
        """Raise `RateLimitedError` if an answer of so many bytes would cut one. The request must change nothing."""
        share = self._most // SHARE
        with self._lock:
            own, held = _size(self._by_reader.get(_reader(meta), ())), len(self)
            if self._has_no_thread(meta) or (own and own + size > share) or (held and held + size > self._most):
                raise RateLimitedError(
                    "Large answers are on their way to you. Read them, and repeat this request.",
                    retry_after=RETRY_AFTER,
                    allowance=Allowance(policy="answers", quota=share, window=None, remaining=0, reset=RETRY_AFTER),
                )

    def in_pieces(self, content: bytes, meta: Mapping[str, Any]) -> LargeAnswer:
        """Return the answer in pieces, and hold it until it is closed."""
        answer = LargeAnswer(content, _reader(meta), self)
        with self._lock:
            if self._has_no_thread(meta):
                answer.cut()
            own = self._by_reader.setdefault(answer.reader, {})
            own[answer] = None
            _cut_down([own], self._most // SHARE, answer)
            _cut_down(self._by_reader.values(), self._most, answer)
        return answer

    def end(self, answer: LargeAnswer) -> None:
        """Hold the answer no more."""
        with self._lock:
            own = self._by_reader.get(answer.reader, {})
            own.pop(answer, None)
            if not own:
                self._by_reader.pop(answer.reader, None)
            if self._trim is None:
                self._trim = threading.Timer(QUIET, self._trim_if_quiet)
                self._trim.daemon = True
                self._trim.start()

    def _trim_if_quiet(self) -> None:
        """Give freed memory back to the system, where the C library can, unless an answer is under way."""
        with self._lock:
            self._trim = None
            is_quiet = not len(self)
        if is_quiet and _give_back is not None:
            _give_back(0)

    def _has_no_thread(self, meta: Mapping[str, Any]) -> bool:
        """Whether the answers of this reader, or of all readers, hold as many threads as they may."""
        of_reader, of_all = len(self._by_reader.get(_reader(meta), ())), sum(map(len, self._by_reader.values()))
        threads = settings.WEB_THREADS
        return of_reader >= max(FEW, threads // THREADS_SHARE) or of_all >= max(FEW, threads // SHARE)


def _cut_down(readers: Collection[Collection[LargeAnswer]], most: int, kept: LargeAnswer) -> None:
    """Cut the oldest answer of the reader with most bytes, until all readers have at most ``most`` of them."""
    while sum(map(_size, readers)) > most:
        others = [[answer for answer in own if answer.size and answer is not kept] for own in readers]
        if not (largest := max(others, key=_size)):
            return
        largest[0].cut()


def _size(answers: Collection[LargeAnswer]) -> int:
    return sum(answer.size for answer in answers)


def _reader(meta: Mapping[str, Any]) -> str:
    """Return the name of the request's caller, or the network of a stranger."""
    caller: str = "" if meta.get(authentication.STRANGER) else meta.get(authentication.CALLER, "")
    return caller or network_of(meta.get("REMOTE_ADDR", ""))


large_answers = LargeAnswers()


def chunks(response: Iterable[bytes], meta: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the chunks of a stream, a large one in pieces. The stream ends with a chunk that is cut."""
    for chunk in response:
        if len(chunk) <= LARGE:
            yield chunk
            continue
        with closing(large_answers.in_pieces(chunk, meta)) as answer:
            del chunk  # a cut frees it
            yield from answer
        if not answer.size:
            return


def stream(chunks: Begun) -> StreamingHttpResponse:
    """Return the response of a stream, which no proxy holds back or keeps."""
    response = StreamingHttpResponse(chunks, content_type="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"
    return response


class TextBlock(TypedDict):
    """Text."""

    type: Literal["text"]
    text: str


class JsonBlock(TypedDict):
    """Any JSON value."""

    type: Literal["json"]
    value: Any


class ImageBlock(TypedDict):
    """A picture."""

    type: Literal["image"]
    data: str
    mimeType: str


class AudioBlock(TypedDict):
    """A sound."""

    type: Literal["audio"]
    data: str
    mimeType: str


class ResourceBlock(TypedDict):
    """A resource with its content, as the Model Context Protocol has it."""

    type: Literal["resource"]
    resource: dict[str, Any]


class ResourceLinkBlock(TypedDict):
    """A link to a resource."""

    type: Literal["resource_link"]
    uri: str
    name: str


ContentBlock = TypeAliasType(
    "ContentBlock",
    Annotated[
        TextBlock | JsonBlock | ImageBlock | AudioBlock | ResourceBlock | ResourceLinkBlock,
        Field(discriminator="type", description="A content block. Its `type` tells its other fields; more may follow."),
    ],
)
Content = TypeAliasType(
    "Content", Annotated[str | list[ContentBlock], Field(description="Text, or a list of content blocks.")]
)


def _digits(value: object) -> object:
    if isinstance(value, str) and not _DIGITS.fullmatch(value):
        raise ValueError("must be a whole number")
    return value


QueryInteger = Annotated[int, BeforeValidator(_digits)]  # a query is all text; "1.0" and " 1" are no whole numbers


def _agent_ref(value: object) -> AgentRef:
    try:
        return AgentRef.parse(value)
    except InvalidRequestError as error:
        raise ValueError(next(iter(error.fields.values()))) from error


AgentName = TypeAliasType(
    "AgentName",
    Annotated[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9_.\-]+(@[A-Za-z0-9_.\-]+)?$")] | AgentId,
        Field(description="An agent: its id, its name `local@host`, or its local part where that is unambiguous."),
    ],
)
AgentField = Annotated[AgentRef, PlainValidator(_agent_ref), ShownAs(AgentName.__name__)]


def _blocks(value: object) -> list[Any]:
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    if not isinstance(value, list):
        raise ValueError("must be text, or a JSON array of content blocks")
    return value


# Text is one text block.
Blocks = Annotated[list[Any], PlainValidator(_blocks), ShownAs(Content.__name__)]


class Lax(BaseModel):
    """A body of another project's protocol. Unknown keys are ignored, as that project's servers ignore them."""

    model_config = ConfigDict(extra="ignore")


class Exact(BaseModel):
    """A body or query of the hub's own. An unknown key is refused, since it is a mistake of the client."""

    model_config = ConfigDict(extra="forbid")


def moment(milliseconds: int | None) -> datetime | None:
    """Return the moment of Unix epoch milliseconds, in UTC; None of None."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
