"""The cursor of `prepared`, in its own module because it loads psycopg, which a hub on SQLite does not need."""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import base


class PreparedCursor(base.ServerBindingCursor):  # type: ignore[name-defined,misc]
    """A cursor that prepares each statement at its first use."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        return super().execute(query, params, **{**options, "prepare": True})
