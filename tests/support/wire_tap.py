"""Counts the connections this process makes, where the interpreter itself reports them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_taps: list[list[tuple[Any, ...]]] = []


def _report(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        for tap in _taps:
            tap.append(arguments[1])


sys.addaudithook(_report)


@contextmanager
def tapped() -> Iterator[list[tuple[Any, ...]]]:
    """Yield the list of addresses that the block connects to, as it grows."""
    tap: list[tuple[Any, ...]] = []
    _taps.append(tap)
    try:
        yield tap
    finally:
        _taps.remove(tap)
