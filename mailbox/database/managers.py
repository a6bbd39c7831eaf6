"""Instances of models from rows that a statement has read. Django's own way costs several times as much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model, QuerySet
from django.db.models.base import ModelState

Rows = TypeVar("Rows", bound=QuerySet[Any])


def managed_by(queryset: type[Rows]) -> Rows:
    """Return a manager with the methods of ``queryset``, typed as that class, since both return such query sets."""
    return queryset.as_manager()  # type: ignore[return-value]


Kind = TypeVar("Kind", bound=Model)


def instance_of(model: type[Kind], columns: Sequence[str], row: Sequence[Any], **related: Model) -> Kind:
    """Return a stored instance with these values, as ``Model.from_db`` does.

    ``columns`` are the names of the instance's attributes, such as ``sender_id``. The other columns are read at their
    first use. ``related`` are the instances behind foreign keys, by the name of the key. No signal is sent.
    """
    instance = model.__new__(model)
    instance._state = state = ModelState()
    state.adding, state.db = False, DEFAULT_DB_ALIAS
    if related:
        state.fields_cache.update(related)
    instance.__dict__.update(zip(columns, row, strict=True))
    return instance
