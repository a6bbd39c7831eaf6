"""Health probes: this process is alive (`/healthz`), and it can serve requests (`/readyz`)."""

import threading
import time
from collections.abc import Callable

from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from a2aproject.web.errors import error
from mailbox.database import migration_history, outages

PATIENCE = 2.0  # seconds to wait for a connection
KEPT_FOR = 1.0  # seconds, in which all probes of a process get one answer
OURS = ("mailbox", "agentcards")  # the apps whose migrations are the hub's own


def read_only(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answer 405 to methods other than GET and HEAD, before Django checks the form token."""

    @csrf_exempt
    def answer(request: HttpRequest) -> HttpResponse:
        if request.method in ("GET", "HEAD"):
            return view(request)
        response = error(405, "method_not_allowed", f"{request.method} is not allowed here; use GET or HEAD.")
        response["Allow"] = "GET, HEAD"
        return response

    return answer


@read_only
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 while this process answers at all. Runs no query."""
    return _answer(200, "ok")


class _Readiness:
    """The result of the last look, for `KEPT_FOR` seconds. One thread looks at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = (503, "")
        self._until = float("-inf")

    def now(self) -> tuple[int, str]:
        with self._lock:
            if time.monotonic() >= self._until:
                self._last = _look()
                self._until = time.monotonic() + KEPT_FOR
            return self._last

    def clear(self) -> None:
        self._until = float("-inf")


_readiness = _Readiness()
forget = _readiness.clear


@read_only
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 if the database takes changes and has exactly the migrations of this version.

    Any other answer is 503 with the reason. The answer is at most `KEPT_FOR` seconds old.
    """
    return _answer(*_readiness.now())


def _look() -> tuple[int, str]:
    try:
        if (pool := getattr(connection, "pool", None)) is not None:
            pool.open()
            with connection.wrap_database_errors, pool.connection(timeout=PATIENCE):
                pass  # PATIENCE bounds this wait; a query without a server would wait longer than a probe may
        executor = MigrationExecutor(connection)
        if missing := executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return 503, f"{len(missing)} migrations are not applied"
        if _is_newer(executor.loader):
            return 503, "the database is newer than this code"
        outage = outages.standing()
    except Error as error:
        outages.note(error)
        return 503, "the database cannot be reached"
    return 200 if outage is None else 503, outage or "ok"


def _is_newer(loader: MigrationLoader) -> bool:
    """Whether a later version of the hub has migrated the database."""
    newest = {app: max(name for label, name in migration_history.known(loader) if label == app) for app in OURS}
    return any(app in newest and name > newest[app] for app, name in loader.applied_migrations)


def _answer(status: int, text: str) -> HttpResponse:
    response = JsonResponse({"status": text}, status=status)
    response["Cache-Control"] = "no-store"
    if status == 503:
        response["Retry-After"] = "1"
    return response
