"""Full-text search in the intents of tasks, the errors of results and the reasons in the journal.

PostgreSQL keeps a GIN index of each text. SQLite keeps a table of FTS5 for each, which triggers fill.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations

READ = 2000  # characters of a text that are indexed

PUNCTUATION = "!\"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~"  # as SQL writes it
FUNCTION = f"""
    CREATE OR REPLACE FUNCTION mailbox_words(said text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT to_tsvector('pg_catalog.simple'::regconfig, translate(left(said, {READ}), '{PUNCTUATION}', '{" " * 32}'))
    $$
"""
INDEXES = {
    "task_words": "INDEX {how} task_words ON mailbox_task USING gin (mailbox_words(intent_text))",
    "result_words": "INDEX {how} result_words ON mailbox_result USING gin (mailbox_words(error_message)) "
    "WHERE error_message IS NOT NULL",
    "audit_words": "INDEX {how} audit_words ON mailbox_auditevent USING gin (mailbox_words("
    "(data::jsonb ->> 'reason') || coalesce(' ' || (data::jsonb ->> 'given_reason'), ''))) "
    "WHERE strpos(data, '\"reason\":') > 0 AND strpos(data, '\\u') = 0",
}

# The table of words, the table of the texts, the text, and the condition for a row with one.
TEXTS = (
    ("mailbox_task_words", "mailbox_task", "{row}.intent_text", "1"),
    ("mailbox_result_words", "mailbox_result", "{row}.error_message", "{row}.error_message IS NOT NULL"),
    (
        "mailbox_auditevent_words",
        "mailbox_auditevent",
        "json_extract({row}.data, '$.reason') || ' ' || coalesce(json_extract({row}.data, '$.given_reason'), '')",
        "instr({row}.data, '\"reason\":') > 0 AND instr({row}.data, '\\u') = 0 AND json_valid({row}.data)",
    ),
)
CHANGED = {"mailbox_task": "intent_text", "mailbox_result": "error_message", "mailbox_auditevent": "data"}


def forwards(apps: Any, editor: Any) -> None:
    """Index the texts while others write. A broken run can be repeated."""
    backwards(apps, editor)
    if editor.connection.vendor == "postgresql":
        editor.execute(FUNCTION, params=None)
        for text in INDEXES.values():
            editor.execute(f"CREATE {text.format(how=_how(editor))}", params=None)
    elif _has_fts5(editor):
        for words, table, text, condition in TEXTS:
            for statement in _sqlite(words, table, text, condition):
                editor.execute(statement, params=None)


def backwards(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        for name in INDEXES:
            editor.execute(f"DROP INDEX {_how(editor)} IF EXISTS {name}")
        editor.execute("DROP FUNCTION IF EXISTS mailbox_words(text)")
        return
    for words, *_ in TEXTS:
        for act in ("insert", "update", "delete"):
            editor.execute(f"DROP TRIGGER IF EXISTS {words}_{act}")
        editor.execute(f"DROP TABLE IF EXISTS {words}")


def _sqlite(words: str, table: str, text: str, condition: str) -> list[str]:
    """Return the statements that make the table ``words`` and its triggers, and index the rows of ``table``."""
    said, has = f"substr({text}, 1, {READ})", condition
    add = f"INSERT INTO {words}(rowid, words) SELECT new.id, {said.format(row='new')} WHERE {has.format(row='new')};"
    drop = (
        f"INSERT INTO {words}({words}, rowid, words) "
        f"SELECT 'delete', old.id, {said.format(row='old')} WHERE {has.format(row='old')};"
    )
    made = [
        f"CREATE VIRTUAL TABLE {words} USING fts5("
        "words, content='', columnsize=0, tokenize='unicode61 remove_diacritics 0')",
        f"INSERT INTO {words}(rowid, words) SELECT id, {said.format(row=table)} FROM {table} "
        f"WHERE {has.format(row=table)} ORDER BY id",
        f"CREATE TRIGGER {words}_insert AFTER INSERT ON {table} WHEN {has.format(row='new')} BEGIN {add} END",
    ]
    column = CHANGED[table]
    changed = f"old.{column} IS NOT new.{column}"
    made += [
        f"CREATE TRIGGER {words}_update AFTER UPDATE OF {column} ON {table} WHEN {changed} BEGIN {drop} {add} END",
        f"CREATE TRIGGER {words}_delete AFTER DELETE ON {table} WHEN {has.format(row='old')} BEGIN {drop} END",
    ]
    return made


def _has_fts5(editor: Any) -> bool:
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')")
        return bool(cursor.fetchone()[0])


def _how(editor: Any) -> str:
    # A restore migrates an older backup in its own transaction, where no other session writes.
    is_alone = editor.connection.in_atomic_block
    return "CONCURRENTLY" if editor.connection.vendor == "postgresql" and not is_alone else ""


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds an index beside other writers only outside a transaction

    dependencies = [("mailbox", "0050_plans_of_copies")]

    operations = [migrations.RunPython(forwards, backwards, atomic=False)]
