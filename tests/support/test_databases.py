import os
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection

from tests.support import databases

TWO_DAYS = 2 * 24 * 3600


@pytest.fixture
def edit(monkeypatch: Any, tmp_path: Path) -> Any:
    """Let templates be empty files in a folder of this test; return what changes the fingerprint of the product."""
    monkeypatch.delenv(databases.GIVEN, raising=False)
    monkeypatch.setattr(databases, "TEMPLATES", tmp_path)
    monkeypatch.setattr(databases, "_migrate", lambda url: Path(urlsplit(url).path).touch(exist_ok=False))

    def change(fingerprint: str) -> None:
        monkeypatch.setattr(databases, "_fingerprint", lambda: fingerprint)

    return change


def test_the_folder_of_the_templates_and_its_parent_are_private(monkeypatch: Any, tmp_path: Path) -> None:
    folder = tmp_path / "var" / "test"
    monkeypatch.setattr(databases, "TEMPLATES", folder)

    with databases._locked():
        assert [one.stat().st_mode & 0o777 for one in (folder.parent, folder)] == [0o700, 0o700]


def test_a_process_keeps_its_template_when_the_product_is_edited(monkeypatch: Any) -> None:
    before = databases._fingerprint()
    monkeypatch.setattr(databases, "PRODUCT", ("mailbox",))

    assert databases._fingerprint() == before


def test_the_template_of_an_edited_product_leaves_the_one_before_to_its_run(edit: Any) -> None:
    edit("before")
    before = databases.template_of_sqlite()
    edit("after")
    after = databases.template_of_sqlite()

    assert before.exists()
    assert after.exists()
    assert before != after


def test_a_template_that_no_run_has_used_for_a_day_is_deleted(edit: Any) -> None:
    edit("unused")
    unused = databases.template_of_sqlite()
    edit("used")
    used = databases.template_of_sqlite()
    for template in (unused, used):
        os.utime(template, times=(time.time() - TWO_DAYS,) * 2)
    databases.template_of_sqlite()

    edit("new")
    databases.template_of_sqlite()

    assert not unused.exists()
    assert used.exists()


def test_a_file_of_an_aborted_migration_is_replaced(edit: Any, tmp_path: Path) -> None:
    edit("aborted")
    for ending in ("new", "new-wal"):
        (tmp_path / f"template-aborted.{ending}").write_text("half")

    assert databases.template_of_sqlite().read_text() == ""
    assert {file.name for file in tmp_path.iterdir()} == {"template-aborted.sqlite3", "template.lock"}


@pytest.mark.processes
@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no server")
def test_a_database_of_an_aborted_migration_is_replaced(edit: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(databases, "_migrate", lambda url: None)
    edit(uuid.uuid4().hex)
    name = f"a2a_template_{databases._fingerprint()}"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}_new"'.encode())
        try:
            assert databases.template_of_postgresql() == name
            left = admin.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"{name}%"]).fetchall()
        finally:
            admin.execute(f'DROP DATABASE IF EXISTS "{name}"'.encode())

    assert left == [(name,)]
