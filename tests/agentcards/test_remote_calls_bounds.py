"""What stops a carrier, and what it leaves behind."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agentcards import profiles, remote_calls
from agentcards.models import RemoteCall
from mailbox.gate.callers import Caller
from mailbox.models import Lease
from mailbox.verbs.agents import registration
from mailbox.verbs.life import sending
from mailbox.verbs.repairs import repair
from mailbox.verbs.repairs.repair import DuplicateRisk
from tests.support import factories
from tests.support.remote_rounds import claim_all, look_all, result_of, submit_all, take_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]


def test_a_carrier_that_dies_before_it_knows_the_remote_task_leaves_the_lease_to_operators(
    remote, rita, alice, olga, now
):
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


def test_a_carrier_that_dies_later_is_succeeded_by_another_that_submits_nothing(remote, rita, alice, now):
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


def test_two_carriers_never_take_the_same_look(remote, rita, alice):
    factories.sent_task(alice, rita, intent_text="never")
    submit_all()
    (one,) = RemoteCall.objects.all()
    (other,) = RemoteCall.objects.all()
    until = timezone.now() + timedelta(seconds=15)

    assert [one.claim(until), other.claim(until)] == [True, False]


def test_a_lease_that_someone_ended_is_followed_no_longer(remote, rita, alice, now):
    task = factories.sent_task(alice, rita, intent_text="never")
    submit_all()
    sending.cancel(alice, task.uuid, reason="changed my mind")

    remote_calls.forget_ended()
    now.shift(3)

    assert look_all() == []
    assert task.leases.get().end == "cancel"


def test_a_result_that_comes_after_the_lease_s_end_changes_nothing(remote, rita, alice):
    task = factories.sent_task(alice, rita, intent_text="work")
    submit_all()
    (call,) = claim_all()
    sending.cancel(alice, task.uuid, reason="changed my mind")

    remote_calls.look(call)

    assert result_of(task).error_message == "cancelled by the sender: changed my mind"


def test_a_remote_agent_has_no_more_at_once_than_the_setting_says(remote, rita, alice, settings):
    settings.A2A_REMOTE_CONCURRENCY = 2
    for number in range(5):
        factories.sent_task(alice, rita, intent_text=f"never {number}")

    assert [len(submit_all()), len(submit_all())] == [2, 0]
    assert [body["params"]["message"] for body in remote.bodies] == ["never 0", "never 1"]


def test_calls_cut_off_while_submitting_take_no_one_s_place(remote, rita, alice, settings, now):
    settings.A2A_REMOTE_CONCURRENCY = 1
    factories.sent_task(alice, rita)
    factories.sent_task(alice, rita)
    take_all()

    assert submit_all() == []
    now.shift(RemoteCall.GIVING_LASTS + timedelta(seconds=1))
    assert len(submit_all()) == 1


def test_a_paused_remote_agent_is_given_nothing(remote, rita, alice):
    factories.sent_task(alice, rita)
    registration.pause_agent(Caller.command_line(), factories.row_of(rita), reason="maintenance")

    assert submit_all() == []


def test_agents_that_lease_for_themselves_are_left_alone(remote, rita, alice, bob):
    factories.sent_task(alice, bob)

    assert submit_all() == []


def test_an_agent_can_come_home(remote, rita, alice):
    profiles.update_profile(Caller.command_line(), factories.row_of(rita), {"remote_url": ""})
    factories.sent_task(alice, rita)

    assert submit_all() == []


@pytest.mark.parametrize(("depth", "told"), [(1, 2), (2, 3), (None, None), (0, None), ("1", None), (True, None)])
def test_the_hub_counts_itself_among_those_that_pass_a_task_on(remote, rita, alice, depth, told):
    factories.sent_task(alice, rita, metadata={} if depth is None else {"depth": depth})

    submit_all()

    assert remote.bodies[0]["params"].get("depth") == told


@pytest.mark.parametrize("depth", [3, 10])
def test_a_task_that_went_too_far_is_passed_on_no_further(remote, rita, alice, depth):
    task = factories.sent_task(alice, rita, metadata={"depth": depth})

    submit_all()

    error = f"Invocation depth limit exceeded: {depth} agents have passed it on"
    assert (result_of(task).status, result_of(task).error_message) == ("error", error)
    assert remote.requests == []
