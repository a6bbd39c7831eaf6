"""Lets a test wait for what a thread of the product does, by the returns of one of its functions."""

import queue
from collections.abc import Callable
from typing import Any

import pytest


class Watch:
    def __init__(self, watched: Callable[..., Any]) -> None:
        self._watched = watched
        self._returns: queue.SimpleQueue[None] = queue.SimpleQueue()

    def call(self, *arguments: Any, **named: Any) -> Any:
        try:
            return self._watched(*arguments, **named)
        finally:
            self._returns.put(None)

    def until(self, condition: Callable[[], object]) -> None:
        """Wait until the condition holds. It is checked now, and after each return of the function."""
        while not condition():
            self._returns.get()


def watched(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> Watch:
    """Watch the function or method ``name`` of a module or class until the test ends."""
    watch = Watch(getattr(owner, name))
    monkeypatch.setattr(owner, name, lambda *arguments, **named: watch.call(*arguments, **named))
    return watch
