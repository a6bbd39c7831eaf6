"""Backups of the whole hub: its database, its secret and its seal key in one file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.database import vitals
from mailbox.database.backups import archive, files, postgresql, sqlite
from mailbox.database.backups.archive import BackupError, Manifest, Writer
from mailbox.journal import entries
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, Result, Task
from mailbox.words import secret_box

# The rows that a restore counts again.
COUNTED = {
    "agents": Agent,
    "tasks": Task,
    "leases": Lease,
    "results": Result,
    "callbacks": PushDelivery,
    "journal rows": AuditEvent,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that was written: its file, the bytes of the file and its manifest."""

    file: Path
    size: int
    manifest: Manifest


def secret_file() -> Path | None:
    """Return the file of the hub's secret. None: the environment variable SECRET_KEY holds it."""
    given = settings.A2A_ENVIRONMENT_READ["SECRET_KEY"].value
    return None if given else Path(settings.A2A_VAR) / "secret_key"


def seal_key_file() -> Path | None:
    """Return the file of the seal key. None: the environment variable A2A_SEAL_KEY holds it."""
    given = settings.A2A_ENVIRONMENT_READ["A2A_SEAL_KEY"].value
    return None if given else Path(settings.A2A_VAR) / "seal_key"


def back_up(caller: Caller, file: Path, *, replaces: bool) -> Backup:
    """Write the database as of now, its secret and seal key, and a manifest to one private file. The hub may run.

    The file appears whole or not at all. ``replaces`` allows an earlier file of that name to be replaced. Raises
    `BackupError` if the file exists or cannot be written, or if the copy of the database is damaged. On PostgreSQL it
    also does so if pg_dump is missing or older than the server. Locks no row; journals ``hub_backed_up``.
    """
    if file.exists() and not (replaces and file.is_file()):
        raise BackupError(f"{file} exists. Choose another name, or give --force to replace a file.")
    try:
        with files.appearing(file) as stream, Writer.on(stream) as writer:
            for name, kept in ((archive.SECRET, secret_file()), (archive.SEAL_KEY, seal_key_file())):
                if kept is not None:
                    writer.put(name, archive.chunks_of(kept))
            taken = _from_postgresql(writer) if connection.vendor == "postgresql" else _from_sqlite(writer, file)
            manifest = replace(taken, members=writer.members)
            writer.finish(manifest)
    except OSError as error:
        raise BackupError(f"The backup cannot be written to {file}: {error.strerror or error}.") from error
    digest = manifest.members[archive.DATABASE[manifest.engine]]["sha256"]
    entry = entries.hub_backed_up(
        str(file.absolute()), sha256=digest, tasks=manifest.rows["tasks"], with_secret=manifest.has_secret
    )
    audit.note(caller, entry)
    return Backup(file=file, size=file.stat().st_size, manifest=manifest)


def _from_sqlite(writer: Writer, file: Path) -> Manifest:
    with sqlite.draft(files.beside(file, ".draft")) as draft:
        made_at = timezone.now()
        sqlite.copy_to(draft)
        sqlite.check(draft)
        with sqlite.as_the_database(draft):
            taken = _described(made_at.isoformat())
        writer.put(archive.DATABASE["sqlite"], archive.chunks_of(draft))
    return taken


def _from_postgresql(writer: Writer) -> Manifest:
    postgresql.require_dumper()
    made_at = timezone.now()
    with postgresql.snapshot() as snapshot:
        taken = _described(made_at.isoformat())
        writer.put(archive.DATABASE["postgresql"], postgresql.dump(snapshot), packed=False)
    return taken


def _described(made_at: str) -> Manifest:
    """Return the manifest of the database that Django's connection reads."""
    return Manifest(
        format=archive.FORMAT,
        made_at=made_at,
        hub_version=settings.A2A_VERSION,
        engine=connection.vendor,
        engine_version=vitals.version(),
        schema=postgresql.schema() if connection.vendor == "postgresql" else "",
        migrations=applied(),
        rows=counted(),
        secret_digest=secret_box.digest_of(settings.SECRET_KEY),
        has_secret=secret_file() is not None,
        has_seal_key=seal_key_file() is not None,
    )


def applied() -> list[str]:
    """Return the applied migrations as app.name."""
    return sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations())


def counted() -> dict[str, int]:
    """Return the number of rows of each main table, by the name that the manifest uses."""
    return {name: model._default_manager.count() for name, model in COUNTED.items()}
