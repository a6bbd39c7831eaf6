"""Database constraints: no code, however it writes, can store rows that the verbs would never write."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from mailbox.life import results
from mailbox.models import Agent, ApiKey, AuditEvent, CapabilityGrant, Lease, Result, Task
from tests.support import factories
from tests.support.chance import MOMENT

pytestmark = pytest.mark.django_db


def refuses(constraint):
    """Expect exactly this constraint to fail. SQLite's messages do not name unique constraints."""
    return pytest.raises(IntegrityError, match=rf"{constraint}|UNIQUE constraint failed|NOT NULL constraint failed")


def change(rows, **fields):
    with transaction.atomic():
        rows.update(**fields)


def copy_of(row, **fields):
    """Insert a copy of the row with these ``fields`` changed."""
    row.pk = None
    row._state.adding = True
    for name, value in fields.items():
        setattr(row, name, value)
    with transaction.atomic():
        row.save(force_insert=True)


@pytest.mark.parametrize(
    "fields",
    [
        {"state": "resolved"},
        {"state": "resolved", "outcome": "ok"},
        {"state": "resolved", "resolved_at": MOMENT},
        {"outcome": "ok"},
        {"resolved_at": MOMENT},
    ],
    ids=lambda fields: "+".join(fields),
)
def test_a_task_has_an_outcome_and_an_end_if_and_only_if_resolved(alice, bob, fields):
    factories.sent_task(alice, bob)

    with refuses("task_resolved_at_iff_resolved"):
        change(Task.objects.all(), **fields)


def test_a_resolved_task_cannot_go_back_with_its_outcome(alice, bob):
    factories.resolved_task(alice, bob)

    with refuses("task_resolved_at_iff_resolved"):
        change(Task.objects.all(), state="queued")


def test_a_task_in_flight_has_been_attempted(alice, bob):
    factories.sent_task(alice, bob)

    with refuses("task_in_flight_has_attempt"):
        change(Task.objects.all(), state="in_flight")


@pytest.mark.parametrize(
    ("state", "awaits"), [("interrupted", None), ("queued", "input"), ("interrupted", "money"), ("interrupted", "")]
)
def test_a_task_awaits_something_exactly_while_it_is_interrupted(alice, bob, state, awaits):
    factories.sent_task(alice, bob)

    with refuses("task_awaits_iff_interrupted"):
        change(Task.objects.all(), state=state, awaits=awaits)
    change(Task.objects.all(), state="interrupted", awaits="authorization")


def test_a_deadline_is_not_negative(alice, bob):
    factories.sent_task(alice, bob)

    with refuses("task_deadline_not_negative"):
        change(Task.objects.all(), deadline_ms=-1)


@pytest.mark.parametrize(
    "fields",
    [
        {"duplicate_safety": "unsafe"},
        {"idempotency_key": "k"},
        {"duplicate_safety": "sometimes", "idempotency_key": "k"},
    ],
    ids=lambda fields: "+".join(fields),
)
def test_duplicate_safety_and_key_are_declared_together(alice, bob, fields):
    factories.sent_task(alice, bob)

    with refuses("task_idempotency_is_whole"):
        change(Task.objects.all(), **fields)


def test_a_public_task_id_is_unique(alice, bob):
    task = factories.sent_task(alice, bob)

    with refuses("mailbox_task_uuid"):
        copy_of(task)


def test_only_a_queued_task_waits_on_another(alice, bob):
    leader = factories.sent_task(alice, bob)
    leased = factories.leased_task(alice, factories.agent("carol"))

    with refuses("task_waits_only_in_queue"):
        change(Task.objects.filter(pk=leased.task.pk), waits_on=leader)


def test_one_task_leads_each_cache_key(alice, bob):
    leader = factories.sent_task(alice, bob, idempotency=factories.idempotent())

    with refuses("task_one_leader_per_cache_key"):
        copy_of(leader, uuid=uuid4())


def test_a_task_has_one_live_lease(alice, bob):
    lease = factories.leased_task(alice, bob)

    with refuses("lease_one_live_per_task"):
        copy_of(lease, lease_id=uuid4(), attempt=2)


def test_each_attempt_of_a_task_is_one_lease(alice, bob):
    lease = factories.leased_task(alice, bob)

    with refuses("lease_attempt_unique"):
        copy_of(lease, lease_id=uuid4(), ended_at=MOMENT, end="release")


def test_a_lease_id_is_unique(alice, bob):
    lease = factories.leased_task(alice, bob)
    other = factories.sent_task(alice, bob)

    with refuses("mailbox_lease_lease_id"):
        copy_of(lease, task=other)


@pytest.mark.parametrize("fields", [{"end": "result"}, {"ended_at": MOMENT}], ids=lambda fields: "+".join(fields))
def test_a_lease_has_both_the_time_and_the_way_of_its_end_or_neither(alice, bob, fields):
    factories.leased_task(alice, bob)

    with refuses("lease_end_iff_ended"):
        change(Lease.objects.all(), **fields)


@pytest.mark.parametrize("ended", [{}, {"ended_at": MOMENT, "end": "result"}], ids=["live", "ended"])
def test_a_receive_attempt_gives_each_index_one_lease(alice, bob, ended):
    attempt = uuid4()
    lease = factories.leased_task(alice, bob)
    change(Lease.objects.all(), receive_attempt_id=attempt, **ended)
    other = factories.sent_task(alice, bob)

    with refuses("lease_receive_attempt_unique"):
        copy_of(lease, task=other, lease_id=uuid4(), receive_attempt_id=attempt)


def test_a_task_has_one_result(alice, bob):
    result = factories.resolved_task(alice, bob)

    with refuses("mailbox_result_task_id"):
        copy_of(result)


@pytest.mark.parametrize("fields", [{"delivery": "acked"}, {"acked_at": MOMENT}], ids=lambda fields: "+".join(fields))
def test_a_result_has_the_time_of_its_ack_if_and_only_if_acked(alice, bob, fields):
    factories.resolved_task(alice, bob)

    with refuses("result_acked_at_iff_acked"):
        change(Result.objects.all(), **fields)


@pytest.mark.parametrize("is_acked", [False, True], ids=["delivered", "acknowledged"])
def test_a_receive_attempt_gives_each_index_one_result(alice, bob, is_acked):
    first, _ = (factories.drained_task(alice, bob) for _ in range(2))
    if is_acked:
        results.ack_results(alice, [first.task.uuid])

    with refuses("result_receive_attempt_unique"):
        change(Result.objects.all(), receive_attempt_id=uuid4())


def test_a_journal_number_of_a_task_is_used_once(alice, bob):
    factories.sent_task(alice, bob)
    event = factories.last_event()

    with refuses("audit_task_seq_unique"):
        copy_of(event)


def test_a_journal_number_needs_a_task(alice, bob):
    factories.sent_task(alice, bob)

    with refuses("audit_seq_needs_task"):
        copy_of(factories.last_event(), task_id=None)


@pytest.mark.parametrize("owner", ["both", "neither"])
def test_a_key_belongs_to_an_agent_or_to_a_person(alice, olga, owner):
    factories.key_of(alice)
    user = User.objects.get()

    with refuses("api_key_belongs_to_agent_or_user"):
        change(ApiKey.objects.all(), **({"user": user} if owner == "both" else {"agent": None}))


def test_the_uses_of_a_grant_stay_within_their_maximum(alice):
    change(CapabilityGrant.objects.all(), max_uses=1)

    with refuses("grant_uses_within_max"):
        change(CapabilityGrant.objects.all(), uses=2)


@pytest.mark.parametrize("display", ["alice@local", "Alice@LOCAL"])
def test_displays_are_unique_ignoring_case(alice, display):
    with refuses("agent_display_unique"), transaction.atomic():
        factories.AgentFactory.create(display=display)


def test_a_public_key_is_unique(alice):
    with refuses("mailbox_agent_pubkey"), transaction.atomic():
        factories.AgentFactory.create(pubkey=alice.agent.pubkey)


def test_an_agent_with_tasks_cannot_be_deleted(alice, bob):
    factories.sent_task(alice, bob)

    for party in (alice, bob):
        with pytest.raises(ProtectedError):
            Agent.objects.filter(pk=party.agent.pk).delete()


def test_journal_rows_outlive_the_rows_they_describe(alice, bob):
    task = factories.sent_task(alice, bob)
    task.delete()

    assert AuditEvent.objects.of_task(task.uuid).count() == 1
