"""Databases for tests: copies of a migrated one, as databases of the same server or as SQLite files.

To migrate a new database takes seconds, and to copy a migrated one takes milliseconds. So one process migrates a
template, and all processes of the run copy it. A template of SQLite is kept until no run has used it for a day.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlsplit

import psycopg
from django.db import connection

from tests.support import postgres

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "var" / "test"
GIVEN = "A2A_TESTS_TEMPLATE"  # in the environment: the file of a migrated database
UNUSED_AFTER = 24 * 3600  # seconds
PRODUCT = ("a2aproject", "agentcards", "dashboard", "mailbox")


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


def template_of_sqlite() -> Path:
    """Return the file of a migrated database, which `GIVEN` names or the first process makes."""
    if given := os.environ.get(GIVEN):
        return Path(given)
    file = TEMPLATES / f"template-{_fingerprint()}.sqlite3"
    with _locked():
        if not file.exists():
            made = file.with_suffix(".new")
            _delete_old_templates(of_an_aborted_run=made.name)
            _migrate(f"sqlite:///{made}")
            made.rename(file)
        file.touch()
    return file


def _delete_old_templates(*, of_an_aborted_run: str) -> None:
    """Delete what no run uses. Other processes of a run keep the template that they began with."""
    for file in TEMPLATES.glob("template-*"):
        if file.name.startswith(of_an_aborted_run) or file.stat().st_mtime < time.time() - UNUSED_AFTER:
            file.unlink()


def template_of_postgresql() -> str:
    """Return the name of a migrated database on the tests' server. The first process that needs it makes it."""
    server, name = os.environ["DATABASE_URL"], f"a2a_template_{_fingerprint()}"
    with _locked(), psycopg.connect(server, autocommit=True) as admin:
        if not admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            admin.execute(f'DROP DATABASE IF EXISTS "{name}_new" WITH (FORCE)'.encode())  # of an aborted run
            admin.execute(f'CREATE DATABASE "{name}_new"'.encode())
            _migrate(urlsplit(server)._replace(path=f"/{name}_new").geturl())
            admin.execute(f'ALTER DATABASE "{name}_new" RENAME TO "{name}"'.encode())
    return name


@cache
def _fingerprint() -> str:
    """Return a short name of all that the tables depend on, as this process found it first."""
    modules = sorted(path for package in PRODUCT for path in (ROOT / package).rglob("*.py"))
    digest = hashlib.sha256(version("django").encode())
    for path in modules:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    for folder in (TEMPLATES.parent, TEMPLATES):  # a hub refuses a folder that others can use
        folder.mkdir(mode=0o700, exist_ok=True)
    with (TEMPLATES / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _migrate(url: str) -> None:
    own = {"A2A_VAR": str(TEMPLATES / "migrating"), "DATABASE_URL": url}
    command = [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity", "0"]
    from tests.support import chance  # imported late: pytest imports its plugins first

    with chance.permitted():
        subprocess.run(command, env=os.environ | own, check=True)


@contextlib.contextmanager
def migrated_databases() -> Iterator[Databases]:
    """Yield a maker of migrated databases that no test has used."""
    if connection.vendor == "sqlite":
        template = template_of_sqlite()
        yield lambda: _copied(template)
    else:
        name = template_of_postgresql()
        yield lambda: database_of_its_own(name)


@contextlib.contextmanager
def as_the_tests_database(url: str) -> Iterator[None]:
    """Let all connections of this process use the database within the block."""
    name = urlsplit(url).path.removeprefix("/")
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


@contextlib.contextmanager
def _copied(template: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="a2a-sqlite-", dir=postgres.quick_folder()) as folder:
        copy = shutil.copy(template, Path(folder) / "hub.sqlite3")
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
