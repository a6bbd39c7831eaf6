"""The cursor of `prepared`, a module of its own: it loads psycopg, which a hub on SQLite does without."""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import base


class PreparedCursor(base.ServerBindingCursor):  # type: ignore[name-defined,misc]
    """A cursor whose statements are prepared at their first use."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        return super().execute(query, params, **{**options, "prepare": True})
