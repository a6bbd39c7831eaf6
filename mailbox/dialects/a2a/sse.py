"""Server-sent events, and answers that show signs of life before their JSON. Source: HTML, server-sent events."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

from django.http import StreamingHttpResponse

from mailbox.dialects.a2a.streaming import Frame

COMMENT = b": the hub is here\n\n"
SPACE = b" "  # leading white space is no content of JSON, so it shows a sign of life

Wrap = Callable[[bytes], bytes]


class Begun:
    """The chunks of a response whose source has begun. Closing it closes the source, also if nothing was sent."""

    def __init__(self, chunks: Iterator[bytes], source: Generator[object, None, None]) -> None:
        self._chunks, self._source = chunks, source

    def __iter__(self) -> Begun:
        return self

    def __next__(self) -> bytes:
        return next(self._chunks)

    def close(self) -> None:
        self._source.close()


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
        for frame in source:
            yield _chunk(frame, wrap)
    except Exception as error:  # noqa: BLE001 (the status was sent, so that the stream must report it)
        yield b"event: error\ndata: " + broken(error) + b"\n\n"


def _chunk(frame: Frame | None, wrap: Wrap) -> bytes:
    return COMMENT if frame is None else b"id: %b\ndata: %b\n\n" % (frame.id.encode(), wrap(frame.json))


def stream(chunks: Begun) -> StreamingHttpResponse:
    """Return the response of a stream, which no proxy holds back or keeps."""
    response = StreamingHttpResponse(chunks, content_type="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"
    return response
