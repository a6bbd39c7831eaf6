"""Rows, answers and refusals as plain values, in which the random ids of a run have the same names in every run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import zip_longest
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import ForeignKey, Model

from mailbox.models import Agent, Lease, PairStock, Result, Task
from mailbox.words import secret_box
from mailbox.words.errors import MailboxError
from tests.support.flush import KEPT

# The random ids within a text. Yeoman's name of a session ends with a part of the task's id.
_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|(?<=session_.{15}_)[0-9a-f]{8}")
# The related rows that a description of an answer contains.
_BESIDE: Mapping[type[Model], Sequence[str]] = {
    Task: ("sender", "recipient"),
    Lease: ("task", "holder"),
    Result: ("task",),
}
# A batch takes the stocks of its pairs in the order of their agents, so that no two batches wait for each other.
_IN_ORDER: Mapping[type[Model], Sequence[str]] = {PairStock: ("sender", "recipient")}


class Dump:
    """Describes the values of one run.

    Primary keys and the random ids that the hub gives out are numbered as they are first met. All else stays as it is.
    """

    def __init__(self) -> None:
        self._numbered: dict[tuple[str, object], str] = {}

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return every row of every table, in the order in which the rows were made, or in that of `_IN_ORDER`."""
        models = [model for model in apps.get_models(include_auto_created=True) if model._meta.db_table not in KEPT]
        return {
            model._meta.db_table: [
                self._columns(row) for row in model._default_manager.order_by(*_IN_ORDER.get(model, ("pk",)))
            ]
            for model in models
        }

    def of(self, value: Any) -> Any:
        match value:
            case UUID():
                return self._number("id", str(value)) if value.version == 4 else value
            case str():
                return _RANDOM.sub(lambda found: self._number("id", found.group()), str(value))
            case Agent():  # answers hold its identity alone
                return [self._number(value._meta.db_table, value.pk), value.display, value.pubkey]
            case Model():
                beside = {name: self.of(getattr(value, name)) for name in _BESIDE.get(type(value), ())}
                return {"is": type(value).__name__, **self._columns(value), **beside}
            case MailboxError():
                return {"is": type(value).__name__, "code": value.code, **self.of(vars(value))}
        return self._of_parts(value)

    def _of_parts(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {self.of(name): self.of(part) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(part) for part in value]
        if is_dataclass(value):
            return {field.name: self.of(getattr(value, field.name)) for field in fields(value)}
        return value

    def _columns(self, row: Model) -> dict[str, Any]:
        if unread := row.get_deferred_fields():
            row.refresh_from_db(fields=unread)  # all of them in one query
        return {field.name: self._column(row, field) for field in row._meta.concrete_fields}

    def _column(self, row: Model, field: Any) -> Any:
        value = getattr(row, field.attname)
        if value is not None and field.name.startswith("sealed_"):
            return secret_box.unseal(value)
        if value is not None and (field.primary_key or isinstance(field, ForeignKey)):
            model: Any = field.related_model if isinstance(field, ForeignKey) else type(row)
            return self._number(model._meta.db_table, value)
        return self.of(value)

    def _number(self, of: str, value: object) -> str:
        return self._numbered.setdefault((of, value), f"{of} {len(self._numbered) + 1}")


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Return where two descriptions differ, each with both values."""
    if isinstance(one, dict) and isinstance(other, dict):
        return [
            line for name in {**one, **other} for line in differences(one.get(name), other.get(name), f"{path}.{name}")
        ]
    if isinstance(one, list) and isinstance(other, list):
        pairs = enumerate(zip_longest(one, other))
        return [line for number, (first, second) in pairs for line in differences(first, second, f"{path}[{number}]")]
    return [] if (one, type(one)) == (other, type(other)) else [f"{path}: {one!r} is not {other!r}"]
