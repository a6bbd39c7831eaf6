"""The events of a task as chunks of a stream, and signs of life before an answer in JSON."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

from mailbox.dialects.a2a.streaming import Frame
from mailbox.dialects.base.sse import Begun

COMMENT = b": the hub is here\n\n"
SPACE = b" "  # leading white space is no content of JSON, so it shows a sign of life

Wrap = Callable[[bytes], bytes]


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
