from uuid import uuid4

import pytest

from mailbox.access.callers import Caller
from mailbox.life import leasing, results, sending
from mailbox.models import AuditEvent, Lease, Result, Task
from mailbox.repairs import repair
from mailbox.words.envelopes import ResultStatus
from mailbox.words.errors import (
    AlreadyResolvedError,
    CapabilityMissingError,
    CapabilityScopeMismatchError,
    InvalidRequestError,
    LeaseMismatchError,
    ResultConflictError,
    UnknownTaskError,
)
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("status", list(ResultStatus))
def test_a_result_resolves_its_task_and_ends_the_lease(alice, bob, status):
    lease = factories.leased_task(alice, bob)

    result = results.post_result(
        bob, factories.result_envelope(lease.task, status=status, lease_id=lease.lease_id, error_message="why")
    )

    task = Task.objects.get()
    lease.refresh_from_db()
    result.refresh_from_db()
    assert (task.state, task.outcome, task.resolved_at) == (Task.State.RESOLVED, status.value, result.posted_at)
    assert (lease.end, lease.ended_at) == (Lease.End.RESULT, result.posted_at)
    assert result.status == ("error" if status is ResultStatus.REJECTED else status)
    assert (result.blocks, result.error_message) == (factories.SOME_TEXT, "why")
    assert (result.sender, result.recipient, result.posted_by) == (alice.agent, bob.agent, bob.agent)
    assert result.delivery == Result.Delivery.PENDING


def test_a_result_is_journalled_with_the_check_it_passed(alice, bob):
    lease = factories.leased_task(alice, bob)

    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))

    assert factories.life_of(lease.task) == ["a2a_task_sent", "a2a_task_leased", "a2a_result_posted"]
    (posted,) = factories.journal("a2a_result_posted")
    assert posted.fields["status"] == "ok"
    assert (posted.fields["lease_id"], posted.fields["attempt"]) == (str(lease.lease_id), 1)
    assert posted.fields["late_result"] is False
    check = factories.journal("capability_check")[-1]
    assert (check.fields["agent_id"], check.fields["passed"]) == (f"a2a-respond:{lease.task.uuid}", True)
    assert check.fields["required_actions"] == ["a2a.respond.alice@local"]
    assert check.task_id == lease.task.uuid


def test_content_is_kept_to_the_last_digit(alice, bob):
    blocks = [{"type": "json", "value": {"z": 1, "a": 10**30, "half": 0.5, "text": "ü\u2028"}}]

    result = factories.resolved_task(alice, bob, content=blocks)

    result.refresh_from_db()
    assert result.blocks == blocks
    assert list(result.blocks[0]["value"]) == ["z", "a", "half", "text"]


def test_an_unleased_task_accepts_a_result_and_is_withdrawn_from_the_queue(alice, bob):
    task = factories.sent_task(alice, bob)

    results.post_result(bob, factories.result_envelope(task))

    (posted,) = factories.journal("a2a_result_posted")
    assert (posted.fields["late_result"], posted.fields["lease_id"]) == (True, None)
    assert leasing.lease_tasks(bob) == []


def test_an_unknown_task_is_refused_before_any_check_and_journalled(mallory):
    task_id = uuid4()

    with pytest.raises(UnknownTaskError):
        results.post_result(mallory, factories.result_envelope(task_id))

    (event,) = AuditEvent.objects.all()
    assert (event.kind, event.task_id, event.seq) == ("a2a_result_rejected", task_id, None)
    assert event.fields == {"reason": "unknown_task"}


def test_a_foreign_task_is_refused_in_the_words_for_an_unknown_task(alice, bob, mallory):
    task_id = uuid4()
    with pytest.raises(UnknownTaskError) as absent:
        results.post_result(mallory, factories.result_envelope(task_id))
    factories.sent_task(alice, bob, id=task_id)

    with pytest.raises(UnknownTaskError) as foreign:
        results.post_result(mallory, factories.result_envelope(task_id))

    assert (absent.value.message, absent.value.ids) == (foreign.value.message, foreign.value.ids)
    first, second = factories.journal("a2a_result_rejected")
    assert first.fields == second.fields
    assert not Result.objects.exists()


def test_the_sender_cannot_answer_its_own_task(alice, bob):
    task = factories.sent_task(alice, bob)

    with pytest.raises(UnknownTaskError):
        results.post_result(alice, factories.result_envelope(task))


def test_people_cannot_answer_tasks(alice, bob, olga):
    task = factories.sent_task(alice, bob)

    with pytest.raises(CapabilityMissingError):
        results.post_result(olga, factories.result_envelope(task))

    assert not Result.objects.exists()


def test_a_result_without_a_grant_is_refused_and_leaves_its_check(alice, mallory):
    lease = factories.leased_task(alice, mallory)

    with pytest.raises(CapabilityMissingError):
        results.post_result(mallory, factories.result_envelope(lease.task, lease_id=lease.lease_id))

    assert Lease.objects.get().ended_at is None
    assert not Result.objects.exists()
    assert factories.last_event().kind == "capability_check"
    assert factories.last_event().fields["passed"] is False
    assert factories.last_event().fields["missing_actions"] == ["a2a.respond.alice@local"]


def test_a_grant_pinned_to_another_task_is_refused_and_journalled(alice):
    carol = factories.agent("carol")
    factories.grant(carol, "a2a.respond.*", scope={"version": 1, "task_id": str(uuid4())})
    task = factories.sent_task(alice, carol)

    with pytest.raises(CapabilityScopeMismatchError):
        results.post_result(carol, factories.result_envelope(task))

    assert not Result.objects.exists()
    assert factories.last_event().kind == "capability_scope_rejected"
    assert factories.last_event().fields["agent_id"] == f"a2a-respond:{task.uuid}"
    assert factories.last_event().fields["action"] == "a2a.respond.alice@local"


def test_a_fenced_off_holder_cannot_resolve(alice, bob):
    stale = factories.leased_task(alice, bob)
    leasing.release(bob, stale.task.uuid, reason="again")
    (live,) = leasing.lease_tasks(bob)

    with pytest.raises(LeaseMismatchError) as refusal:
        results.post_result(bob, factories.result_envelope(stale.task, lease_id=stale.lease_id))

    assert refusal.value.ids["expected_lease_id"] == str(stale.lease_id)
    assert refusal.value.ids["actual_lease_id"] == str(live.lease_id)
    live.refresh_from_db()
    assert live.ended_at is None
    assert not Result.objects.exists()
    assert factories.last_event().kind == "a2a_result_rejected"
    assert factories.last_event().fields == {"reason": "lease_mismatch"}


def test_a_result_with_a_lease_id_is_refused_for_a_queued_task(alice, bob):
    lease = factories.leased_task(alice, bob)
    leasing.release(bob, lease.task.uuid, reason="again")

    with pytest.raises(LeaseMismatchError) as refusal:
        results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))

    assert refusal.value.ids["actual_lease_id"] is None


def test_a_late_result_without_a_fence_withdraws_the_queued_copy(alice, bob):
    lease = factories.leased_task(alice, bob)
    leasing.release(bob, lease.task.uuid, reason="again")

    results.post_result(bob, factories.result_envelope(lease.task))

    assert factories.last_event().fields["late_result"] is True
    assert Task.objects.get().state == Task.State.RESOLVED


def test_the_identical_result_again_makes_no_second_row(alice, bob):
    first = factories.resolved_task(alice, bob)
    rows = factories.journal_length()

    again = results.post_result(bob, factories.result_envelope(first.task))

    assert again == first
    assert factories.journal_length() == rows


def test_the_identical_result_is_recognised_under_its_ended_lease(alice, bob):
    lease = factories.leased_task(alice, bob)
    envelope = factories.result_envelope(lease.task, lease_id=lease.lease_id)

    assert results.post_result(bob, envelope) == results.post_result(bob, envelope)


def test_a_result_with_reordered_keys_is_the_same_result(alice, bob):
    result = factories.resolved_task(alice, bob, content=[{"type": "json", "value": {"a": 1, "b": 2}}])

    again = factories.result_envelope(result.task, content=[{"value": {"b": 2, "a": 1}, "type": "json"}])

    assert results.post_result(bob, again) == result


@pytest.mark.parametrize(
    "change",
    [
        {"status": ResultStatus.PARTIAL},
        {"error_message": ""},
        {"content": []},
        {"content": [{"type": "text", "text": "other"}]},
    ],
)
def test_a_different_result_is_a_conflict_and_is_journalled(alice, bob, change):
    first = factories.resolved_task(alice, bob)
    before = Result.objects.values().get()

    with pytest.raises(ResultConflictError):
        results.post_result(bob, factories.result_envelope(first.task, **change))

    assert Result.objects.values().get() == before
    assert factories.last_event().kind == "a2a_result_rejected"
    assert factories.last_event().fields == {"reason": "result_conflict"}


@pytest.mark.parametrize(("first", "second"), [(1, True), (0, False), (1, 1.0)])
def test_results_that_differ_in_the_type_of_a_value_conflict(alice, bob, first, second):
    result = factories.resolved_task(alice, bob, content=[{"type": "json", "value": first}])

    with pytest.raises(ResultConflictError):
        results.post_result(bob, factories.result_envelope(result.task, content=[{"type": "json", "value": second}]))


def test_a_cancelled_task_accepts_no_result(alice, bob):
    lease = factories.leased_task(alice, bob)
    sending.cancel(alice, lease.task.uuid)

    with pytest.raises(AlreadyResolvedError, match="cancelled"):
        results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))

    assert Result.objects.get().status == Result.Status.ERROR
    assert factories.last_event().fields == {"reason": "already_resolved"}


def test_a_forced_error_accepts_no_result(alice, bob):
    lease = factories.leased_task(alice, bob)
    repair.force_error(Caller.command_line(), lease.task.uuid, reason="stuck", message="worker lost")

    with pytest.raises(AlreadyResolvedError):
        results.post_result(bob, factories.result_envelope(lease.task))

    assert Result.objects.get().error_message == "worker lost"


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"content": [{"type": "text"}]}, "content.0.text"),
        ({"content": [*factories.SOME_TEXT, {"type": "video"}]}, "content.1.type"),
        ({"error_message": "nul \x00"}, "error_message"),
    ],
)
def test_an_invalid_result_is_refused_with_its_place(alice, bob, fields, path):
    lease = factories.leased_task(alice, bob)

    with pytest.raises(InvalidRequestError) as refusal:
        results.post_result(bob, factories.result_envelope(lease.task, **fields))

    assert list(refusal.value.fields) == [path]
    assert Lease.objects.get().ended_at is None


@pytest.mark.parametrize("status", ["cancelled", "expired", "bogus", None, 7])
def test_a_result_with_a_status_of_the_hub_alone_is_refused(alice, bob, status):
    lease = factories.leased_task(alice, bob)

    with pytest.raises(InvalidRequestError) as refusal:
        results.post_result(bob, factories.result_envelope(lease.task, status=status))

    assert list(refusal.value.fields) == ["status"]
    assert not Result.objects.exists()
