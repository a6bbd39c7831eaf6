"""The rule for migrations: the version before runs beside the new version, on the new version's tables."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models.fields import NOT_PROVIDED

from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

# The last migrations of version 1.0.0, by app. One squashed migration stands for them; every later one keeps the rule.
BEFORE_THE_RULE = {"mailbox": "0044", "agentcards": "0008"}
ALLOWED: dict[tuple[str, str], str] = {}  # app and name of a migration that breaks the rule: why it may
TAKES_AWAY = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.DeleteModel,
    migrations.RenameModel,
    migrations.AlterModelTable,
)


def faults(operation: Operation, app: str, before: ProjectState) -> Iterator[str]:
    """Yield why a version without this operation could not use the tables after it."""
    match operation:
        case migrations.SeparateDatabaseAndState():
            for part in operation.database_operations:
                yield from faults(part, app, before)
        case migrations.RunPython() | migrations.RunSQL():
            if not operation.reversible:
                yield "it cannot be reversed"
        case migrations.AddField() | migrations.AlterField():
            yield from faults_of_field(operation, app, before)
        case _ if isinstance(operation, TAKES_AWAY):
            yield f"{type(operation).__name__} takes away what the version before uses"


def faults_of_field(
    operation: migrations.AddField | migrations.AlterField, app: str, before: ProjectState
) -> Iterator[str]:
    field, name = operation.field, operation.name
    has_default = field.db_default is not NOT_PROVIDED
    if isinstance(operation, migrations.AddField):
        if not (field.many_to_many or field.null or has_default):
            yield f"{name} is NOT NULL without db_default: inserts of the version before fail"
        return
    was = before.models[app, operation.model_name_lower].fields[name]
    if was.null and not field.null:
        yield f"{name} becomes NOT NULL: the version before may store NULL"
    if was.db_default is not NOT_PROVIDED and not has_default:
        yield f"{name} loses its db_default: inserts of the version before fail"


def test_each_later_migration_leaves_the_version_before_at_work():
    loader = MigrationLoader(None)
    found = {key: problems for key in loader.disk_migrations if (problems := faults_of(loader, key))}

    assert {key: problems for key, problems in found.items() if key not in ALLOWED} == {}
    assert ALLOWED.keys() <= found.keys()


def faults_of(loader: MigrationLoader, key: tuple[str, str]) -> list[str]:
    app, name = key
    if app not in BEFORE_THE_RULE or name[:4] <= BEFORE_THE_RULE[app]:
        return []
    found: list[str] = []
    state = loader.project_state(key, at_end=False)
    for operation in loader.disk_migrations[key].operations:
        found += faults(operation, app, state)
        operation.state_forwards(app, state)
    return found


def test_every_app_with_migrations_keeps_the_rule():
    own = {config.label for config in apps.get_app_configs() if Path(config.path).parent == ROOT}
    with_migrations = {app for app, _ in MigrationLoader(None).disk_migrations}

    assert own & with_migrations == BEFORE_THE_RULE.keys()


@pytest.mark.parametrize(
    ("operation", "problem"),
    [
        (migrations.AddField("Lease", "new", models.TextField()), "new is NOT NULL without db_default"),
        (migrations.AddField("Lease", "new", models.TextField(default="x")), "new is NOT NULL without db_default"),
        (migrations.AddField("Lease", "new", models.TextField(db_default="x")), ""),
        (migrations.AddField("Lease", "new", models.TextField(null=True)), ""),
        (migrations.AlterField("Lease", "ended_at", models.DateTimeField()), "ended_at becomes NOT NULL"),
        (migrations.AlterField("Lease", "ended_at", models.DateTimeField(null=True, db_index=True)), ""),
        (migrations.AlterField("Lease", "leased_at", models.DateTimeField(db_index=True)), ""),
        (migrations.RemoveField("Lease", "ended_at"), "RemoveField takes away"),
        (migrations.RenameField("Lease", "ended_at", "over_at"), "RenameField takes away"),
        (migrations.DeleteModel("Lease"), "DeleteModel takes away"),
        (migrations.RenameModel("Lease", "Hold"), "RenameModel takes away"),
        (migrations.CreateModel("New", [("id", models.BigAutoField(primary_key=True))]), ""),
        (migrations.RunSQL("SELECT 1"), "it cannot be reversed"),
        (migrations.RunSQL("SELECT 1", migrations.RunSQL.noop), ""),
        (migrations.RunPython(migrations.RunPython.noop), "it cannot be reversed"),
        (
            migrations.SeparateDatabaseAndState(database_operations=[migrations.RemoveField("Lease", "ended_at")]),
            "RemoveField takes away",
        ),
    ],
)
def test_the_rule_tells_what_the_version_before_cannot_bear(operation, problem):
    found = list(faults(operation, "mailbox", ProjectState.from_apps(apps)))

    assert [problem in fault for fault in found] == ([True] if problem else [])
