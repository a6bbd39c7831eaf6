"""Which statements a test allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest import mock

from django.db import connection


@contextmanager
def no_query_after(verbs: ModuleType, name: str) -> Iterator[None]:
    """Fail at each statement between the return of a verb and its next call."""
    verb, has_returned = getattr(verbs, name), False

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal has_returned
        has_returned = False
        returned = verb(*args, **kwargs)
        has_returned = True
        return returned

    def execute(run: Callable[..., Any], sql: str, *args: Any) -> Any:
        assert not has_returned, f"after {name}: {sql}"
        return run(sql, *args)

    with mock.patch.object(verbs, name, call), connection.execute_wrapper(execute):
        yield
    assert has_returned, f"nobody called {name}"
