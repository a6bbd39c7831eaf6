"""The record of applied migrations in a database, where a squashed migration stands for earlier migrations."""

from collections.abc import Collection

from django.db.migrations.loader import MigrationLoader

Name = tuple[str, str]  # the app and the migration
OLDEST = "1.0.0"  # the version whose tables the squashed migrations make


def known(loader: MigrationLoader) -> set[Name]:
    """Return the migrations of this version, and those that they replace."""
    replaced = {name for migration in loader.replacements.values() for name in migration.replaces}
    return loader.disk_migrations.keys() | replaced


def precedes_oldest(loader: MigrationLoader, applied: Collection[Name]) -> bool:
    """Whether the database is of a version before `OLDEST`: it has some migrations that a squashed one replaces.

    Django drops a squashed migration of such a database from its plan. It would apply later migrations to old tables.
    """
    deleted = [
        migration.replaces
        for migration in loader.replacements.values()
        if loader.disk_migrations.keys().isdisjoint(migration.replaces)
    ]
    return any(0 < len(set(names).intersection(applied)) < len(names) for names in deleted)
