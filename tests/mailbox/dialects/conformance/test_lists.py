"""Every list of every dialect is read to its end by its cursors, and shows a stranger no task."""

from contextlib import suppress
from typing import Any

import pytest
from django.utils import timezone

from agentcards.models import AgentCard
from agentcards.registry import CardRegistry
from mailbox.access.callers import Role
from mailbox.life import leasing, results
from mailbox.models import Peer, Task
from tests.mailbox.dialects.conformance.registry import DOORS, parametrized
from tests.mailbox.dialects.conformance.routes import ROUTES, every_route
from tests.support import factories
from tests.support.api import template_of
from tests.support.doors import TASK, HttpDoor, Refused, fields_read_by

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]

LISTING = [door for door in DOORS if issubclass(door, HttpDoor) and vars(door).get("lists")]
doors_with_lists = parametrized(LISTING)
CURSORS = {"cursor", "pageToken", "page_token"}
FEW = 3  # of each kind of row


def made_by_work(alice, bob, fields):
    """Store tasks in each state, and results that were delivered, wait, and are kept for repeats."""
    for number in range(FEW):
        factories.drained_task(alice, bob)
        work = factories.leased_task(alice, bob, idempotency=factories.idempotent(f"k-{number}"))
        results.post_result(bob, factories.result_envelope(work.task))
        factories.PushDeliveryFactory.create(sender=alice.agent)
        factories.interrupted_task(alice, bob)
    tasks = [factories.sent_task(alice, bob, **fields) for _ in range(2 * FEW)]
    leasing.lease_tasks(bob, limit=FEW)
    return tasks[-1]


def made_by_people(alice):
    """Store agents, grants, keys, people, routes, peers and cards."""
    for number in range(FEW):
        agent = factories.agent(f"extra{number}", "a2a.send.*")
        factories.key_of(agent)
        factories.route(agent)
        factories.person(f"person{number}", Role.VIEWER)
        now = timezone.now()
        Peer.objects.create(agent=alice.agent, peer_id=f"p{number}", first_seen_at=now, last_seen_at=now)
        CardRegistry().register(f"job-{number}", AgentCard(name=f"extra{number}", description="d"))


@pytest.fixture
def readers(door, alice, bob):
    """Store some of everything; return the readers of lists by name."""
    task = made_by_work(alice, bob, fields_read_by(door))
    made_by_people(alice)
    for _ in range(FEW):
        leasing.lease_task(bob, task.uuid)
        leasing.release(bob, task.uuid, reason="again")
    return {"alice": door(alice), "bob": door(bob), "ada": door(factories.person("ada", Role.ADMIN))}


def listings(door):
    newest = Task.objects.latest("pk").uuid
    return [one._replace(name=one.name.replace(TASK, str(newest))) for one in door.lists]


@doors_with_lists
def test_every_list_is_read_to_its_end_without_gap_or_repeat(door, readers):
    for one in listings(door):
        client = readers[one.reader]
        client.page(one)  # notes the use of the key
        whole = client.page(one, **{one.limit: one.most})[one.items]

        pages: list[list[Any]] = []
        cursor = None
        while not pages or cursor:
            page = client.page(one, **{one.limit: 2}, **({one.cursor: cursor} if cursor else {}))
            pages.append(page[one.items])
            cursor = page.get(one.following)

        assert [item for page in pages for item in page] == whole, one
        assert len(whole) >= FEW, one
        assert {len(page) for page in pages[:-1]} == {2}, one


@every_route
def test_every_list_with_a_cursor_is_tried(door):
    of_routes = [one for listing in LISTING for one in listing.lists if one.name.startswith("/")]
    tried = {template_of(one.name) for one in of_routes} | set(door.other_lists)
    reads = [route for route in ROUTES[door] if "GET" in route.methods]
    named = {route.template: {one["name"] for one in route.operation("GET").get("parameters", ())} for route in reads}

    assert {template for template, names in named.items() if names & CURSORS} <= tried


@doors_with_lists
def test_no_list_takes_a_wrong_limit_or_cursor(door, readers):
    for one in listings(door):
        wrong: list[dict[str, Any]] = [*({one.limit: value} for value in (0, one.most + 1, "x")), {one.cursor: "x"}]
        for query in wrong:
            with pytest.raises(Refused) as refusal:
                readers[one.reader].page(one, **query)
            assert refusal.value.status in (400, 422), (one, query)


@doors_with_lists
def test_no_list_takes_the_cursor_of_another_list(door, readers):
    all_lists = listings(door)
    cursors = {one: readers[one.reader].page(one, **{one.limit: 1})[one.following] for one in all_lists}

    for one in all_lists:
        for other in all_lists:
            if other is not one:
                with pytest.raises(Refused) as refusal:
                    readers[one.reader].page(one, **{one.cursor: cursors[other]})
                assert refusal.value.status in (400, 422), (one, other)


@doors_with_lists
def test_no_list_shows_a_stranger_a_task(door, readers, mallory):
    foreign = [str(uuid) for uuid in Task.objects.values_list("uuid", flat=True)]
    stranger = door(mallory)

    for one in listings(door):
        with suppress(Refused):
            stranger.page(one)
        shown = stranger.response.content.decode()
        assert [task_id for task_id in foreign if task_id in shown and task_id not in one.name] == [], one
