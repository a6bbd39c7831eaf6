"""Measures the parts of a request's time, by running requests through the WSGI application in this process."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from tests.load.cast import Pair
from tools.bench.cycles import VERBS

CYCLES = 300
WARM_UP = 30


@dataclass(slots=True)
class Share:
    """The parts of one kind of request, each a median in milliseconds."""

    look_up: float  # the statement that reads key, agent and grants
    statements: float  # the verb's statements, and the commit with its sync
    rest: float  # Python code: Django, DRF, the verb


def of_requests(url: str, pair: Pair) -> dict[str, Share]:
    """Return the shares of each of the four requests. They run one after the other, without other load."""
    os.environ.update(DJANGO_SETTINGS_MODULE="a2aproject.settings", DATABASE_URL=url)
    from django.db import connection

    from a2aproject.wsgi import application

    with connection.cursor():
        clock = _Clock(connection)
    parts: dict[str, list[tuple[float, float, float]]] = {verb: [] for verb in VERBS}
    for _ in range(WARM_UP + CYCLES):
        leased: dict[str, Any] = {}
        for verb, (method, path, party) in _REQUESTS.items():
            body = _body(verb, pair, leased)
            clock.spent = []
            begun = time.perf_counter()
            answer = _call(application, method, path, getattr(pair, party).key, body)
            total = time.perf_counter() - begun
            leased = answer if verb == "lease" else leased
            look_up, *statements = clock.spent
            parts[verb].append((look_up, sum(statements), total - sum(clock.spent)))
    connection.close()
    return {
        verb: Share(*(median(part) * 1000 for part in zip(*all_of[WARM_UP:], strict=True)))
        for verb, all_of in parts.items()
    }


_REQUESTS = {
    "send": ("POST", "/a2a/tasks", "sender"),
    "lease": ("GET", "/a2a/tasks/next", "worker"),
    "result": ("POST", "/a2a/results", "worker"),
    "drain": ("GET", "/a2a/results/next", "sender"),
}


def _body(verb: str, pair: Pair, leased: Mapping[str, Any]) -> bytes:
    if verb == "send":
        return json.dumps({"recipient": pair.worker.display, "intent_text": "0"}).encode()
    if verb == "result":
        task_id, lease_id = leased["task"]["id"], leased["lease"]["lease_id"]
        return json.dumps({"task_id": task_id, "status": "ok", "lease_id": lease_id}).encode()
    return b""


def _call(application: Any, method: str, path: str, key: str, body: bytes) -> dict[str, Any]:
    environ = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1",
        "HTTP_AUTHORIZATION": f"Bearer {key}",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    statuses: list[str] = []
    response = application(environ, lambda status, headers, error=None: statuses.append(status))
    content = b"".join(response)
    response.close()
    assert statuses == ["200 OK"], (statuses, content)
    answer: dict[str, Any] = json.loads(content)
    return answer


class _Clock:
    """Records the seconds of each statement and commit of Django's connection, in order."""

    def __init__(self, connection: Any) -> None:
        self.spent: list[float] = []
        make, commit = connection.make_cursor, connection._commit

        def make_cursor(cursor: Any) -> Any:
            return _Timed(make(cursor), self)

        def timed_commit() -> None:
            begun = time.perf_counter()
            commit()
            self.spent.append(time.perf_counter() - begun)

        connection.make_cursor, connection._commit = make_cursor, timed_commit


class _Timed:
    def __init__(self, cursor: Any, clock: _Clock) -> None:
        self.cursor, self.clock = cursor, clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cursor, name)

    def __enter__(self) -> _Timed:
        return self

    def __exit__(self, *error: object) -> None:
        self.cursor.close()

    def execute(self, sql: str, values: Any = None) -> Any:
        begun = time.perf_counter()
        result = self.cursor.execute(sql, values)
        self.clock.spent.append(time.perf_counter() - begun)
        return result
