"""Lists of tasks: pages, filters, tokens."""

import json

import pytest

from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.inspection import official_tasks
from tests.support.a2a import OfficialClient
from tests.support.api import answered

pytestmark = pytest.mark.django_db


def test_a_page_has_the_newest_statuses_first_and_the_number_of_all_tasks(client, holder):
    sent = [client.send(f"task {number}")["id"] for number in range(5)]
    holder.take()

    page = client.rpc("ListTasks", {"pageSize": 4})
    last = client.rpc("ListTasks", {"pageSize": 4, "pageToken": page["nextPageToken"]})

    assert [task["id"] for task in page["tasks"]] == [sent[0], *reversed(sent[2:])]
    assert (page["pageSize"], page["totalSize"]) == (last["pageSize"], last["totalSize"]) == (4, 5)
    assert page.keys() == last.keys() == {"tasks", "nextPageToken", "pageSize", "totalSize"}


def test_lists_are_filtered_by_context_state_and_time(client, holder):
    first, second = client.send(contextId="one"), client.send(contextId="two")
    holder.take()
    holder.answer()

    def ids(**params):
        return [task["id"] for task in client.rpc("ListTasks", params)["tasks"]]

    assert ids(contextId="two") == [second["id"]]
    assert ids(status="TASK_STATE_COMPLETED") == [first["id"]]
    assert ids(status="TASK_STATE_FAILED") == []
    assert ids(status="TASK_STATE_UNSPECIFIED") == [first["id"], second["id"]]
    newest = client.get(first["id"])["status"]["timestamp"]
    assert ids(statusTimestampAfter=newest) == [first["id"]]


def test_lists_show_artifacts_only_on_request(client, holder):
    client.send()
    holder.take()
    holder.answer()

    assert "artifacts" not in client.rpc("ListTasks")["tasks"][0]
    assert "artifacts" in client.rpc("ListTasks", {"includeArtifacts": True})["tasks"][0]


def page_at(caller, agent, binding, token):
    """Return the status and the JSON of the caller's list of a context at this token."""
    client = OfficialClient(caller, agent)
    query = {"contextId": "talk" if caller else client.send()["contextId"], "pageToken": token}
    if binding == "rpc":
        return answered(client.response("ListTasks", query))
    return answered(client.api.get(f"{client.base}/rest/tasks", **query))


@pytest.fixture
def token(client):
    """Return the token of the second page of alice's tasks for bob in a context."""
    client.send(contextId="talk")
    client.send(contextId="talk")
    return client.rpc("ListTasks", {"contextId": "talk", "pageSize": 1})["nextPageToken"]


@pytest.mark.parametrize("whose", ["another caller", "another agent", "a caller without a key"])
@pytest.mark.parametrize("binding", ["rpc", "rest"])
def test_a_token_of_another_list_is_refused_like_a_made_up_one(alice, bob, mallory, token, binding, whose):
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    caller, agent = {"another caller": (mallory, bob), "another agent": (alice, mallory)}.get(whose, (None, bob))

    refused = page_at(caller, agent, binding, token)

    assert refused == page_at(caller, agent, binding, "made up")
    assert refused[0] == (200 if binding == "rpc" else 400)
    assert '"field": "pageToken", "description": "is not a token of this list"' in json.dumps(refused[1])


@pytest.mark.parametrize("binding", ["rpc", "rest"])
def test_a_token_holds_in_both_bindings(alice, bob, token, binding):
    status, page = page_at(alice, bob, binding, token)

    assert (status, len(page.get("result", page)["tasks"])) == (200, 1)


def test_a_page_ends_at_its_budget_of_bytes(client, holder, monkeypatch):
    monkeypatch.setattr(official_tasks, "BUDGET", 200)
    sent = [client.send(f"task {number}")["id"] for number in range(3)]
    holder.take()
    holder.make("x" * 300)

    first = client.rpc("ListTasks", {"includeArtifacts": True})
    assert [task["id"] for task in first["tasks"]] == [sent[0]]
    rest = client.rpc("ListTasks", {"pageToken": first["nextPageToken"]})
    assert [task["id"] for task in rest["tasks"]] == [sent[2], sent[1]]
