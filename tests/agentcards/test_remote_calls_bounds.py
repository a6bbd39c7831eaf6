"""Interrupted calls to remote agents, and the limits of calls."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agentcards import profiles, remote_calls
from agentcards.models import RemoteCall
from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.life import sending
from mailbox.models import Lease
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from tests.support import factories
from tests.support.remote_rounds import claim_all, look_all, result_of, submit_all, take_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]


def test_a_call_cut_off_before_the_remote_task_is_known_stays_leased(remote, rita, alice, olga, now):
    task = factories.sent_task(alice, rita, intent_text="work")
    take_all()
    now.shift(timedelta(hours=1))

    assert (submit_all(), look_all()) == ([], [])
    assert remote.requests == []
    repair.requeue(olga, task.uuid, reason="the carrier died", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED)
    submit_all()
    look_all()
    assert (result_of(task).status, len(remote.bodies)) == ("ok", 1)
    assert Lease.objects.filter(task=task).count() == 2


def test_another_carrier_polls_on_for_a_dead_carrier_without_submitting_again(remote, rita, alice, now):
    remote.looks = 1
    task = factories.sent_task(alice, rita, intent_text="work")
    submit_all()
    died_looking = claim_all()
    now.shift(remote_calls.LOOK_LASTS)

    look_all()
    now.shift(3)
    look_all()

    assert len(died_looking) == 1
    assert result_of(task).status == "ok"
    assert len(remote.bodies) == 1


def test_only_one_carrier_can_claim_a_due_poll(remote, rita, alice):
    factories.sent_task(alice, rita, intent_text="never")
    submit_all()
    (one,) = RemoteCall.objects.all()
    (other,) = RemoteCall.objects.all()
    until = timezone.now() + timedelta(seconds=15)

    assert [one.claim(until), other.claim(until)] == [True, False]


def test_a_remote_task_is_no_longer_polled_after_its_lease_ended(remote, rita, alice, now):
    task = factories.sent_task(alice, rita, intent_text="never")
    submit_all()
    sending.cancel(alice, task.uuid, reason="changed my mind")

    remote_calls.forget_ended()
    now.shift(3)

    assert look_all() == []
    assert task.leases.get().end == "cancel"


def test_a_remote_result_after_the_end_of_the_lease_changes_nothing(remote, rita, alice):
    task = factories.sent_task(alice, rita, intent_text="work")
    submit_all()
    (call,) = claim_all()
    sending.cancel(alice, task.uuid, reason="changed my mind")

    remote_calls.look(call)

    assert result_of(task).error_message == "cancelled by the sender: changed my mind"


def test_a_remote_agent_gets_at_most_the_configured_number_of_tasks_at_once(remote, rita, alice, settings):
    settings.A2A_REMOTE_CONCURRENCY = 2
    for number in range(5):
        factories.sent_task(alice, rita, intent_text=f"never {number}")

    assert [len(submit_all()), len(submit_all())] == [2, 0]
    assert [body["params"]["message"] for body in remote.bodies] == ["never 0", "never 1"]


def test_interrupted_submissions_stop_counting_towards_the_limit(remote, rita, alice, settings, now):
    settings.A2A_REMOTE_CONCURRENCY = 1
    factories.sent_task(alice, rita)
    factories.sent_task(alice, rita)
    take_all()

    assert submit_all() == []
    now.shift(RemoteCall.SUBMISSION_LASTS + timedelta(seconds=1))
    assert len(submit_all()) == 1


def test_a_paused_remote_agent_gets_no_tasks(remote, rita, alice):
    factories.sent_task(alice, rita)
    registration.pause_agent(Caller.command_line(), factories.row_of(rita), reason="maintenance")

    assert submit_all() == []


def test_tasks_of_local_agents_are_not_submitted(remote, rita, alice, bob):
    factories.sent_task(alice, bob)

    assert submit_all() == []


def test_an_agent_whose_remote_url_was_removed_leases_its_tasks_itself(remote, rita, alice):
    profiles.update_profile(Caller.command_line(), factories.row_of(rita), {"remote_url": ""})
    factories.sent_task(alice, rita)

    assert submit_all() == []


@pytest.mark.parametrize(("depth", "told"), [(1, 2), (2, 3), (None, None), (0, None), ("1", None), (True, None)])
def test_the_hub_adds_itself_to_the_depth_it_sends(remote, rita, alice, depth, told):
    factories.sent_task(alice, rita, metadata={} if depth is None else {"depth": depth})

    submit_all()

    assert remote.bodies[0]["params"].get("depth") == told


@pytest.mark.parametrize("depth", [3, 10])
def test_a_task_beyond_the_depth_limit_is_not_submitted(remote, rita, alice, depth):
    task = factories.sent_task(alice, rita, metadata={"depth": depth})

    submit_all()

    error = f"Invocation depth limit exceeded: {depth} agents have passed it on"
    assert (result_of(task).status, result_of(task).error_message) == ("error", error)
    assert remote.requests == []
