"""Server-sent events of other servers, read as they come. Source: WHATWG HTML, "Server-sent events"."""

import codecs
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from mailbox.outbound import exchange

LARGEST_STREAM = 16 * 1024 * 1024  # bytes of all events together
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """An event of a stream. ``kind`` is its event field, "message" without one; ``data`` is never empty."""

    kind: str
    data: str


@dataclass(frozen=True, slots=True)
class EventStream:
    """An answer that has begun. It is either a stream of events, or a `whole` answer of another type."""

    response: httpx.Response
    url: str
    largest: int

    @property
    def is_stream(self) -> bool:
        media_type = self.response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return self.response.is_success and media_type == EVENT_STREAM

    def whole(self) -> exchange.ServerResponse:
        """Return the answer that is no stream, read to its end."""
        body = b"".join(exchange.body_of(self.response, self.url, self.largest))
        return exchange.ServerResponse(status=self.response.status_code, reason=self.response.reason_phrase, body=body)

    def events(self) -> Iterator[ServerEvent]:
        """Yield the events until the server ends the stream. An event that the end cuts is left out."""
        kind = ""
        data: list[str] = []
        for line in _lines(exchange.body_of(self.response, self.url, LARGEST_STREAM)):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if not line:
                if data:
                    yield ServerEvent(kind=kind or "message", data="\n".join(data))
                kind, data = "", []
            elif name == "data":
                data.append(value)
            elif name == "event":
                kind = value


@contextmanager
def opened(
    method: str, url: str, *, within: float, headers: Mapping[str, str], content: bytes | None, largest: int
) -> Iterator[EventStream]:
    """Send a request, and yield its answer once the headers are there. ``within`` bounds the whole block, in seconds.

    A whole answer has at most ``largest`` bytes, a stream `LARGEST_STREAM`. Raises as `exchange.exchange` does, also
    within the block: a stream that outlasts the time ends with a `NoAnswerError` that ``timed_out``.
    """
    accepted = {"Accept": f"{EVENT_STREAM}, application/json", **headers}
    with exchange.begun(method, url, within=within, headers=accepted, content=content) as response:
        yield EventStream(response, url, largest)


def _lines(chunks: Iterator[bytes]) -> Iterator[str]:
    """Yield the lines of UTF-8 text, which end with LF, CR or both. The last line counts only if it ends."""
    decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
    pieces: list[str] = []
    was_cr = False
    for chunk in chunks:
        text = decode(chunk)
        if was_cr:
            text, was_cr = text.removeprefix("\n"), not text
        was_cr = was_cr or text.endswith("\r")
        first, *others = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        pieces.append(first)
        for line in others:
            yield "".join(pieces)
            pieces = [line]
