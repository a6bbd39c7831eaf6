"""Backups of the whole hub, with its secret or without, in one file, and the restore of such a file.

A restore changes the database in one transaction, or not at all.
"""

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F, OuterRef, Subquery
from django.utils import timezone

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.database import migration_history, vitals
from mailbox.database.backups import archive, files, postgresql, sqlite
from mailbox.database.backups.archive import Manifest, Reader, Writer
from mailbox.database.backups.files import BackupError
from mailbox.journal import hub_entries, seals
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, Result, Seal, Task
from mailbox.upkeep import verification
from mailbox.words import sealed, secret_box

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
    configured = settings.A2A_ENVIRONMENT_READ["SECRET_KEY"].value
    return None if configured else Path(settings.A2A_VAR) / "secret_key"


def seal_key_file() -> Path | None:
    """Return the file of the seal key. None: the environment variable A2A_SEAL_KEY holds it."""
    configured = settings.A2A_ENVIRONMENT_READ["A2A_SEAL_KEY"].value
    return None if configured else Path(settings.A2A_VAR) / "seal_key"


def back_up(
    caller: Caller,
    file: Path,
    *,
    replaces: bool,
    with_secret: bool = True,
    with_seal_key: bool = False,
    passphrase: str = "",
) -> Backup:
    """Write the database as of now, perhaps its secret and seal key, and a manifest to one private file.

    The hub may run. Sessions are left out. The public halves of the seal keys are always in the manifest, so that old
    seals stay valid. The file is encrypted under ``passphrase``, "" for none. It appears whole or not at all.
    ``replaces`` allows an earlier file of that name to be replaced. Raises `BackupError` if the file exists or cannot
    be written, or if the copy of the database is damaged. On PostgreSQL it also does so if pg_dump is missing or older
    than the server. Locks no row; journals ``hub_backed_up``.
    """
    if file.exists() and not (replaces and file.is_file()):
        raise BackupError(f"{file} exists. Choose another name, or give --force to replace a file.")
    try:
        with files.appearing(file) as stream, Writer.on(stream, passphrase) as writer:
            wanted = ((archive.SECRET, with_secret, secret_file()), (archive.SEAL_KEY, with_seal_key, seal_key_file()))
            for name, is_wanted, kept in wanted:
                if is_wanted and kept is not None:
                    writer.put(name, archive.chunks_of(kept))
            taken = _from_postgresql(writer) if connection.vendor == "postgresql" else _from_sqlite(writer, file)
            parts = writer.members
            has_secret, has_seal_key = archive.SECRET in parts, archive.SEAL_KEY in parts
            manifest = replace(taken, members=parts, has_secret=has_secret, has_seal_key=has_seal_key)
            writer.finish(manifest)
    except OSError as error:
        raise BackupError(f"The backup cannot be written to {file}: {error.strerror or error}.") from error
    digest = manifest.members[archive.DATABASE[manifest.engine]]["sha256"]
    entry = hub_entries.HubBackedUpEntry(
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
        has_secret=False,
        seal_keys=seals.trusted_keys(),
        head=newest.block.hash if (newest := Seal.objects.newest()) else "",
    )


def applied() -> list[str]:
    """Return the applied migrations as app.name."""
    return sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations())


def counted() -> dict[str, int]:
    """Return the number of rows of each main table, by the name that the manifest uses."""
    return {name: model._default_manager.count() for name, model in COUNTED.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A finished restore.

    ``kept`` names the earlier database: a file, or a PostgreSQL schema; None if it was empty. ``kept_secret`` is the
    file of the earlier secret, None if it stayed; ``kept_seal_key`` is that of the seal key. ``secret_differs``:
    SECRET_KEY is not the secret of the backup. ``migrated`` counts the migrations that the backup lacked.
    ``journal_problem`` is the first problem of the restored journal, "" without one.
    """

    manifest: Manifest
    kept: str | None
    kept_secret: Path | None
    kept_seal_key: Path | None
    secret_differs: bool
    migrated: int
    journal_problem: str


def restore(caller: Caller, file: Path, *, replaces: bool, passphrase: str = "") -> Restored:
    """Replace the hub's database by that of a backup, and its secret and seal key if the backup has them.

    No hub may run. ``replaces`` allows a database with tasks to be replaced. The earlier database and secret are kept
    under new names. A backup of an older version is migrated. If the process ends meanwhile, the database is the
    earlier or the new one. Raises `BackupError` while another process uses the database, and without ``replaces`` for a
    database with tasks. It also refuses a damaged file, a wrong passphrase, a backup of a newer version or another
    engine, and tables that disagree with the journal. A journal that is not as it was sealed is reported, and restored:
    the hub may have no other backup. The seals of the backup's keys are trusted from now on. The head that this machine
    recorded is kept under a new name. Journals ``hub_restored`` in the restored database.
    """
    with archive.opened(file, passphrase) as backup:
        _require_fit(backup.manifest)
        secret = backup.text(archive.SECRET) if backup.manifest.has_secret else None
        seal_key = backup.text(archive.SEAL_KEY) if backup.manifest.has_seal_key else None
        step = _Step(caller, backup, file, replaces=replaces, name=name_of_earlier(datetime.now(UTC)))
        try:
            kept = step.into_postgresql() if connection.vendor == "postgresql" else step.into_sqlite()
        except OSError as error:
            raise BackupError(f"{error.filename or file}: {error.strerror or error}.") from error
        except DatabaseError as error:
            raise BackupError(f"The database refused the restore, and is as before: {error}".strip()) from error
        kept_secret = _bring(secret, secret_file(), step.name)
        kept_seal_key = _bring(seal_key, seal_key_file(), step.name)
        _bring_seals(backup.manifest, step.name)
    return Restored(
        manifest=backup.manifest,
        kept=kept,
        kept_secret=kept_secret,
        kept_seal_key=kept_seal_key,
        secret_differs=_differs(backup.manifest),
        migrated=step.migrated,
        journal_problem=step.journal_problem,
    )


def name_of_earlier(now: datetime) -> str:
    """Return the name that marks the database and the secret replaced at ``now``. Restores of one second differ."""
    return f"before-{now:%Y%m%dT%H%M%S%f}Z"


class _Step:
    """The replacement of the database. ``name`` marks the earlier database."""

    def __init__(self, caller: Caller, backup: Reader, file: Path, *, replaces: bool, name: str) -> None:
        self._caller, self._backup, self._file, self._replaces = caller, backup, file, replaces
        self.name, self.migrated, self.journal_problem = name, 0, ""

    def into_sqlite(self) -> str | None:
        target = sqlite.file()
        with sqlite.held(target) as hub:
            self._allow(hub.content)
            with sqlite.draft(files.beside(target, ".restoring")) as draft:
                self._backup.extract(archive.DATABASE["sqlite"], draft)
                sqlite.check(draft)
                with sqlite.as_the_database(draft):
                    self._approve()
                    self._finish()
                kept = hub.replace_by(draft, files.beside(target, f".{self.name}"))
        return str(kept) if kept else None

    def into_postgresql(self) -> str | None:
        postgresql.require_alone()
        dumped = files.private(Path(settings.A2A_VAR) / "hub.dump.restoring")
        try:
            self._backup.extract(archive.DATABASE["postgresql"], dumped)
            with transaction.atomic(durable=True):
                self._allow(postgresql.content())
                kept = postgresql.set_aside(self.name.replace("-", "_").lower())
                postgresql.load(dumped)
                self._approve()
                self._finish()
        finally:
            dumped.unlink(missing_ok=True)
            connection.close()
        return kept

    def _allow(self, content: str | None) -> None:
        if content is not None and not self._replaces:
            raise BackupError(f"{content}. Give --replace to replace it; the earlier database is kept.")

    def _approve(self) -> None:
        """Raise `BackupError` unless the rows are those of the backup, and tables and journal agree."""
        rows = counted()
        if rows != self._backup.manifest.rows:
            raise BackupError(
                f"The backup holds {archive.totals(rows)}. "
                f"Its manifest lists {archive.totals(self._backup.manifest.rows)}."
            )
        last = AuditEvent.objects.filter(task_id=OuterRef("uuid"), seq__isnull=False).order_by("-seq").values("seq")[:1]
        apart = Task.objects.annotate(last=Subquery(last)).exclude(last=F("journal_seq")).values_list("uuid", flat=True)
        if some := list(apart[:3]):
            raise BackupError(f"Tables and journal of the backup disagree about task {', '.join(map(str, some))}.")

    def _finish(self) -> None:
        """Apply missing migrations, verify the journal, and journal the restore."""
        executor = MigrationExecutor(connection)
        self.migrated = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
        if self.migrated:
            call_command("migrate", interactive=False, verbosity=0)
        manifest = self._backup.manifest
        finding = verification.verify(restored_keys=self._seal_keys(), head=manifest.head).finding
        self.journal_problem = finding.sentence if finding else ""
        journal = audit.Journal(self._caller)
        journal.beside(
            hub_entries.HubRestoredEntry(
                str(self._file.absolute()),
                sha256=manifest.members[archive.DATABASE[manifest.engine]]["sha256"],
                made_at=manifest.made_at,
                tasks=manifest.rows["tasks"],
            )
        )
        journal.write()

    def _seal_keys(self) -> list[str]:
        """Return the public keys that sealed the journal of the backup, as far as the backup tells."""
        key = settings.A2A_SEAL_KEY
        if self._backup.manifest.has_seal_key:
            key = self._backup.text(archive.SEAL_KEY).strip()
        try:
            return [sealed.public_key(key), *self._backup.manifest.seal_keys]
        except ValueError as error:
            raise BackupError("The seal key of the backup is unreadable.") from error


def _require_fit(manifest: Manifest) -> None:
    """Raise `BackupError` for a backup of another engine or schema, or of a version that is newer or too old."""
    if manifest.engine != connection.vendor:
        raise BackupError(
            f"The backup is of {manifest.engine}, and this hub uses {connection.vendor}. Set DATABASE_URL accordingly."
        )
    if connection.vendor == "postgresql" and manifest.schema != postgresql.schema():
        raise BackupError(f"The backup is of schema {manifest.schema}, and this hub uses {postgresql.schema()}.")
    loader = MigrationLoader(None)
    applied = {(app, name) for app, _, name in (label.partition(".") for label in manifest.migrations)}
    unknown = applied - migration_history.known(loader)
    if newer := sorted(f"{app}.{name}" for app, name in unknown if app in loader.migrated_apps):
        raise BackupError(
            f"The backup is of a newer version of the hub, {manifest.hub_version}: this version lacks "
            f"{', '.join(newer)}. Restore it with that version."
        )
    if migration_history.precedes_oldest(loader, applied):
        raise BackupError(
            f"The backup is of a version before {migration_history.OLDEST}. Restore it with version "
            f"{migration_history.OLDEST}, and upgrade that hub."
        )


def _bring(secret: str | None, file: Path | None, name: str) -> Path | None:
    """Write a secret of the backup to its file, unless ``file`` is None: then the environment holds it.

    Keep an earlier, different secret under a new name, and return that. Raise `BackupError` if the file cannot be
    written; the database is the restored one by then.
    """
    if secret is None or file is None:
        return None
    kept = None
    try:
        if file.exists() and file.read_text("ascii") == secret:
            return None
        if file.exists():
            kept = files.beside(file, f".{name}")
            os.link(file, kept)
        with files.appearing(file) as stream:
            stream.write(secret.encode("ascii"))
    except OSError as error:
        raise BackupError(
            f"The database is restored, but not the hub's secret: {error.filename or file}: {error.strerror or error}. "
            "The hub cannot open the secrets of callbacks, or verify its journal, without it. Make the file writable, "
            "and restore again with --replace."
        ) from error
    return kept


def _bring_seals(manifest: Manifest, name: str) -> None:
    """Trust the seals of the backup, and keep the recorded head under a new name: it is of the earlier journal.

    Raise `BackupError` if a file cannot be written; the database is the restored one by then.
    """
    head = seals.head_file()
    try:
        if manifest.seal_keys:
            seals.trust(manifest.seal_keys)
        if head.exists():
            files.rename(head, files.beside(head, f".{name}"))
    except OSError as error:
        problem = f"{error.filename or head}: {error.strerror or error}"
        raise BackupError(
            f"The hub is restored, but not its seals: {problem}. Restore again with --replace."
        ) from error


def _differs(manifest: Manifest) -> bool:
    """Whether the hub has no secret yet, or another one than the backup's."""
    file = secret_file()
    if file is not None and not file.exists():
        return True
    return secret_box.digest_of(file.read_text("ascii") if file else settings.SECRET_KEY) != manifest.secret_digest
