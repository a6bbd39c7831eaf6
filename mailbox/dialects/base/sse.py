"""Server-sent events, and other answers whose source begins before their response. Source: HTML, server-sent events."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from django.http import StreamingHttpResponse


class Begun:
    """The chunks of a response whose source has begun. Closing it closes the source, also if nothing was sent."""

    def __init__(self, chunks: Iterator[bytes], source: Generator[object, None, Any]) -> None:
        self._chunks, self._source = chunks, source

    def __iter__(self) -> Begun:
        return self

    def __next__(self) -> bytes:
        return next(self._chunks)

    def close(self) -> None:
        self._source.close()


def stream(chunks: Begun) -> StreamingHttpResponse:
    """Return the response of a stream, which no proxy holds back or keeps."""
    response = StreamingHttpResponse(chunks, content_type="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"
    return response
