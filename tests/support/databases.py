"""Further databases for tests: new databases on the same server, or SQLite files."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlsplit

import psycopg
from django.db import connection


class Databases(Protocol):
    def __call__(self) -> AbstractContextManager[str]:
        """Yield the URL of a new database, and drop it when the block ends."""


@contextlib.contextmanager
def database_of_its_own(like: str = "template1") -> Iterator[str]:
    """Yield the URL of a new database on the tests' PostgreSQL server; "" if the tests run on SQLite.

    It is a copy of the database named ``like``, to which no connection may be open.
    """
    server = os.environ.get("DATABASE_URL", "")
    if not server.startswith("postgres"):
        yield ""
        return
    name = f"a2a_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"'.encode())
        try:
            yield urlsplit(server)._replace(path=f"/{name}").geturl()
        finally:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


@contextlib.contextmanager
def copies_of_the_tests_database(folder: Path) -> Iterator[Databases]:
    """Yield a maker of copies of the tests' database as it is now: migrated, and empty before any test."""
    if connection.vendor == "sqlite":
        original = folder / "original.sqlite3"
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(original)])
        yield lambda: _copied(original)
        return
    like = connection.settings_dict["NAME"]
    connection.close()
    with database_of_its_own(like) as url:
        yield lambda: database_of_its_own(urlsplit(url).path.removeprefix("/"))


@contextlib.contextmanager
def _copied(original: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir=original.parent) as folder:
        copy = shutil.copy(original, Path(folder) / "hub.sqlite3")
        yield f"sqlite:///{copy}"


def url_of_the_tests_database() -> str:
    """Return the URL of this test's database, for other processes. They see only what the test commits."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    user, host = quote(database["USER"]), quote(database["HOST"], safe="")
    password = f":{quote(database['PASSWORD'], safe='')}" if database["PASSWORD"] else ""
    port = f":{database['PORT']}" if database["PORT"] else ""
    return f"postgresql://{user}{password}@{host}{port}/{database['NAME']}"
