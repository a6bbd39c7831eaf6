"""Words find the same texts on both databases, and no text that was erased or compacted."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.inspection.health import report
from mailbox.inspection.search import full_text, queries
from mailbox.inspection.search.terms import Moment
from mailbox.life import results
from mailbox.models import AuditEvent, Result, Task
from mailbox.upkeep import erasure
from mailbox.words.envelopes import ResultStatus
from mailbox.words.errors import InvalidRequestError
from tests.support import factories

pytestmark = pytest.mark.django_db

TEXTS = {
    "hotel": "Book a Hotel in Köln, near INC-4412",
    "mail": "write to ana@example.org about foo_bar/baz.txt",
    "numbers": "pay 10:30, 1e5 or -7 of 123abc",
    "quotes": "“Übergrößen” and it's fine…",
    "long": "x " * 990 + "inside " + "y " * 2000 + "beyond",
    "japanese": "東京 へ 行く",
}


def at():
    return Moment(now=timezone.now(), stale_after=timedelta(minutes=5))


def failed(alice, bob, error):
    lease = factories.leased_task(alice, bob, intent_text="fetch the prices")
    envelope = factories.result_envelope(
        lease.task, lease_id=lease.lease_id, status=ResultStatus.ERROR, error_message=error, content=[]
    )
    return results.post_result(bob, envelope)


@pytest.fixture
def texts(alice, bob):
    return {factories.sent_task(alice, bob, intent_text=text).pk: name for name, text in TEXTS.items()}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("hotel", ["hotel"]),
        ("HOTEL köln", ["hotel"]),
        ("hot", []),
        ("hot*", ["hotel"]),
        ("text:hot*", ["hotel"]),
        ("hotel mail", []),
        ("text:hotel,ana", ["hotel", "mail"]),
        ("koln", []),
        ("INC-4412", ["hotel"]),
        ("4412", ["hotel"]),
        ('"inc 4412"', ["hotel"]),
        ('"4412 inc"', []),
        ("inc-44*", ["hotel"]),
        ('"a hotel in"', ["hotel"]),
        ("books", []),
        ("ana@example.org", ["mail"]),
        ("example", ["mail"]),
        ("foo", ["mail"]),
        ("foo_bar", ["mail"]),
        ("baz.txt", ["mail"]),
        ("txt", ["mail"]),
        ("10:30", ["numbers"]),
        ("10", ["numbers"]),
        ("1e5", ["numbers"]),
        ("7", ["numbers"]),
        ("123abc", ["numbers"]),
        ("123*", ["numbers"]),
        ("übergrößen", ["quotes"]),
        ("fine", ["quotes"]),
        ("it's", ["quotes"]),
        ("inside", ["long"]),
        ("beyond", []),
        ("東京", ["japanese"]),
        ("-hotel -x", ["japanese", "mail", "numbers", "quotes"]),
        ("book -köln", []),
        ("-text:hotel,ana -x*", ["japanese", "numbers", "quotes"]),
        ("OR", ["numbers"]),
        ('"x NEAR"', []),
    ],
)
def test_words_find_intents(texts, query, found):
    assert sorted(texts[pk] for pk in queries.tasks(query, at()).values_list("pk", flat=True)) == found


@pytest.mark.parametrize("query", ["***", "—", '"!?"', "text:..."])
def test_words_without_letters_and_digits_are_refused(query):
    with pytest.raises(InvalidRequestError):
        queries.tasks(query, at())


def test_words_find_errors_of_results_and_their_tasks(alice, bob):
    result = failed(alice, bob, "429 Too Many Requests: retry_after=30")
    factories.sent_task(alice, bob)

    for query in ("many", '"too many requests"', "429 -503", "retry*", "text:429 to:bob"):
        assert list(queries.tasks(query, at())) == [result.task], query
        assert list(queries.results(query, at())) == [result], query
    assert list(queries.results("prices", at())) == [result]
    assert list(queries.results("-429", at())) == list(queries.results("503", at())) == []


def test_words_find_reasons_in_the_journal(alice, bob, olga):
    registration.pause_agent(olga, bob.agent, reason='disk "full", see INC-4412')
    registration.pause_agent(olga, alice.agent, reason="Disk full, see INC-4413")
    AuditEvent.objects.create(kind="x", actor="x", data='{"reason":"\\u0000 inc"}', at=timezone.now(), source="api")

    def found(query):
        return [event.fields["reason"][-5:] for event in queries.events(query, at()).order_by("pk")]

    assert found("INC-4413") == found("4413") == found('"full see" text:4413') == ["-4413"]
    assert found('"DISK full" text:441*') == ["-4412", "-4413"]
    assert found("kind:agent_paused -4413 -inc") == []


def test_an_erased_text_is_in_no_search(alice, bob):
    result = failed(alice, bob, "no room for Mr Smith")
    results.drain_results(alice)
    AuditEvent.objects.create(
        kind="a2a_task_cancelled",
        actor="x",
        data='{"reason":"Mr Smith left"}',
        at=timezone.now(),
        source="api",
        task_id=result.task.uuid,
    )
    assert queries.tasks("smith", at()).exists()
    assert queries.tasks("prices", at()).exists()
    assert queries.events("smith", at()).exists()

    erasure.erase_task(Caller.command_line(), result.task.uuid, reason="asked for")

    assert not queries.tasks("smith", at()).exists()
    assert not queries.tasks("prices", at()).exists()
    assert not queries.events("smith", at()).exists()
    assert queries.tasks("erased", at()).exists()


def test_a_deleted_text_is_in_no_search(alice, bob):
    result = failed(alice, bob, "no room")
    assert rows_of("room") == [result.task_id]

    Result.objects.filter(pk=result.pk).delete()
    assert rows_of("room") == []
    assert rows_of("prices") == [result.task_id]
    task = factories.sent_task(alice, bob, intent_text="short lived")
    Task.objects.filter(pk=task.pk).delete()

    assert rows_of("lived") == []


def rows_of(word):
    """Return the keys that the index has, whether their rows exist or not."""
    return list(full_text.tasks(word))


def test_a_search_finds_the_newest_rows(alice, bob, monkeypatch):
    monkeypatch.setattr(full_text, "MOST", 2)
    keys = [factories.sent_task(alice, bob, intent_text=f"chapter {number}").pk for number in range(3)]

    assert sorted(queries.tasks("chapter", at()).values_list("pk", flat=True)) == keys[1:]


def test_words_are_found_by_index(texts):
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # of few rows, PostgreSQL would read the table
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
    indexes = {"tasks": ("task_words", "result_words"), "events": ("auditevent_words|audit_words",)}

    for name, used in indexes.items():
        plan = plan_of_statement(*full_text.statement(name, "hotel"))
        assert all(any(one in plan for one in either.split("|")) for either in used), plan
        assert connection.vendor == "postgresql" or "VIRTUAL TABLE INDEX" in plan, plan


def plan_of_statement(sql, params):
    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}", params)
        return "\n".join(str(row) for row in cursor.fetchall())


@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_health_says_that_an_sqlite_without_fts5_has_no_text_search(monkeypatch):
    (kept,) = [check for check in report.look(timezone.now()).checks if check.name == "Text search"]
    monkeypatch.setattr(full_text, "is_kept", lambda: False)
    (off,) = [check for check in report.look(timezone.now()).checks if check.name == "Text search"]

    assert (kept.word, off.word) == ("ok", "degraded")
    with pytest.raises(InvalidRequestError):
        queries.tasks("hotel", at())
