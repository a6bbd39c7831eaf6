from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from agentcards import profiles
from agentcards.models import AgentCard
from agentcards.registry import CardRegistry
from mailbox.access.agents import peers
from mailbox.access.callers import Caller
from mailbox.database import old_bytes
from mailbox.life import conversation, results, updates
from mailbox.models import (
    Artifact,
    AuditEvent,
    Message,
    Peer,
    PushAttempt,
    PushDelivery,
    ReplayEntry,
    Result,
    SenderStock,
    Task,
)
from mailbox.upkeep import compaction, erasure, sealing, verification
from mailbox.upkeep.compaction import Retention
from mailbox.words.conversation import ArtifactUpdate, Update, Words
from mailbox.words.errors import InvalidRequestError, UnknownTaskError, WrongPartyError
from tests.support import factories
from tests.support.tampering import old_rows, triggers_off

pytestmark = pytest.mark.django_db
SECRET = "the secret text"
CLI = Caller.command_line()


def finished(alice, bob, key="key"):
    """Return a finished task with every kind of payload."""
    lease = factories.leased_task(
        alice,
        bob,
        intent_text=SECRET,
        metadata={"of": SECRET},
        idempotency=factories.idempotent(key),
        callback_url="https://hooks.example/",
    )
    words, beside = factories.text(SECRET), {"of": SECRET}
    artifact = ArtifactUpdate(content=words, artifact_id=SECRET, name=SECRET, metadata=beside)
    message = Update(message=words, message_id=SECRET, metadata=beside)
    updates.post_updates(bob, lease.task.uuid, [message, artifact])
    conversation.say(alice, lease.task.uuid, Words(content=words, message_id=SECRET, metadata=beside))
    results.post_result(bob, factories.result_envelope(lease.task, content=words, error_message=SECRET, message=words))
    return lease.task


def stored():
    """Return everything that the tables hold, as text."""
    models = (Task, Result, Message, Artifact, PushDelivery, ReplayEntry, AuditEvent)
    return "\n".join(str(row) for model in models for row in model.objects.values())


def of_an_older_version(task):
    """Add a journal row with the text of an update, as older versions wrote it; return it."""
    number = AuditEvent.objects.of_task(task.uuid).count() + 100
    (row,) = old_rows(
        1, kind="a2a_task_updated", task_id=task.uuid, seq=number, data=f'{{"lease_id":"","message":"{SECRET}"}}'
    )
    return row


@pytest.fixture
def sealed(monkeypatch):
    """Return a function that seals all rows."""
    monkeypatch.setattr(sealing, "RIPE_AFTER", timedelta(0))
    return sealing.seal


def test_an_answer_that_repeats_a_callback_is_erased_with_it(alice, bob):
    task = finished(alice, bob)
    delivery = PushDelivery.objects.get()
    PushAttempt.objects.create(delivery=delivery, number=1, at=timezone.now(), problem=f"500: {SECRET}")
    PushAttempt.objects.create(delivery=delivery, number=2, at=timezone.now(), problem="")

    erasure.erase_task(CLI, task.uuid, reason="asked for")

    assert list(delivery.log.order_by("number").values_list("problem", flat=True)) == ["[erased]", ""]


def test_nothing_of_an_erased_task_is_left_and_the_seals_are_right(alice, bob, sealed):
    task = finished(alice, bob)
    row = of_an_older_version(task)
    sealed()
    assert SECRET in stored()

    erased = erasure.erase_task(CLI, task.uuid, reason="asked for")
    sealed()

    assert SECRET not in stored()
    assert (erased["tasks"], erased["results"], erased["callbacks"], erased["cached results"]) == (1, 1, 1, 1)
    found = verification.verify()
    assert found.finding is None
    assert row.pk in found.erased
    assert PushDelivery.objects.get().state == PushDelivery.State.DISABLED


def test_an_erasure_is_journalled_and_repeated_without_effect(alice, bob):
    task = finished(alice, bob)
    of_an_older_version(task)

    erasure.erase_task(CLI, task.uuid, reason="asked for")
    before = factories.journal_length()
    again = erasure.erase_task(CLI, task.uuid, reason="asked for")

    assert not any(again.values())
    assert factories.journal_length() == before
    first = factories.journal("a2a_erased")[0].fields
    assert (first["subject"], first["reason"]) == (f"task:{task.uuid}", "asked for")


def test_an_erasure_that_was_cut_off_is_completed_by_the_next(alice, bob, monkeypatch):
    task = finished(alice, bob)
    of_an_older_version(task)

    with monkeypatch.context() as patch:
        patch.setattr(erasure, "_bury", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            erasure.erase_task(CLI, task.uuid, reason="asked for")
    assert SECRET in stored()
    erasure.erase_task(CLI, task.uuid, reason="asked for")

    assert SECRET not in stored()


def test_a_compacted_task_can_be_erased(alice, bob):
    task = finished(alice, bob)
    of_an_older_version(task)
    results.drain_results(alice)
    compaction.compact(Caller.local(), Retention(delivered=timedelta(0)))
    assert not Task.objects.exists()

    erasure.erase_task(CLI, task.uuid, reason="asked for")

    assert SECRET not in stored()


def test_a_task_that_has_not_finished_is_not_erased(alice, bob):
    task = factories.sent_task(alice, bob, intent_text=SECRET)

    with pytest.raises(InvalidRequestError, match="not finished"):
        erasure.erase_task(CLI, task.uuid, reason="asked for")
    with pytest.raises(InvalidRequestError, match="not finished"):
        erasure.erase_agent(CLI, bob.agent, reason="asked for")

    assert SECRET in stored()


def test_unknown_tasks_blank_reasons_and_untrusted_callers_are_refused(alice, bob):
    task = finished(alice, bob)

    with pytest.raises(UnknownTaskError):
        erasure.erase_task(CLI, uuid4(), reason="asked for")
    with pytest.raises(InvalidRequestError):
        erasure.erase_task(CLI, task.uuid, reason=" ")
    with pytest.raises(WrongPartyError):
        erasure.erase_task(alice, task.uuid, reason="asked for")


def test_the_bytes_of_an_erased_task_no_longer_count(alice, bob):
    finished(alice, bob)
    Task.objects.update(size=1_000)
    kept = factories.sent_task(alice, bob)
    SenderStock.objects.update(size=1_000 + kept.size)

    erasure.erase_task(CLI, Task.objects.exclude(pk=kept.pk).get().uuid, reason="asked for")
    erasure.erase_task(CLI, Task.objects.exclude(pk=kept.pk).get().uuid, reason="asked for")

    assert Task.objects.exclude(pk=kept.pk).get().size == 0
    assert SenderStock.objects.get().size == kept.size


@pytest.mark.parametrize("agent", [lambda alice, bob: alice.agent, lambda alice, bob: bob.agent], ids=["sent", "got"])
def test_a_compacted_task_is_erased_with_its_sender_or_its_recipient(alice, bob, agent):
    finished_tasks = [finished(alice, bob, key) for key in ("first", "second")]
    rows = [of_an_older_version(task) for task in finished_tasks]
    results.drain_results(alice)
    compaction.compact(Caller.local(), Retention(delivered=timedelta(0)))
    with triggers_off():  # the first versions named no parties in the row
        first = AuditEvent.objects.compaction_of(finished_tasks[0].uuid)
        first.update(data='{"reason":"retention"}')

    erasure.erase_agent(CLI, agent(alice, bob), reason="asked for")

    assert not AuditEvent.objects.filter(pk__in=[row.pk for row in rows], data__contains=SECRET).exists()


def test_rows_of_others_that_name_an_erased_agent_stay(alice, bob):
    name = alice.agent.display
    profiles.update_profile(CLI, bob.agent, {"name": name})
    CardRegistry(bob).register("job-1", AgentCard(name=name, description=""))

    erasure.erase_agent(CLI, alice.agent, reason="asked for")

    assert factories.journal("agent_profile_changed")[-1].fields["changed"] == {"name": name}
    assert factories.journal("agent_card_registered")[-1].fields["name"] == name


def test_an_agent_s_tasks_of_both_sides_are_erased_and_others_stay(alice, bob):
    carol = factories.agent("carol", "a2a.respond.*", "a2a.send.*")
    finished(alice, bob)
    kept = finished(alice, carol)
    peers.seen(bob, "peer")

    erasure.erase_agent(CLI, bob.agent, reason="asked for")

    assert list(Task.objects.filter(intent_text=SECRET).values_list("uuid", flat=True)) == [kept.uuid]
    assert not Peer.objects.exists()
    assert ReplayEntry.objects.get().source_task_id == kept.uuid


def test_the_command_erases_cards_too(alice, bob):
    profile = factories.profile(bob, description=SECRET)
    finished(alice, bob)

    call_command("a2a", "erase", "--agent", "bob", "--reason", "asked for")

    profile.refresh_from_db()
    assert profile.description == ""
    assert SECRET not in stored()


def test_an_erasure_reports_a_write_ahead_log_that_a_long_read_keeps(alice, bob, monkeypatch):
    task = finished(alice, bob)
    monkeypatch.setattr(old_bytes, "forget", lambda: False)

    with pytest.raises(CommandError, match="write-ahead log"):
        call_command("a2a", "erase", "--task", str(task.uuid), "--reason", "asked for")

    assert SECRET not in stored()
