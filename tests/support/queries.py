"""Which statements a test allows, and how the database plans them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest import mock

from django.db import connection


def analyze() -> None:
    """Let the database count the rows of the tests' own tables, so that it plans as on a full hub.

    A bare ANALYZE also locks PostgreSQL's shared catalogs until the transaction ends, and other processes wait for it.
    """
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"ANALYZE {connection.ops.quote_name(table)}")


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
