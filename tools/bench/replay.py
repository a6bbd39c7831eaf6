"""Runs the SQL statements of a cycle without the hub: records them from the verbs, then repeats them with the driver.

A repeated statement may return other ids than the recorded one. The statements after it then use the new ids.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field
from threading import Barrier
from typing import Any, Protocol
from uuid import UUID, uuid4

import psycopg

from tests.load.cast import Pair
from tests.support.hub import NO_LIMITS
from tools.bench.cycles import Steps, Timings, timed

Row = tuple[Any, ...]


@dataclass(slots=True)
class Statement:
    sql: str
    values: dict[str, Any] = field(default_factory=dict)
    gave: list[Row] = field(default_factory=list)


class Driver(Protocol):
    def run(self, statement: Statement, values: dict[str, Any]) -> list[Row]: ...
    def close(self) -> None: ...


def drive(job: tuple[str, Pair], barrier: Barrier, seconds: float) -> Timings:
    """Record a cycle of one pair on the database at ``job[0]``, then repeat it without the hub."""
    url, pair = job
    requests = _record(url, pair)
    with closing(_Postgresql(url) if url.startswith("postgres") else _Sqlite(url)) as driver:
        return timed((_cycle(driver, requests) for _ in itertools.count()), barrier, seconds)


def _cycle(driver: Driver, requests: list[list[Statement]]) -> Steps:
    known: dict[Any, Any] = {}
    times = [time.perf_counter()]
    for request in requests:
        for statement in request:
            values = {name: _current(known, name, value) for name, value in statement.values.items()}
            for before, after in zip(statement.gave, driver.run(statement, values), strict=False):
                known.update((a, b) for a, b in zip(before, after, strict=True) if a != b)
        times.append(time.perf_counter())
    return tuple(after - before for before, after in itertools.pairwise(times))


def _current(known: dict[Any, Any], name: str, value: Any) -> Any:
    """Return the value for this repetition. Ids that a client or the hub chooses are new in each repetition."""
    if isinstance(value, int):
        return known.get(value, value) if name.endswith("task_id") else value
    if value not in known and _is_new_id(value):
        known[value] = uuid4() if isinstance(value, UUID) else uuid4().hex
    return known.get(value, value)


def _is_new_id(value: Any) -> bool:
    return isinstance(value, UUID) or (isinstance(value, str) and len(value) == 32 and value.isalnum())


def _record(url: str, pair: Pair) -> list[list[Statement]]:
    """Run a cycle in this process; return the statements of each of its four requests."""
    os.environ.update(DJANGO_SETTINGS_MODULE="a2aproject.settings", DATABASE_URL=url, **NO_LIMITS)
    import django

    django.setup()
    from django.db import connection

    from mailbox.access.credentials import authentication
    from mailbox.life import leasing, results, sending
    from mailbox.models import AuditEvent
    from mailbox.words.envelopes import AgentRef, ResultEnvelope, ResultStatus, TaskEnvelope

    with connection.cursor():
        recorder = _Recorder(connection)

    def caller(key: str) -> Any:
        recorder.requests.append([])
        return authentication.authenticate(key, source=AuditEvent.Source.API, request_id="bench")

    content = [{"type": "text", "text": "0"}]
    recipient = AgentRef(pair.worker.display)
    for _ in range(2):  # the first cycle may also store when the keys were used
        recorder.requests.clear()
        sending.send_task(caller(pair.sender.key), TaskEnvelope(recipient=recipient, intent_text="0"))
        (lease,) = leasing.lease_tasks(caller(pair.worker.key))
        result = ResultEnvelope(
            task_id=lease.task.uuid, status=ResultStatus.OK, content=content, lease_id=lease.lease_id
        )
        results.post_result(caller(pair.worker.key), result)
        results.drain_results(caller(pair.sender.key))
    connection.close()
    return recorder.requests


class _Recorder:
    """Records each statement of Django's connection, with its rows."""

    def __init__(self, connection: Any) -> None:
        self.requests: list[list[Statement]] = [[]]
        make, commit = connection.make_cursor, connection._commit

        def make_cursor(cursor: Any) -> Any:
            return _Noted(make(cursor), self)

        def noted_commit() -> None:
            self.requests[-1].append(Statement("COMMIT"))
            commit()

        connection.make_cursor, connection._commit = make_cursor, noted_commit


class _Noted:
    def __init__(self, cursor: Any, recorder: _Recorder) -> None:
        self.cursor, self.recorder = cursor, recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cursor, name)

    def __enter__(self) -> _Noted:
        return self

    def __exit__(self, *error: object) -> None:
        self.cursor.close()

    def execute(self, sql: str, values: Any = None) -> Any:
        self.recorder.requests[-1].append(Statement(sql, dict(values) if isinstance(values, dict) else {}))
        self.cursor.execute(sql, values)
        return self

    def fetchone(self) -> Any:
        row = self.cursor.fetchone()
        self.recorder.requests[-1][-1].gave = [tuple(row)] if row else []
        return row

    def fetchall(self) -> Any:
        rows = self.cursor.fetchall()
        self.recorder.requests[-1][-1].gave = [tuple(row) for row in rows]
        return rows


class _Postgresql:
    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True)

    def run(self, statement: Statement, values: dict[str, Any]) -> list[Row]:
        cursor = self.connection.execute(statement.sql.encode(), values, prepare=True)
        return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        self.connection.close()


class _Sqlite:
    def __init__(self, url: str) -> None:
        from django.conf import settings

        options = settings.DATABASES["default"]["OPTIONS"]
        path = url.removeprefix("sqlite:///")
        self.connection = sqlite3.connect(path, timeout=options["timeout"], isolation_level=None)
        self.connection.executescript(options["init_command"])
        self.spelled: dict[str, str] = {}

    def run(self, statement: Statement, values: dict[str, Any]) -> list[Row]:
        if statement.sql not in self.spelled:
            self.spelled[statement.sql] = (
                statement.sql % {name: f":{name}" for name in values} if values else statement.sql
            )
        return self.connection.execute(self.spelled[statement.sql], values).fetchall()

    def close(self) -> None:
        self.connection.close()
