"""Dumps of the hub's PostgreSQL schema, and its replacement in one transaction."""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db import connection, transaction

from mailbox.database.backups.archive import CHUNK
from mailbox.database.backups.files import BackupError

OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename IS NOT NULL
"""
TABLES = """
SELECT c.relname, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('a', 'i', 'e'))
"""
FUNCTIONS = """
SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = current_schema() AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
"""
KINDS = {"v": "VIEW", "m": "MATERIALIZED VIEW", "S": "SEQUENCE"}
WITHOUT_LIMITS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"
# Lines of a script that psql alone understands, that an older server refuses, or that make the schema again.
LEFT_OUT = (b"\\", b"SET transaction_timeout", b"CREATE SCHEMA ")
NOT_DSN = ("options", "client_encoding")
USUAL = {"sslcertmode": "allow"}  # libpq reports this unset option, and pg_dump before 16 refuses it


def schema() -> str:
    return str(_value("SELECT current_schema()"))


@contextlib.contextmanager
def snapshot() -> Iterator[str]:
    """Yield the id of a snapshot. Within the block Django's connection reads the database as of that moment."""
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute(WITHOUT_LIMITS)
        cursor.execute("SELECT pg_export_snapshot()")
        yield cursor.fetchone()[0]


def require_dumper() -> None:
    """Raise `BackupError` behind a pooler, or if pg_dump is missing here or older than the server."""
    _require_session()
    need = connection.cursor().connection.info.server_version // 10_000
    where = f"Or run this where it is installed, and keep the hub's secret too: {shlex.join(_dump('', 'hub.dump'))}"
    installed = _version("pg_dump")
    if installed is None:
        raise BackupError(f"pg_dump is not installed here. Install PostgreSQL's client {need} or newer. {where}")
    if installed < need:
        raise BackupError(f"pg_dump {installed} is older than the server: {need}. Install its client {need}. {where}")


def dump(snapshot_id: str) -> Iterator[bytes]:
    """Yield the dump of the hub's schema as of the snapshot. Raises `BackupError` if pg_dump fails."""
    with _running(_dump(snapshot_id)) as output:
        yield from iter(lambda: output.read(CHUNK), b"")


def require_alone() -> None:
    """Raise `BackupError` behind a pooler, or if other clients use the database: a hub runs."""
    _require_session()
    if others := int(_value(OTHERS)):
        raise BackupError(
            f"{others} other connections use the database {_value('SELECT current_database()')}. Stop every hub and "
            "every `manage.py` first."
        )


def _require_session() -> None:
    if settings.DATABASE_POOLED:  # the programs' settings would stay in the pooler's session, as an empty search_path
        raise BackupError("Name the server itself in DATABASE_URL, and unset DATABASE_POOLER, for this command.")


def content() -> str | None:
    """Return a reason not to replace the database unasked: it holds tasks. None: no reason."""
    known = "mailbox_task" in connection.introspection.table_names()
    holds_tasks = known and _value("SELECT EXISTS (SELECT FROM mailbox_task)")
    return f"The database {_value('SELECT current_database()')} holds tasks" if holds_tasks else None


def set_aside(kept: str) -> str | None:
    """Move the tables and functions of the hub's schema to the new schema ``kept``, and return that.

    Runs in the caller's transaction, and locks every table until its end. Returns None if there is no table.
    """
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        cursor.execute(WITHOUT_LIMITS)
        cursor.execute(TABLES)
        tables = cursor.fetchall()
        if not tables:
            return None
        cursor.execute(FUNCTIONS)
        functions = cursor.fetchall()
        cursor.execute(f"CREATE SCHEMA {quote(kept)}")
        for name, kind in tables:
            cursor.execute(f"ALTER {KINDS.get(kind, 'TABLE')} {quote(name)} SET SCHEMA {quote(kept)}")
        for (signature,) in functions:
            cursor.execute(f"ALTER FUNCTION {signature} SET SCHEMA {quote(kept)}")
    return kept


def load(dumped: Path) -> None:
    """Run the dump's script in the caller's transaction. Raises `BackupError` if pg_restore is missing or fails."""
    if _version("pg_restore") is None:
        raise BackupError("pg_restore is not installed here. Install PostgreSQL's client programs.")
    with connection.wrap_database_errors, connection.cursor() as cursor:
        with _running(["pg_restore", "--no-owner", "--no-privileges", "--file=-", str(dumped)]) as script:
            _run(script, cursor.connection)
        cursor.execute(f"RESET search_path; {WITHOUT_LIMITS}")


def _run(script: IO[bytes], own: Any) -> None:
    """Run the script: all statements between two COPY blocks at once, since statements span lines."""
    statements: list[bytes] = []
    for line in script:
        if re.fullmatch(rb"COPY .* FROM stdin;\n", line):
            own.execute(b"".join(statements))
            statements = []
            with own.cursor() as cursor, cursor.copy(line) as copying:
                for row in iter(script.readline, b"\\.\n"):
                    if not row:
                        raise BackupError("The dump ends within the rows of a table.")
                    copying.write(row)
        elif not line.startswith(LEFT_OUT):
            statements.append(line)
    own.execute(b"".join(statements))


@contextlib.contextmanager
def _running(command: Sequence[str]) -> Iterator[IO[bytes]]:
    """Run the program and yield its output. Raises `BackupError` at the end of the block if it failed."""
    password = connection.cursor().connection.info.password
    environment = os.environ | ({"PGPASSWORD": password} if password else {})
    with (
        tempfile.TemporaryFile() as complaints,
        subprocess.Popen(  # noqa: S603 (our own command, no shell)
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints, env=environment
        ) as process,
    ):
        assert process.stdout is not None  # noqa: S101 (it is a pipe)
        try:
            yield process.stdout
            process.stdout.read()
        except BaseException:
            process.kill()
            raise
        if process.wait():
            complaints.seek(0)
            problem = complaints.read().decode(errors="replace").strip()
            raise BackupError(f"{command[0]} failed: {problem}")


def _dump(snapshot_id: str, target: str = "") -> list[str]:
    """Return the command that dumps the hub's schema without sessions. It shows no password."""
    from psycopg.conninfo import make_conninfo  # imported late: a hub on SQLite does not need it

    parameters = connection.cursor().connection.info.get_parameters()
    chosen = {name: value for name, value in parameters.items() if name not in NOT_DSN and USUAL.get(name) != value}
    dsn = make_conninfo("", **chosen)
    quoted = schema().replace('"', '""')
    own = [f'--schema="{quoted}"', f'--exclude-table-data="{quoted}".django_session']  # its keys are cookies
    own += [f"--snapshot={snapshot_id}"] if snapshot_id else []
    own += [f"--file={target}"] if target else []
    return ["pg_dump", "--format=custom", *own, f"--dbname={dsn}"]


def _version(program: str) -> int | None:
    """Return the major version of the program, None if it is not installed."""
    if shutil.which(program) is None:
        return None
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    match = re.search(r"\) (\d+)", printed)
    return int(match[1]) if match else 0


def _value(query: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone()[0]
