"""Whether this process is alive, and whether it can serve."""

from __future__ import annotations

from collections.abc import Callable

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from a2aproject.web.errors import error

PATIENCE = 2.0  # seconds


def _read_only(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answer 405 to what is no read, before anything looks for a form's token."""

    @csrf_exempt
    def answer(request: HttpRequest) -> HttpResponse:
        if request.method in ("GET", "HEAD"):
            return view(request)
        response = error(405, "method_not_allowed", f"{request.method} is not answered here")
        response["Allow"] = "GET, HEAD"
        return response

    return answer


@_read_only
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 while this process answers at all; the database is not asked."""
    return _answer(200, "ok")


@_read_only
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the database answers and holds every migration of this version, else 503 with the reason."""
    try:
        if (pool := getattr(connection, "pool", None)) is not None:
            pool.open()
            with connection.wrap_database_errors, pool.connection(timeout=PATIENCE):
                pass  # there is one to be had: without the server, every other wait is longer than a probe's
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return _answer(503, "the database cannot be reached")
    return _answer(503, f"{len(missing)} migrations are not applied") if missing else _answer(200, "ok")


def _answer(status: int, text: str) -> HttpResponse:
    response = JsonResponse({"status": text}, status=status)
    response["Cache-Control"] = "no-store"
    if status == 503:
        response["Retry-After"] = "1"
    return response
