"""Whether this process is alive, and whether it can serve."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse


def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 while this process answers at all; the database is not asked."""
    return _answer(200, "ok")


def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the database answers and holds every migration of this version, else 503 with the reason."""
    try:
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
