"""A send or a result that is repeated after its task was compacted: the journal answers it."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection  # noqa: F401 (a condition reads it)

from mailbox.journal.compacted_tasks import RESULT_DELETED
from mailbox.life import push_configs, results, sending
from mailbox.models import CapabilityGrant, PushConfig, Result, Task
from mailbox.repairs import repair
from mailbox.words.envelopes import ResultStatus
from mailbox.words.errors import (
    AlreadyResolvedError,
    CapabilityMissingError,
    MailboxError,
    ResultConflictError,
    TaskConflictError,
    UnknownTaskError,
)
from tests.support import factories
from tests.support.compacting import EVERY_FIELD, compact, finished, named

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _anywhere(monkeypatch):
    monkeypatch.setattr(push_configs, "judge", lambda url: None)


def result_of(task: Task) -> Result:
    result = task.result_or_none
    assert result is not None
    return result


@pytest.mark.parametrize("more", [{}, EVERY_FIELD, {"idempotency": factories.unsafe()}])
def test_a_send_is_answered_with_the_task_as_it_ended(alice, bob, more):
    envelope = named(bob, **more)
    task, _ = finished(alice, bob, envelope)
    rows = factories.journal_length()

    again = sending.send_task(alice, envelope)

    not_kept = {"id", "journal_seq", "waits_on_id", "calls_back", "size"}
    ours = {field.attname for field in Task._meta.concrete_fields} - not_kept
    assert {name: getattr(again, name) for name in ours} == {name: getattr(task, name) for name in ours}
    assert again.is_compacted
    assert again.was_sent_before
    result = result_of(again)
    assert (result.status, result.blocks, result.error_message) == ("ok", [], RESULT_DELETED)
    assert factories.journal_length() == rows
    assert not Task.objects.exists()


def test_a_repeat_needs_no_grant_and_counts_no_use(alice, bob, mallory):
    factories.grant(bob, "a2a.respond.*")
    factories.grant(mallory, "a2a.send.*", max_uses=1)
    envelope = named(bob)
    finished(mallory, bob, envelope)

    assert sending.send_task(mallory, envelope).outcome == "ok"
    CapabilityGrant.objects.all().delete()
    assert sending.send_task(mallory, envelope).outcome == "ok"


def test_idempotent_work_is_answered_from_the_journal_and_not_done_again(alice, bob):
    envelope = named(bob, idempotency=factories.idempotent())
    finished(alice, bob, envelope)

    assert result_of(sending.send_task(alice, envelope)).error_message == RESULT_DELETED
    assert not Result.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"intent_text": "another"},
        {"task_kind": "other"},
        {"parent": None},
        {"deadline_ms": 2**61},
        {"context_id": None},
        {"metadata": {"b": [1, None], "a": "ü"}},
        {"work_timeout": timedelta(minutes=6)},
        {"callback_url": "https://example.com/other"},
        {"callback_secret": None},
        {"idempotency": factories.unsafe()},
    ],
)
def test_another_content_is_a_conflict(alice, bob, change):
    envelope = named(bob, **EVERY_FIELD)
    finished(alice, bob, envelope)

    with pytest.raises(TaskConflictError):
        sending.send_task(alice, replace(envelope, **change))
    assert not Task.objects.exists()


def test_the_id_of_another_sender_or_recipient_is_the_conflict_that_it_was_before(alice, bob, mallory):
    factories.grant(mallory, "a2a.send.*")
    factories.grant(mallory, "a2a.respond.*")
    task = factories.sent_task(alice, bob)
    sending.cancel(alice, task.uuid)
    results.ack_results(alice, [task.uuid])
    live = refusal_of(lambda: sending.send_task(mallory, named(bob, id=task.uuid)))
    compact()

    for sender, recipient in ((mallory, bob), (alice, mallory)):
        gone = refusal_of(lambda: sending.send_task(sender, named(recipient, id=task.uuid)))  # noqa: B023
        assert (gone.code, gone.message, gone.ids) == (live.code, live.message, live.ids)


def test_a_task_that_an_earlier_version_compacted_is_a_conflict_and_its_result_unknown(alice, bob, monkeypatch):
    factories.without_digests(monkeypatch)
    envelope = named(bob)
    _, answer = finished(alice, bob, envelope)

    with pytest.raises(TaskConflictError):
        sending.send_task(alice, envelope)
    with pytest.raises(UnknownTaskError):
        results.post_result(bob, answer)


def test_a_task_whose_callback_s_secret_is_unreadable_is_compacted_and_repeated_by_no_send(alice, bob, monkeypatch):
    envelope = named(bob, callback_url="https://example.com", callback_secret="s")
    task = sending.send_task(alice, envelope)
    sending.cancel(alice, task.uuid)
    results.ack_results(alice, [task.uuid])
    PushConfig.objects.update(sealed_secret="sealed under another key")
    compact()

    with pytest.raises(TaskConflictError):
        sending.send_task(alice, envelope)


def test_a_repeat_is_known_under_a_former_secret_key(alice, bob, settings):
    envelope = named(bob)
    _, answer = finished(alice, bob, envelope)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" * 8, [settings.SECRET_KEY]

    assert sending.send_task(alice, envelope).outcome == "ok"
    assert results.post_result(bob, answer).status == "ok"
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(TaskConflictError):
        sending.send_task(alice, envelope)


def test_the_journal_keeps_no_content(alice, bob):
    envelope = named(bob, intent_text="a short secret", metadata={"k": "a short secret"})
    finished(alice, bob, envelope, content=[{"type": "text", "text": "a short secret"}])

    (row,) = factories.journal("a2a_tasks_compacted")
    assert "a short secret" not in row.data
    assert row.fields["sender"] == factories.row_of(alice).pubkey
    assert row.fields["outcome"] == "ok"
    assert json.loads(row.data)["request_digest"] != json.loads(row.data)["result_digest"]


@pytest.mark.parametrize("status", ResultStatus)
def test_a_result_is_acknowledged_again_with_its_content(alice, bob, status):
    task, answer = finished(alice, bob, named(bob), status=status, error_message="why")
    rows = factories.journal_length()

    for lease_id in (None, uuid4()):
        again = results.post_result(bob, replace(answer, lease_id=lease_id))
        assert again.status == ("error" if status is ResultStatus.REJECTED else status)
        assert (again.blocks, again.error_message) == (factories.SOME_TEXT, "why")
        assert (again.task.uuid, again.task.sender, again.task.recipient) == (task.uuid, task.sender, task.recipient)
    assert factories.journal_length() == rows


def test_another_result_is_a_conflict_and_journalled(alice, bob):
    task, answer = finished(alice, bob, named(bob))

    others: list[dict[str, Any]] = [{"content": []}, {"status": ResultStatus.ERROR}, {"error_message": "why"}]
    for other in others:
        with pytest.raises(ResultConflictError):
            results.post_result(bob, replace(answer, **other))
    rejected = factories.journal("a2a_result_rejected")
    assert [(row.task_id, row.fields) for row in rejected] == [(task.uuid, {"reason": "result_conflict"})] * 3
    CapabilityGrant.objects.all().delete()
    with pytest.raises(CapabilityMissingError):
        results.post_result(bob, replace(answer, content=[]))


@pytest.mark.parametrize("end", ["cancel", "force_error"])
def test_a_result_of_a_task_that_the_hub_ended_is_refused_as_before(alice, bob, olga, end):
    lease = factories.leased_task(alice, bob)
    if end == "cancel":
        sending.cancel(alice, lease.task.uuid)
    else:
        repair.force_error(olga, lease.task.uuid, reason="stuck", message="given up")
    results.ack_results(alice, [lease.task.uuid])
    answer = factories.result_envelope(lease.task)
    live = refusal_of(lambda: results.post_result(bob, answer))
    compact()

    gone = refusal_of(lambda: results.post_result(bob, answer))

    assert isinstance(gone, AlreadyResolvedError)
    assert (gone.message, gone.ids) == (live.message, live.ids)


def test_a_result_is_unknown_to_all_but_the_recipient(alice, bob, mallory):
    task, answer = finished(alice, bob, named(bob))

    for other in (alice, mallory):
        with pytest.raises(UnknownTaskError) as refusal:
            results.post_result(other, answer)
        assert refusal.value.message == f"no task {task.uuid} is known to you"


def refusal_of(act: Callable[[], object]) -> MailboxError:
    with pytest.raises(MailboxError) as refusal:
        act()
    return refusal.value
