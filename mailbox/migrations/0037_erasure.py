from __future__ import annotations

from typing import Any

from django.db import migrations

# The journal allows one update: the data of a row becomes a tombstone with its hash. A newer row names the erased row.
# SQLite has no hash of its own; Django gives its connections SHA256. Without that function, as in SQLite's shell, each
# update fails.
SQLITE = (
    "DROP TRIGGER IF EXISTS mailbox_auditevent_append_only_update",
    """
    CREATE TRIGGER mailbox_auditevent_append_only_update BEFORE UPDATE ON mailbox_auditevent
    WHEN NOT COALESCE((
        NEW.id IS OLD.id AND NEW.kind IS OLD.kind AND NEW.actor IS OLD.actor
        AND NEW.actor_pubkey IS OLD.actor_pubkey AND NEW.task_id IS OLD.task_id AND NEW.seq IS OLD.seq
        AND NEW.at IS OLD.at AND NEW.request_id IS OLD.request_id AND NEW.source IS OLD.source
        AND NEW.address IS OLD.address
        AND OLD.kind <> 'a2a_erased' AND substr(OLD.data, 1, 11) <> '{"erased":"'
        AND EXISTS (
            SELECT 1 FROM mailbox_auditevent backing
            WHERE backing.id = CASE WHEN json_valid(NEW.data) THEN json_extract(NEW.data, '$.by') END
              AND backing.id > OLD.id AND backing.kind = 'a2a_erased'
              AND NEW.data = '{"erased":"' || SHA256(OLD.data) || '","by":' || backing.id || '}'
              AND EXISTS (SELECT 1 FROM json_each(backing.data, '$.rows') WHERE value = OLD.id)
        )
    ), 0)
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END
    """,
)
SQLITE_BACK = (
    "DROP TRIGGER mailbox_auditevent_append_only_update",
    """
    CREATE TRIGGER mailbox_auditevent_append_only_update BEFORE UPDATE ON mailbox_auditevent
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END
    """,
)
POSTGRESQL = (
    r"""
    CREATE OR REPLACE FUNCTION mailbox_auditevent_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' THEN
        IF to_jsonb(NEW) - 'data' = to_jsonb(OLD) - 'data'
           AND OLD.kind <> 'a2a_erased' AND left(OLD.data, 11) <> '{"erased":"'
           AND NEW.data ~ '^\{"erased":"[0-9a-f]{64}","by":[1-9][0-9]{0,17}\}$' THEN
          IF EXISTS (
            SELECT 1 FROM mailbox_auditevent backing
            WHERE backing.id = substring(NEW.data FROM '"by":([0-9]+)')::bigint
              AND backing.id > OLD.id AND backing.kind = 'a2a_erased'
              AND backing.data::jsonb -> 'rows' @> to_jsonb(OLD.id)
              AND NEW.data = '{"erased":"' || encode(sha256(convert_to(OLD.data, 'UTF8')), 'hex')
                             || '","by":' || backing.id || '}'
          ) THEN
            RETURN NEW;
          END IF;
        END IF;
      END IF;
      RAISE EXCEPTION 'the journal is append-only' USING ERRCODE = 'restrict_violation';
    END $$
    """,
)
POSTGRESQL_BACK = (
    """
    CREATE OR REPLACE FUNCTION mailbox_auditevent_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'the journal is append-only' USING ERRCODE = 'restrict_violation'; END $$
    """,
)


def allow(apps: Any, schema_editor: Any) -> None:
    for statement in POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement)


def forbid(apps: Any, schema_editor: Any) -> None:
    for statement in POSTGRESQL_BACK if schema_editor.connection.vendor == "postgresql" else SQLITE_BACK:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0036_second_factors")]

    operations = [migrations.RunPython(allow, forbid)]
