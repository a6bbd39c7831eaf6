"""corvid-agent's invariants about a task's life, as its clients see it."""

import math
from datetime import timedelta
from functools import partial

import pytest

from mailbox.access.callers import Caller
from mailbox.dialects.corvid import handler, wire
from mailbox.dialects.corvid.handler import ValidationFailedError
from mailbox.life import expiry, leasing, results, sending, updates
from mailbox.models import AuditEvent, Lease, Task
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.upkeep import compaction
from mailbox.words.conversation import Update
from mailbox.words.envelopes import ResultStatus
from mailbox.words.errors import AlreadyResolvedError, InvalidRequestError
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]


def send(caller, **params):
    return handler.handle_task_send(caller, {"params": {"message": "do it", **params}})


def read(caller, task_id):
    task = handler.handle_task_get(caller, task_id)
    assert task is not None
    return task


def lease(caller):
    (taken,) = leasing.lease_tasks(caller)
    return taken


def say(caller, task_id, *texts):
    said = [Update(message=[{"type": "text", "text": text}]) for text in texts]
    updates.post_updates(caller, task_id, said)


@pytest.fixture
def leased_at_once(monkeypatch, bob):
    """Lease each task to bob just after it was stored, and just after it was read."""

    def then_lease(verb, *args):
        row = verb(*args)
        leasing.lease_tasks(bob)
        return row

    monkeypatch.setattr(sending, "send_task", partial(then_lease, sending.send_task))
    monkeypatch.setattr(expiry, "current", partial(then_lease, expiry.current))


@pytest.mark.usefixtures("leased_at_once")
def test_a_task_leased_before_the_answer_is_answered_as_stored(alice):
    sent = send(alice)

    assert (sent["state"], sent["sessionId"]) == ("submitted", None)
    assert Lease.objects.count() == 1


def test_a_task_that_is_leased_while_it_is_read_has_no_session(alice, request):
    sent = send(alice)
    request.getfixturevalue("leased_at_once")

    first, second = (handler.handle_task_get(alice, sent["id"]) for _ in range(2))

    assert first
    assert second
    assert (first["state"], first["sessionId"]) == ("submitted", None)
    assert (second["state"], second["sessionId"]) == ("working", Lease.objects.get().lease_id)


def texts_of(task):
    return [(message["role"], message["parts"][0]["text"]) for message in task["messages"]]


@pytest.mark.parametrize(
    "body",
    [
        None,
        7,
        {"message": 7},
        {"message": "\x00"},
        {"message": "x", "skill": "\ud800"},
        {"message": "x", "timeoutMs": math.inf},
        {"message": "x", "timeoutMs": math.nan},
        {"message": "x", "timeoutMs": "5000"},
        {"message": "x", "depth": math.inf},
    ],
)
def test_values_that_no_body_can_hold_are_refused_in_process(alice, body):
    with pytest.raises((ValidationFailedError, InvalidRequestError)):
        handler.handle_task_send(alice, body)

    assert not Task.objects.exists()


def test_invariant_1_a_requeued_task_never_goes_back_to_submitted(alice, bob, olga):
    sent = send(alice)
    taken = lease(bob)
    assert read(alice, sent["id"])["state"] == "working"

    repair.requeue(
        olga, taken.task.uuid, reason="stuck", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED, lease_id=taken.lease_id
    )

    assert read(alice, sent["id"])["state"] == "working"
    assert Task.objects.get(uuid=sent["id"]).state == Task.State.QUEUED


def test_invariant_1_an_error_after_completion_changes_nothing(alice, bob, olga):
    sent = send(alice)
    taken = lease(bob)
    results.post_result(bob, factories.result_envelope(taken.task))
    before = read(alice, sent["id"])

    with pytest.raises(AlreadyResolvedError):
        repair.force_error(olga, taken.task.uuid, reason="late", message="boom")

    assert read(alice, sent["id"]) == before
    assert before["state"] == "completed"


def test_invariant_2_completion_and_failure_follow_from_the_holder_s_result(alice, bob):
    good, bad = send(alice), send(alice)

    results.post_result(bob, factories.result_envelope(lease(bob).task))
    failure = factories.result_envelope(
        lease(bob).task, status=ResultStatus.ERROR, content=[], error_message="no paper"
    )
    results.post_result(bob, failure)

    assert read(alice, good["id"])["state"] == "completed"
    failed = read(alice, bad["id"])
    assert failed["state"] == "failed"
    assert texts_of(failed)[-1] == ("agent", "no paper")


def test_a_task_is_updated_when_it_starts(alice, bob):
    sent = send(alice)
    taken = lease(bob)

    assert read(alice, sent["id"])["updatedAt"] == wire.iso(taken.leased_at)


def test_updates_become_agent_messages_and_the_result_text_is_the_last(alice, bob):
    sent = send(alice)
    taken = lease(bob)

    say(bob, taken.task.uuid, "reading", "writing")
    results.post_result(bob, factories.result_envelope(taken.task, content=[{"type": "text", "text": "written"}]))

    task = read(alice, sent["id"])
    assert texts_of(task) == [("user", "do it"), ("agent", "reading"), ("agent", "writing"), ("agent", "written")]
    assert task["sessionId"] == taken.lease_id
    updated = AuditEvent.objects.of_task(taken.task.uuid).filter(kind=Kind.TASK_UPDATED)
    assert [event.fields["message_number"] for event in updated] == [event.seq for event in updated]
    assert len(updated) == 2


def test_a_result_that_repeats_the_last_message_is_shown_once(alice, bob):
    sent = send(alice)
    taken = lease(bob)
    say(bob, taken.task.uuid, "done")

    results.post_result(bob, factories.result_envelope(taken.task))

    assert texts_of(read(alice, sent["id"])) == [("user", "do it"), ("agent", "done")]


def test_a_json_result_is_shown_as_json(alice, bob):
    sent = send(alice)

    envelope = factories.result_envelope(lease(bob).task, content=[{"type": "json", "value": {"pages": 3}}])
    results.post_result(bob, envelope)

    assert texts_of(read(alice, sent["id"]))[-1] == ("agent", '{"pages":3}')


def test_invariant_4_the_task_store_is_capped(alice, bob, settings):
    settings.A2A_TASKS_SEND_CAP = 2
    settings.A2A_INBOUND_RATE_LIMIT_PER_MIN = 100
    oldest = [send(alice)["id"] for _ in range(2)]
    for task_id in oldest:
        sending.cancel(alice, task_id)
        read(alice, task_id)
    newest = [send(alice) for _ in range(2)]

    assert set(Task.objects.values_list("uuid", flat=True)) == {task["id"] for task in newest}
    dropped = {row.task_id: row.fields["reason"] for row in factories.journal(Kind.TASKS_COMPACTED)}
    assert dropped == dict.fromkeys(oldest, "cap")


@pytest.mark.deep
def test_invariant_4_the_oldest_hundred_are_pruned_per_cycle(alice, bob, settings):
    settings.A2A_INBOUND_RATE_LIMIT_PER_MIN = 1000
    settings.A2A_TASKS_SEND_CAP = 1000
    sent = [send(alice)["id"] for _ in range(102)]
    for task_id in sent:
        sending.cancel(alice, task_id)
        read(alice, task_id)

    dropped = compaction.cap_sent(Caller.command_line(), dialect=handler.DIALECT, cap=1)

    assert dropped == 100
    assert set(Task.objects.values_list("uuid", flat=True)) == set(sent[-2:])


def test_invariant_5_active_tasks_are_never_pruned(alice, bob, settings):
    settings.A2A_TASKS_SEND_CAP = 1
    settings.A2A_INBOUND_RATE_LIMIT_PER_MIN = 100
    working, waiting, finished = (send(alice) for _ in range(3))
    lease(bob)
    sending.cancel(alice, finished["id"])
    read(alice, finished["id"])

    newest = send(alice)

    kept = set(Task.objects.values_list("uuid", flat=True))
    assert kept == {task["id"] for task in (working, waiting, newest)}
    assert read(alice, working["id"])["state"] == "working"


def test_invariant_6_a_task_past_its_timeout_fails_at_the_next_read(alice, bob, time_machine):
    time_machine.move_to("2026-01-01T00:00:00Z", tick=False)
    sent = send(alice, timeoutMs=5000)
    lease(bob)
    time_machine.shift(timedelta(seconds=5))

    task = read(alice, sent["id"])

    assert task["state"] == "failed"
    assert texts_of(task)[-1] == ("agent", "Task timed out")
    assert Lease.objects.get().end == Lease.End.EXPIRED
    assert factories.life_of(Task.objects.get())[-1] == Kind.TASK_EXPIRED


def test_invariant_7_a_task_that_finished_in_time_is_never_timed_out(alice, bob, time_machine):
    time_machine.move_to("2026-01-01T00:00:00Z", tick=False)
    sent = send(alice, timeoutMs=5000)
    results.post_result(bob, factories.result_envelope(lease(bob).task))

    time_machine.shift(timedelta(hours=1))

    assert read(alice, sent["id"])["state"] == "completed"


def test_the_timeout_counts_from_the_lease_and_not_from_the_send(alice, bob, time_machine):
    time_machine.move_to("2026-01-01T00:00:00Z", tick=False)
    sent = send(alice, timeoutMs=5000)

    time_machine.shift(timedelta(hours=1))

    assert read(alice, sent["id"])["state"] == "submitted"


def test_clearing_the_store_drops_finished_tasks_and_nothing_else(alice, bob):
    finished, waiting = send(alice), send(alice)
    sending.cancel(alice, finished["id"])
    factories.sent_task(alice, bob)

    dropped = handler.clear_task_store(Caller.command_line())

    assert dropped == 1
    assert Task.objects.filter(dialect=handler.DIALECT).get().uuid == waiting["id"]
