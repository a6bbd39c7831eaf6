import uuid

import pytest

from mailbox.access.callers import Role
from mailbox.access.limits import rates
from mailbox.life import leasing, results
from mailbox.models import Lease, Task
from mailbox.upkeep import compaction
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

UNKNOWN_ID = uuid.UUID(int=7)


def path(lease, verb="requeue"):
    return f"/ops/leases/{lease.lease_id}/{verb}/"


def filled(browser, lease, verb="requeue", **fields):
    """Return the form as the page shows it, filled in."""
    chosen = {"posture": "operator_accepted"} if verb == "requeue" else {}
    return {**fields_of(browser.get(path(lease, verb))), "reason": "pod killed, INC-4412", **chosen, **fields}


def test_the_requeue_form_preselects_nothing(ana, alice, bob):
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent())

    assert " checked" not in ana.get(path(lease)).text


def test_the_idempotent_choice_needs_a_task_that_declares_it(ana, alice, bob):
    declared = factories.leased_task(alice, bob, idempotency=factories.idempotent())
    unsafe = factories.leased_task(alice, bob, idempotency=factories.unsafe())

    assert 'value="idempotent" disabled' not in squeezed(ana.get(path(declared)).text)
    assert 'value="idempotent" disabled' in squeezed(ana.get(path(unsafe)).text)
    assert ana.post(path(unsafe), filled(ana, unsafe, posture="idempotent")).status_code == 422


def test_a_requeue_queues_the_task_and_is_journalled_and_confirmed(ana, alice, bob):
    lease = factories.leased_task(alice, bob)

    response = ana.post(path(lease), filled(ana, lease), follow=True)

    assert response.redirect_chain == [(f"/ops/leases/{lease.lease_id}/", 303)]
    lease.task.refresh_from_db()
    assert lease.task.state == Task.State.QUEUED
    (applied,) = factories.journal(Kind.REPAIR_APPLIED)
    assert (applied.actor, applied.source) == ("user:ana", "dashboard")
    assert applied.fields["reason"] == "pod killed, INC-4412"
    assert applied.fields["lease_id"] == str(lease.lease_id)
    assert "Requeued. Attempt 1 stays recorded" in response.text
    assert f"Event #{applied.pk}" in response.text


@pytest.mark.parametrize(("message", "expected"), [("", "pod killed, INC-4412"), ("please resend", "please resend")])
def test_a_forced_error_sends_the_message_or_else_the_reason(ana, alice, bob, message, expected):
    lease = factories.leased_task(alice, bob)

    response = ana.post(path(lease, "force-error"), filled(ana, lease, "force-error", message=message))

    assert response.status_code == 303
    assert results.drain_results(alice)[0].error_message == expected


@pytest.mark.parametrize("reason", ["", "   ", "...!?", "x" * 501])
def test_an_invalid_reason_is_refused_and_kept_in_the_form(ana, alice, bob, reason):
    lease = factories.leased_task(alice, bob)

    response = ana.post(path(lease), filled(ana, lease, reason=reason))

    assert response.status_code == 422
    assert 'aria-describedby="reason-problem"' in response.text
    assert f'value="{reason.strip()}"' in response.text or f'value="{reason}"' in response.text
    assert factories.journal(Kind.REPAIR_APPLIED) == []


def test_a_requeue_without_a_chosen_duplicate_risk_is_refused(ana, alice, bob):
    lease = factories.leased_task(alice, bob)

    assert ana.post(path(lease), filled(ana, lease, posture="")).status_code == 422


def test_a_form_sent_twice_repairs_once_and_gets_the_same_answer(ana, alice, bob):
    lease = factories.leased_task(alice, bob)
    form = filled(ana, lease)

    first, second = ana.post(path(lease), form), ana.post(path(lease), form)

    assert (first.status_code, first["Location"]) == (second.status_code, second["Location"])
    assert len(factories.journal(Kind.REPAIR_APPLIED)) == 1
    assert factories.journal(Kind.REPAIR_REFUSED) == []


def test_a_form_interrupted_before_its_repair_repairs_when_sent_again(ana, alice, bob):
    lease = factories.leased_task(alice, bob)
    form = filled(ana, lease)
    with rates.once(f"form:{form['form_token']}"):
        pass

    assert ana.post(path(lease), form).status_code == 303
    assert ana.post(path(lease), form).status_code == 303
    assert len(factories.journal(Kind.REPAIR_APPLIED)) == 1


def test_the_second_operator_changes_nothing_and_sees_the_first_repair(ana, ben, alice, bob):
    lease = factories.leased_task(alice, bob)
    late = filled(ben, lease, reason="looks dead to me")
    ana.post(path(lease), filled(ana, lease))

    response = ben.post(path(lease), late)

    assert response.status_code == 409
    assert "Nothing was changed" in response.text
    assert "user:ana" in response.text
    assert "pod killed, INC-4412" in response.text
    assert "looks dead to me" in response.text
    assert "anyway" not in response.text
    assert len(factories.journal(Kind.REPAIR_APPLIED)) == 1
    assert [event.actor for event in factories.journal(Kind.REPAIR_REFUSED)] == ["user:ben"]


def test_a_task_leased_again_since_the_form_opened_is_left_alone(ana, ben, alice, bob):
    seen = factories.leased_task(alice, bob)
    late = filled(ben, seen)
    ana.post(path(seen), filled(ana, seen))
    (current,) = leasing.lease_tasks(bob)

    response = ben.post(path(seen), late)

    assert response.status_code == 409
    assert "changed after you opened the form" in response.text
    assert path(current) in response.text
    assert Lease.objects.get(pk=current.pk).ended_at is None
    carried = ben.get(path(current), {"reason": late["reason"]})
    assert 'value="pod killed, INC-4412"' in carried.text


def test_a_repair_of_a_task_resolved_meanwhile_is_refused(ana, alice, bob):
    lease = factories.leased_task(alice, bob)
    form = filled(ana, lease)
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))

    response = ana.post(path(lease), form)

    assert response.status_code == 409
    assert "Nothing left to repair" in response.text
    assert "answered" in response.text


def test_opening_the_form_of_an_ended_lease_is_a_conflict(ana, alice, bob):
    (lease,) = factories.resolved_task(alice, bob).task.leases.all()

    assert ana.get(path(lease)).status_code == 409


@pytest.mark.parametrize("verb", ["requeue", "force-error"])
def test_a_repair_of_an_unknown_lease_is_answered_with_410(ana, verb):
    for response in (ana.get(f"/ops/leases/{UNKNOWN_ID}/{verb}/"), ana.post(f"/ops/leases/{UNKNOWN_ID}/{verb}/", {})):
        assert response.status_code == 410
        assert str(UNKNOWN_ID) in response.text


@pytest.mark.parametrize("knows", ["the task", "only the lease"])
def test_a_compacted_lease_links_to_its_journal_rows(ana, alice, bob, knows):
    lease = factories.leased_task(alice, bob)
    form = filled(ana, lease)
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    results.drain_results(alice)
    results.ack_results(alice, [lease.task.uuid])
    compaction.compact(factories.person("adam", Role.ADMIN), factories.AT_ONCE)
    assert not Lease.objects.exists()

    response = ana.post(path(lease), form) if knows == "the task" else ana.get(f"/ops/leases/{lease.lease_id}/")

    assert response.status_code == 410
    assert f'href="/ops/audit/?q=task:{lease.task.uuid}"' in response.text
    assert "result acknowledged" in response.text


def test_the_forced_error_form_lists_the_child_tasks(ana, alice, bob):
    lease = factories.leased_task(alice, bob)
    parent = lease.task.uuid
    for number in range(6):
        factories.sent_task(alice, bob, intent_text=f"part {number}", parent=parent)
    factories.sent_task(alice, bob, intent_text="elsewhere")

    text = ana.get(path(lease, "force-error")).text

    assert "part 0" in text
    assert "part 5" not in text
    assert f'href="/ops/tasks/?q=parent:{parent}"' in text
    assert "elsewhere" not in text


def test_a_form_made_for_another_lease_changes_nothing(ana, alice, bob):
    one, other = factories.leased_task(alice, bob), factories.leased_task(alice, bob)

    response = ana.post(path(other), filled(ana, one))

    assert response.status_code == 400
    assert factories.journal(Kind.REPAIR_APPLIED) == []


def test_a_dialog_gets_only_the_panel_and_returns_to_its_page(ana, alice, bob):
    lease = factories.leased_task(alice, bob)
    dialog = {"hx-request": "true", "hx-current-url": f"http://testserver/ops/tasks/{lease.task.uuid}/"}

    form = ana.get(path(lease), headers=dialog)
    refused = ana.post(path(lease), {**filled(ana, lease), "reason": ""}, headers=dialog)
    done = ana.post(path(lease), filled(ana, lease), headers=dialog)

    assert "<html" not in form.text + refused.text
    assert refused.status_code == 422
    assert done["HX-Redirect"] == f"http://testserver/ops/tasks/{lease.task.uuid}/"


def test_a_repair_from_the_list_replaces_its_row_in_place(ana, alice, bob):
    lease = factories.leased_task(alice, bob)
    dialog = {"hx-request": "true", "hx-current-url": "http://testserver/ops/leases/?state=stale"}

    done = ana.post(path(lease), filled(ana, lease), headers=dialog)

    assert "HX-Redirect" not in done
    assert f'<tr id="lease-{lease.lease_id}" hx-swap-oob="true">' in done.text
    assert "Requeued" in done.text
    assert "Attempt 1 stays recorded" in done.text
    assert path(lease) not in done.text


def test_the_form_shows_the_equivalent_command(ana, alice, bob):
    lease = factories.leased_task(alice, bob)

    text = ana.get(path(lease)).text

    assert f"a2a task requeue {lease.task.uuid} --lease-id {lease.lease_id}" in text


def test_recent_reasons_are_suggested(ana, alice, bob):
    one, other = factories.leased_task(alice, bob), factories.leased_task(alice, bob)

    ana.post(path(one), filled(ana, one))

    assert '<option value="pod killed, INC-4412">' in ana.get(path(other)).text
