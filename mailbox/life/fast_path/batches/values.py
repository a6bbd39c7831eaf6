"""The values that the statements of batches share."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import ModuleType

from django.db import connection

from mailbox.access import capabilities
from mailbox.access.callers import Caller
from mailbox.life.fast_path.batches import postgresql, sqlite
from mailbox.words import json_text


def store() -> ModuleType:
    """Return the module that runs the statements on this database."""
    return postgresql if connection.vendor == "postgresql" else sqlite


def informed(caller: Caller, now: datetime) -> Caller:
    """Return the caller with its live grants, so that its items need no query for them."""
    return caller if caller.grants is not None else replace(caller, grants=tuple(capabilities.live_grants(caller, now)))


def item(fields: Mapping[str, object], permit: capabilities.Permit | None = None) -> dict[str, object]:
    """Return the item of a batch, with the journal row of its check, as the database reads it."""
    stored = store().stored
    if permit is not None:
        fields = {**fields, "check_task_id": permit.check.task_id, "check_data": json_text.dumps(permit.check.data)}
    return {name: stored(value) for name, value in fields.items()}
