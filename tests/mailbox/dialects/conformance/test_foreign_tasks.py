"""A task of other parties is not there: every byte of an answer is that for an id that no task ever had."""

from uuid import uuid4

import pytest

from agentcards import official_agents
from tests.mailbox.dialects.conformance.foreign_tasks import (
    everything_stored,
    in_each_state,
    learns_nothing,
    told,
    told_of_nothing,
)
from tests.mailbox.dialects.conformance.registry import DOORS, parametrized
from tests.mailbox.dialects.conformance.routes import ROUTES, every_route
from tests.support import factories
from tests.support.api import template_of
from tests.support.doors import HttpDoor, fields_read_by

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

NAMING = [door for door in DOORS if issubclass(door, HttpDoor) and vars(door).get("of_tasks")]
doors_of_tasks = parametrized(NAMING)
EVERYTHING = ("a2a.send.*", "a2a.respond.*", "a2a.repair.requeue")


@pytest.fixture(autouse=True)
def _equal_requests_take_equally_many_queries(monkeypatch, unlimited):
    monkeypatch.setattr(official_agents, "KEPT_FOR", 3600)
    official_agents.forget()
    yield
    official_agents.forget()


@pytest.fixture
def tasks(door, alice, bob):
    return in_each_state(alice, bob, **fields_read_by(door))


@doors_of_tasks
@pytest.mark.parametrize("grants", [(), EVERYTHING], ids=["without grants", "with grants"])
def test_a_foreign_task_is_answered_byte_for_byte_like_a_task_that_never_was(door, tasks, grants):
    stranger = door(factories.agent("mallory", *grants))
    before = everything_stored()

    assert [request for request in door.of_tasks if not learns_nothing(stranger, request, tasks)] == []
    assert everything_stored() == before


@doors_of_tasks
def test_a_party_learns_more_by_each_of_these_requests_than_of_an_absent_task(door, tasks, alice, bob, olga):
    parties = [door(alice), door(bob), door(olga)]

    for request in door.of_tasks:
        absent = [told_of_nothing(party, request)[:3] for party in parties]
        seen = (told(party, request, task.uuid, task.context_id or "-")[:3] for task in tasks for party in parties)
        assert any(answer not in absent for answer in seen), request


@doors_of_tasks
def test_a_recipient_reads_no_id_that_a_sender_has_for_its_conversation(door, alice, bob):
    tasks = in_each_state(alice, bob, **fields_read_by(door) | {"context_id": "talk of alice"})

    for request in door.of_tasks:
        answers = [told(door(bob), request, task.uuid, str(uuid4())) for task in tasks]
        assert [answer for answer in answers if "talk of alice" in answer[2]] == [], request


@every_route
def test_every_route_that_names_a_task_is_tried(door):
    alike = [one for one in NAMING if one.urlconf == door.urlconf]
    tried = {template_of(request.path.partition("?")[0]) for one in alike for request in one.of_tasks}

    assert {route.template for route in ROUTES[door] if "{task_id}" in route.template} <= tried
