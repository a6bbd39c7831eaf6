from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine

from mailbox.access.agents import grants
from mailbox.access.callers import Caller, Role
from mailbox.inspection import lists, tasks, trees
from mailbox.inspection.lists import QueueFilter
from mailbox.life import leasing, results, sending
from mailbox.models import AuditEvent, Lease, Task
from mailbox.words.errors import UnknownTaskError
from mailbox.words.times import epoch_ms
from tests.support import factories

pytestmark = pytest.mark.django_db

MOMENT = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock():
    with time_machine.travel(MOMENT, tick=False) as clock:
        yield clock


def everything(look, *arguments, **narrowed):
    """Follow the cursors of a list to its end, two items at a time."""
    page = look(*arguments, limit=2, **narrowed)
    found = list(page.items)
    while page.next_cursor:
        page = look(*arguments, limit=2, cursor=page.next_cursor, **narrowed)
        assert page.items
        found += page.items
    return found


def tasks_in(entries):
    return [entry.task for entry in entries]


def test_the_queue_shows_queued_tasks_in_lease_order_then_leases_by_age(alice, bob, olga, clock):
    sent = []
    for _ in range(5):
        sent.append(factories.sent_task(alice, bob))
        clock.shift(timedelta(seconds=1))
    leasing.lease_tasks(bob, limit=2)
    clock.shift(timedelta(seconds=1))
    leasing.release(bob, sent[0].uuid, reason="later")

    queue = lists.queue(olga).items

    assert tasks_in(queue) == [*sent[2:], sent[0], sent[1]]
    assert [entry.lease is None for entry in queue] == [True] * 4 + [False]
    assert queue[-1].lease == Lease.objects.live().get()


@pytest.mark.parametrize(("limit", "shown"), [(1, 1), (2, 2), (3, 3), (4, 4), (10, 4)])
def test_a_limit_cuts_leases_before_queued_tasks(alice, bob, limit, shown):
    sent = [factories.sent_task(alice, bob) for _ in range(4)]
    leasing.lease_tasks(bob, limit=2)

    page = lists.queue(alice, limit=limit)

    assert tasks_in(page.items) == [*sent[2:], *sent[:2]][:shown]
    assert (page.next_cursor is None) == (limit >= 4)


def test_the_queue_lists_no_resolved_task(alice, bob):
    factories.resolved_task(alice, bob)

    assert lists.queue(alice).items == []
    assert lists.recent_tasks(alice).items == []
    assert lists.leases(bob).items == []


def test_cursors_lead_through_every_list_without_gap_or_repeat(alice, bob, olga, clock):
    queued = [factories.sent_task(alice, bob) for _ in range(7)]
    leases = leasing.lease_tasks(bob, limit=5)
    posted = [results.post_result(bob, factories.result_envelope(lease.task)) for lease in leases[:3]]

    assert tasks_in(everything(lists.queue, alice)) == [*queued[5:], *queued[3:5]]
    assert everything(lists.recent_tasks, alice) == queued[5:]
    assert everything(lists.recent_results, alice) == posted
    assert everything(lists.leases, bob) == leases[3:]
    assert everything(lists.recent_events, olga) == list(AuditEvent.objects.order_by("-pk"))
    assert [event.seq for event in everything(tasks.timeline, bob, queued[0].uuid)] == [1, 2, 3]
    assert [agent.display for agent in everything(lists.agents)] == ["alice@local", "bob@local"]
    assert [grant.subject.display for grant in everything(lists.grants, olga)] == ["bob@local", "alice@local"]


def test_a_list_continues_after_its_cursor_although_rows_left_it(alice, bob):
    sent = [factories.sent_task(alice, bob) for _ in range(4)]
    page = lists.recent_tasks(alice, limit=2)
    leasing.lease_tasks(bob, limit=2)

    assert lists.recent_tasks(alice, limit=2, cursor=page.next_cursor).items == sent[2:]


@pytest.mark.parametrize(("state", "shown"), [(Task.State.QUEUED, "queued"), (Task.State.IN_FLIGHT, "leased")])
def test_a_state_filter_narrows_to_that_state(alice, bob, state, shown):
    leased = factories.leased_task(alice, bob).task
    queued = factories.sent_task(alice, bob)

    found = everything(lists.queue, alice, QueueFilter(state=state))

    assert tasks_in(found) == [{"queued": queued, "leased": leased}[shown]]


def test_a_minimum_lease_age_drops_young_leases_alone(alice, bob, clock):
    old = factories.leased_task(alice, bob).task
    clock.shift(timedelta(seconds=60))
    factories.leased_task(alice, bob)
    queued = factories.sent_task(alice, bob)

    found = lists.queue(alice, QueueFilter(min_lease_age=timedelta(seconds=60))).items

    assert tasks_in(found) == [queued, old]
    assert tasks_in(lists.queue(alice, QueueFilter(min_lease_age=timedelta(days=9))).items) == [queued]


def test_a_deadline_filter_keeps_urgent_and_overdue_tasks(alice, bob, clock):
    now = epoch_ms(MOMENT)
    factories.sent_task(alice, bob)
    late = factories.sent_task(alice, bob, deadline_ms=now - 1)
    urgent = factories.sent_task(alice, bob, deadline_ms=now + 1000)
    factories.sent_task(alice, bob, deadline_ms=now + 1001)

    found = lists.queue(alice, QueueFilter(deadline_within=timedelta(seconds=1))).items

    assert tasks_in(found) == [late, urgent]


def test_a_deadline_filter_keeps_urgent_leased_tasks(alice, bob, clock):
    urgent = factories.leased_task(alice, bob, deadline_ms=epoch_ms(MOMENT) + 1)
    factories.leased_task(alice, bob)

    found = lists.queue(alice, QueueFilter(deadline_within=timedelta(seconds=1))).items

    assert tasks_in(found) == [urgent.task]


def test_filters_come_before_the_limit(alice, bob, mallory):
    for _ in range(3):
        factories.sent_task(alice, bob)
    hers = factories.sent_task(alice, mallory)

    assert lists.recent_tasks(mallory, limit=1).items == [hers]
    assert tasks_in(lists.queue(mallory, limit=1).items) == [hers]


def test_parties_see_their_tasks_and_strangers_see_no_task(alice, bob, mallory, olga):
    queued, leased = factories.sent_task(alice, bob), leasing.lease_tasks(bob)[0]
    factories.sent_task(alice, bob)

    for party in (alice, bob, olga, Caller.local()):
        assert tasks.task(party, queued.uuid).lease == leased
        assert len(lists.queue(party).items) == 2
        assert len(lists.recent_tasks(party).items) == 1
        assert len(tasks.timeline(party, queued.uuid).items) == 2
        assert tasks.result(party, queued.uuid) is None
    for look in (tasks.task, tasks.result, tasks.timeline, trees.tree):
        for task_id in (queued.uuid, uuid4()):
            with pytest.raises(UnknownTaskError):
                look(mallory, task_id)
    for listed in (lists.queue, lists.recent_tasks, lists.recent_results, lists.leases):
        assert listed(mallory).items == []


def test_only_the_sender_lists_a_pending_result(alice, bob, mallory, olga):
    result = factories.resolved_task(alice, bob)

    assert lists.recent_results(alice).items == lists.recent_results(olga).items == [result]
    assert lists.recent_results(bob).items == []
    assert lists.recent_results(mallory).items == []


def test_only_the_sender_lists_a_result_that_it_received_and_did_not_acknowledge(alice, bob, mallory, olga, clock):
    drained = []
    for _ in range(5):
        drained.append(factories.drained_task(alice, bob))
        clock.shift(timedelta(milliseconds=1))
    factories.resolved_task(alice, bob)
    results.ack_results(alice, [drained.pop(2).task.uuid])

    assert everything(lists.delivered_results, alice) == drained
    assert lists.delivered_results(olga).items == drained
    assert lists.delivered_results(bob).items == lists.delivered_results(mallory).items == []
    assert everything(lists.delivered_results, alice) == drained


def test_lists_change_nothing_and_are_not_journalled(alice, bob):
    task = factories.sent_task(alice, bob)
    before = (Task.objects.values().get(), factories.journal_length())

    lists.queue(bob)
    lists.recent_tasks(bob)
    tasks.task(bob, task.uuid)
    tasks.timeline(alice, task.uuid)
    trees.tree(alice, task.uuid)

    assert (Task.objects.values().get(), factories.journal_length()) == before


def test_a_drained_result_is_not_pending_but_stays_readable(alice, bob):
    result = factories.drained_task(alice, bob)

    assert lists.recent_results(alice).items == []
    for party in (alice, bob):
        assert tasks.result(party, result.task.uuid) == result


def test_only_the_holder_lists_a_lease(alice, bob, olga):
    lease = factories.leased_task(alice, bob)

    assert lists.leases(bob).items == [lease]
    assert lists.leases(alice).items == []
    assert lists.leases(olga).items == [lease]


def test_agents_read_their_own_events_and_people_read_all_events(alice, bob, mallory, olga):
    factories.resolved_task(alice, bob)

    assert {event.actor for event in lists.recent_events(alice, limit=100).items} == {"alice@local"}
    assert {event.actor for event in lists.recent_events(olga, limit=100).items} == {"alice@local", "bob@local"}
    assert lists.recent_events(mallory).items == []


def test_an_agent_lists_the_grants_that_it_holds_or_passed_on(alice, mallory, olga):
    passed_on = grants.grant(alice, factories.row_of(mallory), "a2a.send.bob@local")

    assert [grant.action for grant in lists.grants(alice).items] == ["a2a.send.bob@local", "a2a.send.*"]
    assert lists.grants(mallory).items == [passed_on]
    assert len(lists.grants(olga).items) == 2


def test_viewers_see_what_operators_see(alice, bob):
    viewer = factories.person("vera", Role.VIEWER)
    task = factories.sent_task(alice, bob)

    assert tasks.task(viewer, task.uuid).task == task
    assert tasks_in(lists.queue(viewer).items) == [task]


def test_a_timeline_lists_the_events_of_a_task_in_order(alice, bob):
    result = factories.drained_task(alice, bob)
    results.ack_results(alice, [result.task.uuid])

    events = tasks.timeline(alice, result.task.uuid).items

    assert [(event.seq, event.kind) for event in events] == [
        (1, "a2a_task_sent"),
        (2, "a2a_task_leased"),
        (3, "a2a_result_posted"),
        (4, "a2a_result_delivered"),
        (5, "a2a_result_acked"),
    ]


def test_an_operator_sees_a_cancelled_task_with_its_outcome(alice, bob, olga):
    task = factories.sent_task(alice, bob)
    sending.cancel(alice, task.uuid)

    assert tasks.task(olga, task.uuid).task.outcome == Task.Outcome.CANCELLED
