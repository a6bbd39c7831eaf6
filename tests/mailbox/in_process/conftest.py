from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.test import Client

from mailbox import Mailbox
from mailbox.access.callers import Caller
from mailbox.models import AuditEvent, Lease, Result, Task
from tests.support import factories

Rows = Callable[[], list[int]]
Refusal = Callable[[str, str, Mapping[str, object]], dict[str, str]]


@pytest.fixture
def box(db: None, alice: Caller, bob: Caller) -> Mailbox:
    return Mailbox()


@pytest.fixture
def rows(db: None) -> Rows:
    """Return a function that counts the hub's rows."""
    return lambda: [model._default_manager.count() for model in (Task, Lease, Result, AuditEvent)]


@pytest.fixture
def refusal(client: Client, olga: Caller) -> Refusal:
    """Return a function that makes an invalid request, and returns the fields that the error names."""

    def fields(method: str, path: str, data: Mapping[str, object]) -> dict[str, str]:
        options: dict[str, Any] = {} if method == "get" else {"content_type": "application/json"}
        answer = getattr(client, method)(path, data, headers={"X-API-Key": factories.key_of(olga)}, **options)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
        found: dict[str, str] = answer.json()["fields"]
        return found

    return fields
