"""Rows in the database of a hub that has not started: no process of its own has to make them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from django.db import DEFAULT_DB_ALIAS, connection, connections
from pytest_django import DjangoDbBlocker


@contextmanager
def database_at(url: str, blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let this thread use that database instead of the tests' until the block ends. Both are of one kind."""
    tests = connections[DEFAULT_DB_ALIAS]
    path = urlsplit(url).path
    name = path if connection.vendor == "sqlite" else path.removeprefix("/")
    connections[DEFAULT_DB_ALIAS] = own = type(tests)({**tests.settings_dict, "NAME": name}, alias="hub")
    try:
        with blocker.unblock():
            yield
    finally:
        own.close()
        connections[DEFAULT_DB_ALIAS] = tests
