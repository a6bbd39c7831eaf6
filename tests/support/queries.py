"""Which statements a test allows, and how the database plans them."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest import mock

from django.db import connection
from django.db.models import QuerySet

LARGE = r"mailbox_(task|lease|result|auditevent|pushdelivery)\b"


def analyze() -> None:
    """Let the database count the rows of the tests' own tables, so that it plans as on a full hub.

    A bare ANALYZE also locks PostgreSQL's shared catalogs until the transaction ends, and other processes wait for it.
    """
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"ANALYZE {connection.ops.quote_name(table)}")


def plan_of(queryset: QuerySet[Any]) -> str:
    """Return the plan as one text; on PostgreSQL of the very statement, locks and all."""
    return re.sub(r"\s+", " ", queryset.explain())


def explained(sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {'QUERY PLAN ' if connection.vendor == 'sqlite' else ''}{sql}")
        return "\n".join(str(row) for row in cursor.fetchall())


def assert_walks(queryset: QuerySet[Any], indexes: str) -> str:
    """Assert that the query reads its rows by one of the indexes, written as ``a|b``, in its order; return the plan."""
    plan = plan_of(queryset)
    assert any(index in plan for index in indexes.split("|")), plan
    assert not re.search(r"Seq Scan on mailbox_(task|lease|result|auditevent)|SCAN mailbox_\w+\b(?! USING)", plan), plan
    assert "Sort" not in plan, plan
    assert "TEMP B-TREE" not in plan, plan
    return plan


def assert_uses(queryset: QuerySet[Any], indexes: str, table: str) -> None:
    """Assert that the query reads one of the indexes, written as ``a|b``, and does not walk the table."""
    plan = plan_of(queryset)
    assert any(index in plan for index in indexes.split("|")), plan
    assert f"Seq Scan on {table}" not in plan, plan


def assert_no_walk(made: Iterable[dict[str, str]]) -> None:
    for query in made:
        plan = explained(query["sql"])
        assert not re.search(rf"Seq Scan on {LARGE}|SCAN {LARGE}(?! USING)", plan), plan


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
