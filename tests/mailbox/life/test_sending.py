from dataclasses import replace
from uuid import uuid4

import pytest
from django.utils import timezone

from mailbox.life import results, sending
from mailbox.models import AuditEvent, CapabilityGrant, Task
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import (
    CapabilityMissingError,
    InvalidRequestError,
    Lack,
    Remedy,
    SenderMismatchError,
    TaskConflictError,
    UnknownAgentError,
    WrongPartyError,
)
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_a_sent_task_is_stored_with_all_its_fields(alice, bob):
    task_id, parent = uuid4(), uuid4()
    idempotency = factories.unsafe(" k ")
    envelope = factories.task_envelope(
        bob, id=task_id, parent=parent, deadline_ms=2**63 - 1, task_kind="summary", idempotency=idempotency
    )

    sent = sending.send_task(alice, envelope)

    stored = Task.objects.with_parties().get(uuid=task_id)
    assert stored == sent
    assert (stored.sender, stored.recipient) == (alice.agent, bob.agent)
    assert (stored.state, stored.attempt, stored.outcome) == (Task.State.QUEUED, 0, None)
    assert (stored.intent_text, stored.task_kind) == ("summarise the report", "summary")
    assert (stored.parent, stored.deadline_ms) == (parent, 2**63 - 1)
    assert (stored.duplicate_safety, stored.idempotency_key) == ("unsafe", " k ")
    assert stored.sent_at == stored.queued_at


def test_a_send_is_journalled_with_the_check_it_passed(alice, bob):
    task = factories.sent_task(alice, bob)

    check, sent = AuditEvent.objects.order_by("pk")
    assert (check.kind, check.seq) == ("capability_check", None)
    assert check.fields["agent_id"] == "a2a-send:bob@local"
    assert check.fields["required_actions"] == ["a2a.send.bob@local"]
    assert (check.fields["passed"], check.fields["missing_actions"]) == (True, [])
    assert check.fields["authorized_by"][0]["action"] == "a2a.send.*"
    assert (sent.kind, sent.task_id, sent.seq) == ("a2a_task_sent", task.uuid, 1)
    assert sent.fields == {"sender": "alice@local", "recipient": "bob@local"}
    assert (sent.actor, sent.actor_pubkey) == ("alice@local", alice.agent.pubkey)
    assert (sent.source, sent.request_id) == ("api", "test")
    assert check.at == sent.at == task.sent_at


def test_the_hub_chooses_the_id_of_a_task_without_one(alice, bob):
    first, second = factories.sent_task(alice, bob), factories.sent_task(alice, bob)

    assert first.uuid != second.uuid
    assert Task.objects.count() == 2


@pytest.mark.parametrize("name", ["bob@local", "bob"])
def test_a_recipient_may_be_named_by_display_or_local_part(alice, bob, name):
    task = sending.send_task(alice, TaskEnvelope(recipient=AgentRef.parse(name), intent_text="x"))

    assert task.recipient == bob.agent


def test_a_public_key_decides_over_the_display(alice, bob, mallory):
    odd = AgentRef("mallory@local", bob.agent.pubkey)

    assert sending.send_task(alice, TaskEnvelope(recipient=odd, intent_text="x")).recipient == bob.agent


def test_an_ambiguous_local_part_is_refused(alice, bob):
    for host in ("far", "elsewhere"):
        factories.AgentFactory.create(display=f"ben@{host}")

    with pytest.raises(UnknownAgentError, match='"ben" is ambiguous: ben@elsewhere, ben@far'):
        sending.send_task(alice, TaskEnvelope(recipient=AgentRef("ben"), intent_text="x"))

    assert not Task.objects.exists()


def test_a_local_part_means_the_agent_at_local_whoever_else_has_it(alice, bob):
    for host in ("a", "b", "c", "d", "e", "z"):
        factories.AgentFactory.create(display=f"bob@{host}")

    assert sending.send_task(alice, TaskEnvelope(recipient=AgentRef("bob"), intent_text="x")).recipient == bob.agent


@pytest.mark.parametrize("claim", ["alice@local", "alice"])
def test_a_sender_may_name_itself(alice, bob, claim):
    assert factories.sent_task(alice, bob, sender=AgentRef.parse(claim)).sender == alice.agent


def test_a_sender_may_claim_its_key_under_another_name(alice, bob):
    task = factories.sent_task(alice, bob, sender=AgentRef("renamed@local", alice.agent.pubkey))

    assert task.sender == alice.agent


def test_a_foreign_sender_is_refused_before_the_check_and_journalled(mallory, alice, bob):
    with pytest.raises(SenderMismatchError):
        factories.sent_task(mallory, bob, sender=factories.ref(alice))

    assert not Task.objects.exists()
    (event,) = AuditEvent.objects.all()
    assert event.kind == "a2a_sender_mismatch"
    assert event.fields == {"peer_display": "mallory@local", "claimed_sender_display": "alice@local"}


def test_a_sender_with_the_key_of_another_agent_is_refused(alice, bob):
    with pytest.raises(SenderMismatchError):
        factories.sent_task(alice, bob, sender=AgentRef("alice@local", bob.agent.pubkey))


def test_a_send_without_a_grant_is_refused_and_leaves_its_check(mallory, bob):
    with pytest.raises(CapabilityMissingError) as refusal:
        factories.sent_task(mallory, bob)

    assert refusal.value.message == 'This requires capability "a2a.send.bob@local".'
    assert refusal.value.lack == Lack(
        action="a2a.send.bob@local",
        scope_id="a2a-send:bob@local",
        target="bob@local",
        agent="mallory@local",
        group=None,
        held_by=["operator", "admin"],
        remedy=Remedy.GRANT,
    )
    assert not Task.objects.exists()
    (event,) = AuditEvent.objects.all()
    assert event.kind == "capability_check"
    assert event.fields == {
        "agent_id": "a2a-send:bob@local",
        "required_actions": ["a2a.send.bob@local"],
        "missing_actions": ["a2a.send.bob@local"],
        "passed": False,
        "authorized_by": [],
    }


def test_an_unknown_recipient_is_reported_to_a_sender_with_a_grant(alice):
    with pytest.raises(UnknownAgentError, match="nobody@local"):
        sending.send_task(alice, TaskEnvelope(recipient=AgentRef("nobody@local"), intent_text="x"))

    assert not AuditEvent.objects.exists()


def test_an_unknown_recipient_is_a_missing_capability_without_a_grant(mallory):
    with pytest.raises(CapabilityMissingError):
        sending.send_task(mallory, TaskEnvelope(recipient=AgentRef("nobody@local"), intent_text="x"))


def test_a_repeated_send_is_acknowledged_without_a_second_row(alice, bob):
    envelope = factories.task_envelope(bob, id=uuid4(), deadline_ms=2**53, metadata={"a": [1]})
    first = sending.send_task(alice, envelope)
    rows = factories.journal_length()

    again = sending.send_task(alice, envelope)

    assert again == first
    assert (first.was_sent_before, again.was_sent_before) == (False, True)
    assert Task.objects.count() == 1
    assert factories.journal_length() == rows


def test_a_send_with_reordered_metadata_is_the_same_task(alice, bob):
    envelope = factories.task_envelope(bob, id=uuid4(), metadata={"a": 1, "b": {"c": 2, "d": 3}})
    again = replace(envelope, metadata={"b": {"d": 3, "c": 2}, "a": 1})

    assert sending.send_task(alice, envelope).pk == sending.send_task(alice, again).pk


def test_a_repeat_counts_no_use_of_the_grant(bob):
    carol = factories.agent("carol")
    grant = factories.grant(carol, "a2a.send.bob@local", max_uses=1)
    envelope = factories.task_envelope(bob, id=uuid4())

    sending.send_task(carol, envelope)
    sending.send_task(carol, envelope)

    grant.refresh_from_db()
    assert grant.uses == 1


def test_a_repeat_is_acknowledged_after_the_task_resolved(alice, bob):
    envelope = factories.task_envelope(bob, id=uuid4())
    task = sending.send_task(alice, envelope)
    results.post_result(bob, factories.result_envelope(task))

    assert sending.send_task(alice, envelope).state == Task.State.RESOLVED


@pytest.mark.parametrize(
    "change",
    [
        {"intent_text": "other"},
        {"task_kind": "other"},
        {"parent": uuid4()},
        {"deadline_ms": 1},
        {"idempotency": factories.unsafe("k")},
        {"context_id": "other"},
        {"metadata": {"other": 1}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_id_with_other_content_is_a_conflict_and_changes_nothing(alice, bob, change):
    envelope = factories.task_envelope(bob, id=uuid4())
    sending.send_task(alice, envelope)
    before = Task.objects.values().get()

    with pytest.raises(TaskConflictError):
        sending.send_task(alice, replace(envelope, **change))

    assert Task.objects.values().get() == before


def test_an_id_of_another_senders_task_is_a_conflict(alice, bob):
    carol = factories.agent("carol", "a2a.send.*")
    envelope = factories.task_envelope(bob, id=uuid4())
    sending.send_task(alice, envelope)

    with pytest.raises(TaskConflictError):
        sending.send_task(carol, envelope)

    assert Task.objects.get().sender == alice.agent


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"intent_text": ""}, "intent_text"),
        ({"intent_text": " \n\t"}, "intent_text"),
        ({"intent_text": None}, "intent_text"),
        ({"deadline_ms": 1.5}, "deadline_ms"),
        ({"deadline_ms": True}, "deadline_ms"),
        ({"intent_text": "nul \x00"}, "intent_text"),
        ({"intent_text": "\ud800"}, "intent_text"),
        ({"task_kind": " "}, "task_kind"),
        ({"task_kind": "k" * 501}, "task_kind"),
        ({"context_id": ""}, "context_id"),
        ({"context_id": "c" * 501}, "context_id"),
        ({"deadline_ms": -1}, "deadline_ms"),
        ({"deadline_ms": 2**63}, "deadline_ms"),
        ({"idempotency": factories.unsafe(" ")}, "idempotency.key"),
        ({"idempotency": factories.idempotent("")}, "idempotency.key"),
        ({"idempotency": factories.idempotent("k" * 501)}, "idempotency.key"),
        ({"metadata": {"a": float("nan")}}, "metadata"),
        ({"metadata": {"a": "\x00"}}, "metadata"),
    ],
)
def test_an_invalid_task_is_refused_before_any_other_check(mallory, bob, fields, path):
    with pytest.raises(InvalidRequestError) as refusal:
        factories.sent_task(mallory, bob, **fields)

    assert list(refusal.value.fields) == [path]
    assert not Task.objects.exists()
    assert not AuditEvent.objects.exists()


def test_people_cannot_send_tasks(olga, bob):
    with pytest.raises(WrongPartyError):
        factories.sent_task(olga, bob)


def test_a_send_under_a_revoked_grant_is_refused(alice, bob):
    CapabilityGrant.objects.update(revoked_at=timezone.now())

    with pytest.raises(CapabilityMissingError):
        factories.sent_task(alice, bob)
