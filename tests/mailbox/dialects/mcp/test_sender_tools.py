"""The tools of a sender: repeats, lists, results."""

from datetime import timedelta
from uuid import uuid4

import pytest

from mailbox.access.callers import Caller, Role
from mailbox.inspection import lists
from mailbox.models import Task
from mailbox.upkeep import compaction
from tests.support import factories
from tests.support.mcp import held, sent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bob")]


def test_a_task_that_is_read_shows_its_conversation(sender, worker):
    task_id = sent(sender)
    lease = held(worker)
    worker.tool("report_progress", **lease, fraction=0.25, note="walls", message="I begin")

    seen = sender.tool("read_task", task_id=task_id)

    [said] = seen["messages"]
    assert (said["role"], said["content"][0]["text"]) == ("agent", "I begin")
    assert (said["fraction"], said["note"]) == (0.25, "walls")
    assert seen["earlier_messages"] is False
    assert [row["actor"] for row in seen["timeline"]] == ["alice@local", "bob@local", "bob@local"]


def test_a_long_timeline_has_pages(sender, worker, monkeypatch):
    monkeypatch.setattr("mailbox.dialects.mcp.tools.EVENTS", 1)
    task_id = sent(sender)
    held(worker)

    first = sender.tool("read_task", task_id=task_id)
    second = sender.tool("read_task", task_id=task_id, timeline_cursor=first["timeline_next_cursor"])

    assert [page["timeline"][0]["kind"] for page in (first, second)] == ["a2a_task_sent", "a2a_task_leased"]


def test_a_repeat_of_a_task_that_was_deleted_says_so(sender, worker):
    task_id = str(uuid4())
    sent(sender, id=task_id)
    worker.tool("answer_task", **held(worker), content="done")
    compaction.compact(Caller.command_line(), compaction.Retention(delivered=timedelta(0)))
    assert not Task.objects.exists()

    again = sender.tool("send_task", recipient="bob", text="paint a house", id=task_id)

    assert (again["compacted"], again["outcome"]) == (True, "ok")


def test_the_list_of_tasks_has_sides_states_and_pages(sender, worker, alice, bob):
    own = [sent(sender, f"task {number}") for number in range(3)]
    factories.grant(bob, "a2a.send.*")
    other = str(factories.sent_task(bob, alice).uuid)
    factories.sent_task(factories.agent("carol", "a2a.send.*"), bob)
    held(worker)

    def ids(**arguments):
        return [task["id"] for task in sender.tool("list_tasks", **arguments)["tasks"]]

    assert ids() == [other, *reversed(own)]
    assert ids(side="sent") == list(reversed(own))
    assert ids(side="received") == [other]
    assert ids(state="in_flight") == [own[0]]
    first = sender.tool("list_tasks", limit=3)
    assert [task["id"] for task in sender.tool("list_tasks", cursor=first["next_cursor"])["tasks"]] == [own[0]]


def test_a_task_to_oneself_is_listed_once(sender, alice):
    factories.sent_task(alice, alice)

    assert len(sender.tool("list_tasks")["tasks"]) == 1


def test_people_list_the_tasks_of_all_agents(alice, bob):
    factories.sent_task(alice, bob)

    page = lists.all_tasks(factories.person("ada", Role.VIEWER), side=lists.Side.RECEIVED)

    assert [entry.task.sender for entry in page.items] == [alice.agent]
