"""Lists of tasks: pages, filters, tokens."""

from __future__ import annotations

import pytest

from mailbox.inspection import official_tasks
from tests.support import factories
from tests.support.a2a import OfficialClient

pytestmark = pytest.mark.django_db


def test_lists_are_paged_newest_status_first_without_gap_or_repeat(client, holder):
    sent = [client.send(f"task {number}")["id"] for number in range(5)]
    holder.take()
    pages, token = [], ""
    while True:
        page = client.rpc("ListTasks", {"pageSize": 2, "pageToken": token})
        assert page.keys() == {"tasks", "nextPageToken", "pageSize", "totalSize"}
        assert (page["pageSize"], page["totalSize"]) == (2, 5)
        pages += [task["id"] for task in page["tasks"]]
        token = page["nextPageToken"]
        if not token:
            break

    assert pages == [sent[0], *reversed(sent[1:])]


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


@pytest.mark.parametrize(
    "params", [{"pageSize": 0}, {"pageSize": 101}, {"pageToken": "x"}, {"status": "NO"}, {"historyLength": -1}]
)
def test_other_parameters_of_lists_are_invalid(client, params):
    assert client.error("ListTasks", params) == (-32602, "INVALID_PARAMS")


def test_a_token_of_another_agents_list_is_invalid(client, alice, olga):
    client.send()
    client.send()
    factories.grant(alice, "a2a.send.*")
    token = client.rpc("ListTasks", {"pageSize": 1})["nextPageToken"]

    assert OfficialClient(alice, alice).error("ListTasks", {"pageToken": token}) == (-32602, "INVALID_PARAMS")


def test_a_page_ends_at_its_budget_of_bytes(client, holder, monkeypatch):
    monkeypatch.setattr(official_tasks, "BUDGET", 200)
    sent = [client.send(f"task {number}")["id"] for number in range(3)]
    holder.take()
    holder.make("x" * 300)

    first = client.rpc("ListTasks", {"includeArtifacts": True})
    assert [task["id"] for task in first["tasks"]] == [sent[0]]
    rest = client.rpc("ListTasks", {"pageToken": first["nextPageToken"]})
    assert [task["id"] for task in rest["tasks"]] == [sent[2], sent[1]]
