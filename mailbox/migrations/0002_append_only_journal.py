from __future__ import annotations

from typing import Any

from django.db import migrations

# SQLite needs PRAGMA recursive_triggers=ON beside this, or INSERT OR REPLACE deletes unseen (a2a.E002).
SQLITE = (
    """
    CREATE TRIGGER mailbox_auditevent_append_only_update BEFORE UPDATE ON mailbox_auditevent
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END
    """,
    """
    CREATE TRIGGER mailbox_auditevent_append_only_delete BEFORE DELETE ON mailbox_auditevent
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END
    """,
)
POSTGRESQL = (
    """
    CREATE FUNCTION mailbox_auditevent_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'the journal is append-only' USING ERRCODE = 'restrict_violation'; END $$
    """,
    """
    CREATE TRIGGER mailbox_auditevent_append_only BEFORE UPDATE OR DELETE ON mailbox_auditevent
    FOR EACH ROW EXECUTE FUNCTION mailbox_auditevent_append_only()
    """,
    """
    CREATE TRIGGER mailbox_auditevent_append_only_truncate BEFORE TRUNCATE ON mailbox_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION mailbox_auditevent_append_only()
    """,
)
SQLITE_DROP = (
    "DROP TRIGGER mailbox_auditevent_append_only_update",
    "DROP TRIGGER mailbox_auditevent_append_only_delete",
)
POSTGRESQL_DROP = (
    "DROP TRIGGER mailbox_auditevent_append_only ON mailbox_auditevent",
    "DROP TRIGGER mailbox_auditevent_append_only_truncate ON mailbox_auditevent",
    "DROP FUNCTION mailbox_auditevent_append_only()",
)


def protect(apps: Any, schema_editor: Any) -> None:
    for statement in POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement)


def unprotect(apps: Any, schema_editor: Any) -> None:
    for statement in POSTGRESQL_DROP if schema_editor.connection.vendor == "postgresql" else SQLITE_DROP:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0001_initial")]

    operations = [migrations.RunPython(protect, unprotect)]
