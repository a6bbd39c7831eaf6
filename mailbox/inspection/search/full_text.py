"""Full-text search: whole words in the intents of tasks, the errors of results and the reasons in the journal.

Words are compared without case. A trailing ``*`` matches any ending. Several words are a phrase. The databases index
the first 2,000 characters of a text. A search finds the newest `MOST` rows.
"""

import re
from collections.abc import Sequence

from django.db import connection

from mailbox.words.errors import InvalidRequestError

COUNTED_TO = 1_000  # rows that a search counts
MOST = COUNTED_TO + 1  # rows that a search finds, the newest: PostgreSQL reads the text of each for a common word
_TOKEN = re.compile(r"[^\W_]+")
_POSTGRESQL = {
    "tasks": """
        SELECT id FROM (
            (SELECT id FROM mailbox_task WHERE mailbox_words(intent_text) @@ to_tsquery('simple', %s)
             ORDER BY id DESC LIMIT MOST)
            UNION
            (SELECT task_id FROM mailbox_result
             WHERE error_message IS NOT NULL AND mailbox_words(error_message) @@ to_tsquery('simple', %s)
             ORDER BY task_id DESC LIMIT MOST)
        ) AS found ORDER BY id DESC LIMIT MOST
    """,
    "events": """
        SELECT id FROM mailbox_auditevent
        WHERE strpos(data, '"reason":') > 0 AND strpos(data, '\\u') = 0
          AND mailbox_words((data::jsonb ->> 'reason') || coalesce(' ' || (data::jsonb ->> 'given_reason'), ''))
            @@ to_tsquery('simple', %s)
        ORDER BY id DESC LIMIT MOST
    """,
}
_SQLITE = {
    "tasks": """
        SELECT id FROM (
            SELECT id FROM (
                SELECT rowid AS id FROM mailbox_task_words WHERE mailbox_task_words MATCH %s
                ORDER BY rowid DESC LIMIT MOST)
            UNION
            SELECT id FROM (
                SELECT task_id AS id FROM mailbox_result WHERE id IN (
                    SELECT rowid FROM mailbox_result_words WHERE mailbox_result_words MATCH %s
                    ORDER BY rowid DESC LIMIT MOST))
        ) ORDER BY id DESC LIMIT MOST
    """,
    "events": """
        SELECT rowid FROM mailbox_auditevent_words WHERE mailbox_auditevent_words MATCH %s
        ORDER BY rowid DESC LIMIT MOST
    """,
}


def tasks(phrase: str) -> Sequence[int]:
    """Return the keys of the newest tasks whose intent or error says this; raise `InvalidRequestError`.

    The keys are read at once. PostgreSQL has no statistics of words, and would plan badly around a subquery of them.
    """
    return _keys(*statement("tasks", phrase))


def events(phrase: str) -> Sequence[int]:
    """Return the keys of the newest journal rows whose reason says this; raise `InvalidRequestError`."""
    return _keys(*statement("events", phrase))


def is_kept() -> bool:
    """Whether the database keeps words: an SQLite without FTS5 does not."""
    return connection.vendor != "sqlite" or "mailbox_task_words" in connection.introspection.table_names()


def statement(what: str, text: str) -> tuple[str, Sequence[str]]:
    """Return the query of the keys of ``tasks`` or ``events`` with its parameters; raise `InvalidRequestError`."""
    tokens = _TOKEN.findall(text.lower())
    if not tokens:
        raise InvalidRequestError({"q": f"“{text[:50]}” has no letters or digits to search for."})
    if not is_kept():
        raise InvalidRequestError({"q": "Text search is off: this SQLite was built without FTS5."})
    end = "*" if text.endswith("*") else ""
    if connection.vendor == "sqlite":
        phrase = f'"{" ".join(tokens)}"{end}'
        sql = _SQLITE[what]
    else:
        phrase = " <-> ".join(f"'{token}'" for token in tokens) + (":*" if end else "")
        sql = _POSTGRESQL[what]
    return sql.replace("MOST", str(MOST)), [phrase] * sql.count("%s")


def _keys(sql: str, phrases: Sequence[str]) -> Sequence[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, phrases)
        return [key for (key,) in cursor.fetchall()]
