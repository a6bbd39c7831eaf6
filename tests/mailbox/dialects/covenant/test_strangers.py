"""A stranger learns nothing, not even that an id exists: every byte of the answer is the same."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from mailbox.models import Task
from mailbox.verbs.life import leasing, results
from tests.support import factories
from tests.support.api import Api, schema

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

HEADERS = {"X-Request-Id": "same"}
ROUTES = {
    "GET /a2a/tasks/TASK/entry": None,
    "GET /a2a/tasks/TASK/result": None,
    "GET /a2a/tasks/TASK/tree": None,
    "GET /a2a/tasks/TASK/timeline": None,
    "GET /a2a/tasks/TASK/messages": None,
    "GET /a2a/tasks/TASK/artifacts": None,
    "POST /a2a/tasks/TASK/lease": {},
    "POST /a2a/tasks/TASK/messages": {"content": "more"},
    "POST /a2a/tasks/TASK/release": {"reason": "r"},
    "POST /a2a/tasks/TASK/heartbeat": {},
    "POST /a2a/tasks/TASK/cancel": {},
    "POST /a2a/tasks/TASK/updates": {"updates": [{"message": "half way"}]},
    "POST /a2a/results": {"task_id": "TASK", "status": "ok"},
    "POST /a2a/results/ack": {"task_ids": ["TASK"]},
    "POST /a2a/results/next": {"ack": "TASK"},
    "POST /a2a/repair": {
        "task_id": "TASK",
        "command": {"action": "requeue", "duplicate_risk": "operator_accepted"},
        "reason": "r",
    },
}
STATES = ["queued", "in flight", "resolved", "delivered"]


def told(caller, route, task_id):
    """Return all of the answer: status, headers, body."""
    method, _, path = route.replace("TASK", str(task_id)).partition(" ")
    body = ROUTES[route]
    raw = None if body is None else json.dumps(body).replace("TASK", str(task_id)).encode()
    answer = caller.call(method, path, raw, headers=HEADERS)
    return answer.status_code, dict(answer.headers), answer.content


def bring_to(state, alice, bob, task_id):
    task = factories.sent_task(alice, bob, id=task_id)
    if state != "queued":
        leasing.lease_tasks(bob)
    if state in ("resolved", "delivered"):
        results.post_result(bob, factories.result_envelope(task))
    if state == "delivered":
        results.drain_results(alice)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("route", ROUTES)
def test_a_foreign_task_answers_like_an_absent_task(alice, bob, mallory, route, state):
    task_id = uuid4()
    stranger = Api(mallory)
    absent = told(stranger, route, task_id)
    bring_to(state, alice, bob, task_id)
    before = Task.objects.values().get()

    foreign = told(stranger, route, task_id)

    assert foreign == absent
    assert foreign[0] in (403, 404)
    assert Task.objects.values().get() == before


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("route", ROUTES)
def test_a_stranger_with_grants_cannot_tell_foreign_tasks_from_absent_ones(alice, bob, route, state):
    task_id = uuid4()
    curious = factories.agent("eve", "a2a.respond.*", "a2a.repair.requeue", "a2a.send.*")
    stranger = Api(curious)
    absent = told(stranger, route, task_id)
    bring_to(state, alice, bob, task_id)

    assert told(stranger, route, task_id) == absent
    assert absent[0] == 404


@pytest.mark.parametrize("scope", ["peer_pubkey_b58", "lease_id"])
def test_a_pinned_grant_reveals_no_foreign_task(alice, bob, scope):
    task_id = uuid4()
    curious = factories.agent("eve")
    pin = factories.row_of(alice).pubkey if scope == "peer_pubkey_b58" else str(uuid4())
    factories.grant(curious, "a2a.repair.requeue", scope={"version": 1, scope: pin})
    stranger, route = Api(curious), "POST /a2a/repair"
    absent = told(stranger, route, task_id)
    bring_to("in flight", alice, bob, task_id)

    assert told(stranger, route, task_id) == absent


def test_every_route_that_names_a_task_is_tried_here():
    tried = {route.partition(" ")[2].replace("TASK", "{task_id}") for route in ROUTES}
    named = {path for path in schema()["paths"] if path.startswith("/a2a/tasks/{task_id}/")}

    assert named <= tried


def test_foreign_and_absent_tasks_have_the_same_row_in_the_journal(alice, bob, mallory):
    stranger = Api(mallory)
    told(stranger, "POST /a2a/results", uuid4())
    told(stranger, "POST /a2a/results", factories.sent_task(alice, bob).uuid)

    first, second = factories.journal("a2a_result_rejected")
    assert (first.fields, first.actor, first.seq) == (second.fields, second.actor, second.seq)
