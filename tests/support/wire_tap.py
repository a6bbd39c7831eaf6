"""Records the connections that this process makes, by an audit hook of the interpreter."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.sockets import CONNECTED

_taps: list[list[tuple[Any, ...]]] = []


def _report(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", CONNECTED):
        for tap in _taps:
            tap.append(arguments[1])


sys.addaudithook(_report)


@contextmanager
def tapped() -> Iterator[list[tuple[Any, ...]]]:
    """Yield a list that collects the addresses to which this process connects during the block."""
    tap: list[tuple[Any, ...]] = []
    _taps.append(tap)
    try:
        yield tap
    finally:
        _taps.remove(tap)
