"""A database of the version before, which single migrations made, gets the tables of a new database."""

import contextlib
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.support.databases import Databases, database_of_its_own
from tests.support.hub import ROOT
from tools.proof.scenarios import two_versions

pytestmark = [
    pytest.mark.processes,
    pytest.mark.both_databases,
    pytest.mark.skipif(two_versions.missing() is not None, reason="the repository lacks the version before"),
]

# Columns of a table may stand in another order, and SQLite ignores the length of a text.
SQLITE = (
    "SELECT m.name, c.name, replace(c.type, 'varchar(10)', 'varchar(12)'), c.\"notnull\", c.dflt_value, c.pk "
    "FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'",
    'SELECT m.name, f."table", f."from", f."to", f.on_delete FROM sqlite_master m, pragma_foreign_key_list(m.name) f',
    'SELECT m.name, i."unique", i.origin, i.partial, group_concat(c.name || c.desc) FROM sqlite_master m, '
    "pragma_index_list(m.name) i, pragma_index_xinfo(i.name) c WHERE c.key GROUP BY m.name, i.name",
    "SELECT type, name, sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL",
)
POSTGRESQL = (
    "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable, column_default, is_identity "
    "FROM information_schema.columns WHERE table_schema = 'public'",
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "SELECT conrelid::regclass::text, conname, convalidated, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace",
    "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
)
RECORDS = "SELECT app, name FROM django_migrations WHERE app IN ('mailbox', 'agentcards')"
SHARED = "SELECT name, '' FROM auth_group"


def test_an_upgraded_database_is_like_a_new_one(tmp_path: Path, migrated_database: Databases) -> None:
    before = two_versions.checked_out(tmp_path / "before", two_versions.previous())
    with database_of_its_own() as own, migrated_database() as new:
        upgraded = own or f"sqlite:///{tmp_path / 'upgraded.sqlite3'}"
        for code in (before, ROOT):
            migrate(code, upgraded, tmp_path / "var")

        assert tables(upgraded) == tables(new)
        assert rows(upgraded, RECORDS) == rows(new, RECORDS)
        assert rows(upgraded, SHARED) == rows(new, SHARED)


def migrate(code: Path, url: str, var: Path) -> None:
    var.mkdir(mode=0o700, exist_ok=True)
    command = [sys.executable, str(code / "manage.py"), "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=code, env=os.environ | {"DATABASE_URL": url, "A2A_VAR": str(var)}, check=True)


def tables(url: str) -> list[list[list[str]]]:
    """Return what defines the tables. The words of each text are sorted, since conditions may be in another order."""
    found = [row for query in (SQLITE if url.startswith("sqlite") else POSTGRESQL) for row in rows(url, query)]
    return sorted([sorted(re.findall(r"\w+|[^\w\s\"()]", str(value))) for value in row] for row in found)


def rows(url: str, query: str) -> list[tuple[object, ...]]:
    if url.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as own:
            return sorted(own.execute(query).fetchall(), key=str)
    with psycopg.connect(url) as server:
        return sorted(server.execute(query.encode()).fetchall(), key=str)
