"""A task whose time is up reads as expired at the first look, through every door that shows one task."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from mailbox.dialects.marianne.inbox import A2AInbox
from mailbox.models import Task
from mailbox.verbs.agents import public_routes
from mailbox.words.times import epoch_ms
from tests.support import factories, yeoman
from tests.support.api import Api

pytestmark = pytest.mark.django_db

NOW = datetime(2035, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def by_covenant_entry(alice, olga, task_id):
    return Api(alice).get(f"/a2a/tasks/{task_id}/entry").json()["entry"]["outcome"]


def by_covenant_result(alice, olga, task_id):
    return Api(alice).get(f"/a2a/tasks/{task_id}/result").json()["result"]["error_message"]


def by_corvid(alice, olga, task_id):
    return Api(alice).get(f"/a2a/tasks/{task_id}").json()["messages"][-1]["parts"][0]["text"]


def by_corvid_route(alice, olga, task_id):
    route = public_routes.add(olga, alice.agent, rate_limit=100)
    shown = yeoman.Peer(prefix=f"/p/{route.token}").get(f"/a2a/tasks/{task_id}").json()
    return shown["messages"][-1]["parts"][0]["text"]


def by_marianne(alice, olga, task_id):
    return Api(alice).get(f"/a2a/inboxes/bob/tasks/{task_id}").json()["task"]["failure_reason"]


def by_marianne_in_process(alice, olga, task_id):
    shown = A2AInbox("job-b", "bob").get_task(str(task_id))
    assert shown is not None
    return shown.failure_reason


def by_yeoman_api(alice, olga, task_id):
    return yeoman.Peer(alice).get(f"/api/v1/tasks/{task_id}").json()["result"]["error"]


def by_yeoman_result(alice, olga, task_id):
    return yeoman.Peer(alice).send("a2a:result_query", {"task_id": str(task_id)})["result"]["error"]


def by_yeoman_status(alice, olga, task_id):
    return yeoman.Peer(alice).send("a2a:status_query", {"task_id": str(task_id)})["data"]["result"]["error"]


def by_yeoman_batch(alice, olga, task_id):
    shown = yeoman.Peer(alice).send("a2a:status_query_batch", {"task_ids": [str(task_id)]})
    return shown["statuses"][str(task_id)]["result"]["error"]


DOORS = [
    by_covenant_entry,
    by_covenant_result,
    by_corvid,
    by_corvid_route,
    by_marianne,
    by_marianne_in_process,
    by_yeoman_api,
    by_yeoman_result,
    by_yeoman_status,
    by_yeoman_batch,
]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("is_leased", [False, True], ids=["past its deadline", "past its work timeout"])
def test_a_task_whose_time_is_up_is_shown_as_expired(door, is_leased, alice, bob, olga):
    with time_machine.travel(NOW, tick=False) as clock:
        if is_leased:
            task = factories.leased_task(alice, bob, work_timeout=MINUTE).task
        else:
            task = factories.sent_task(alice, bob, deadline_ms=epoch_ms(NOW + MINUTE))
        clock.shift(MINUTE)

        shown = door(alice, olga, task.uuid)

    assert shown in ("expired", "Task timed out" if is_leased else "deadline exceeded")
    assert Task.objects.get(pk=task.pk).outcome == "expired"
    assert factories.life_of(task)[-1] == "a2a_task_expired"
