from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import QuerySet

Rows = TypeVar("Rows", bound=QuerySet[Any])


def managed_by(queryset: type[Rows]) -> Rows:
    """Return a manager with the methods of ``queryset``, typed as that class, since both return such query sets."""
    return queryset.as_manager()  # type: ignore[return-value]
