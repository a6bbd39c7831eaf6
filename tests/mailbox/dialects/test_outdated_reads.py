"""A leader of PostgreSQL that was paused reads old rows and cannot commit: no answer claims that a task is absent."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection

from mailbox.access import audit
from mailbox.database import outages
from mailbox.dialects.corvid import handler
from mailbox.dialects.mcp.wire import task_uri
from tests.support import factories
from tests.support.a2a import OfficialClient, message
from tests.support.api import Api
from tests.support.mcp import BY_ENVELOPE, BY_HANDSHAKE, McpClient

pytestmark = pytest.mark.django_db
TASK = str(uuid4())
CALLS = {
    "covenant entry": ("GET", f"/a2a/tasks/{TASK}/entry", None),
    "covenant result": ("GET", f"/a2a/tasks/{TASK}/result", None),
    "covenant tree": ("GET", f"/a2a/tasks/{TASK}/tree", None),
    "covenant timeline": ("GET", f"/a2a/tasks/{TASK}/timeline", None),
    "covenant messages": ("GET", f"/a2a/tasks/{TASK}/messages", None),
    "covenant artifacts": ("GET", f"/a2a/tasks/{TASK}/artifacts", None),
    "covenant lease": ("POST", f"/a2a/tasks/{TASK}/lease", {}),
    "covenant message": ("POST", f"/a2a/tasks/{TASK}/messages", {"content": "more"}),
    "covenant release": ("POST", f"/a2a/tasks/{TASK}/release", {"reason": "busy"}),
    "covenant heartbeat": ("POST", f"/a2a/tasks/{TASK}/heartbeat", {}),
    "covenant update": ("POST", f"/a2a/tasks/{TASK}/updates", {"updates": [{"progress": {"fraction": 0.5}}]}),
    "covenant cancel": ("POST", f"/a2a/tasks/{TASK}/cancel", {}),
    "covenant acknowledgement": ("POST", "/a2a/results/ack", {"task_ids": [TASK]}),
    "covenant drain with ack": ("GET", f"/a2a/results/next?ack={TASK}", None),
    "covenant batch with ack": ("POST", "/a2a/results/drain", {"ack": [TASK], "max": 1}),
    "corvid task": ("GET", f"/a2a/tasks/{TASK}", None),
    "yeoman task": ("GET", f"/api/tasks/{TASK}", None),
    "yeoman cancel": ("DELETE", f"/api/tasks/{TASK}", None),
    "covenant leases": ("GET", "/a2a/leases", None),
    "covenant delivered results": ("GET", "/a2a/results/delivered", None),
    "marianne task": ("GET", f"/a2a/inboxes/alice/tasks/{TASK}", None),
    "marianne accept": ("POST", f"/a2a/inboxes/alice/tasks/{TASK}/accept", {}),
}
METHODS = {
    "GetTask": {"id": TASK},
    "CancelTask": {"id": TASK},
    "SubscribeToTask": {"id": TASK},
    "SendMessage": {"message": message(taskId=TASK)},
    "GetTaskPushNotificationConfig": {"taskId": TASK, "id": "one"},
    "ListTaskPushNotificationConfigs": {"taskId": TASK},
}
TOOLS: dict[str, dict[str, Any]] = {
    "read_task": {"task_id": TASK},
    "wait_for_result": {"task_id": TASK, "wait_ms": 0},
    "cancel_task": {"task_id": TASK},
}


@pytest.fixture
def outdate(monkeypatch):
    """Return the act after which the leader's rows are old."""
    of_the_test = len(connection.savepoint_ids)

    def fail():
        if len(connection.savepoint_ids) == of_the_test:
            raise OperationalError("the standby confirms no commit")

    return lambda: monkeypatch.setattr(outages, "confirm_reads", fail)


def assert_unavailable(response):
    assert (response.status_code, response.headers.get("Retry-After")) == (503, "1"), response.content


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_what_is_absent_or_held_is_answered_only_after_a_commit(alice, outdate, call):
    method, path, body = call
    api = Api(alice)

    assert api.call(method, path, body).status_code in (200, 404)
    outdate()

    assert_unavailable(api.call(method, path, body))


def test_an_acknowledgement_of_some_tasks_reports_no_unknown_task_without_a_commit(alice, bob, outdate):
    task = factories.resolved_task(alice, bob).task
    both = {"task_ids": [str(task.uuid), TASK]}
    api = Api(alice)

    assert api.post("/a2a/results/ack", both).json()["unknown"] == [TASK]
    outdate()

    assert_unavailable(api.post("/a2a/results/ack", both))


def test_a_refusal_that_the_journal_only_counts_is_answered_only_after_a_commit(alice, outdate, monkeypatch):
    monkeypatch.setattr(audit, "MOST_ROWS", 1)
    result = {"task_id": TASK, "status": "ok", "content": []}
    api = Api(alice)

    assert [api.post("/a2a/results", result).status_code for _ in range(2)] == [404, 404]
    outdate()

    assert_unavailable(api.post("/a2a/results", result))


def test_a_webhook_is_unknown_only_after_a_commit(alice, bob, outdate):
    client = OfficialClient(alice, bob)
    params = {"taskId": client.send()["id"], "id": "none"}

    assert client.error("GetTaskPushNotificationConfig", params) == (-32001, "TASK_NOT_FOUND")
    outdate()

    assert_unavailable(client.response("GetTaskPushNotificationConfig", params))


@pytest.mark.parametrize(("method", "params"), METHODS.items())
def test_the_official_protocol_finds_no_task_only_after_a_commit(alice, bob, outdate, method, params):
    client = OfficialClient(alice, bob)

    assert client.error(method, params) == (-32001, "TASK_NOT_FOUND")
    outdate()

    assert_unavailable(client.response(method, params))


@pytest.mark.parametrize("version", [BY_HANDSHAKE, BY_ENVELOPE])
@pytest.mark.parametrize("name", TOOLS)
def test_mcp_finds_no_task_only_after_a_commit(alice, outdate, name, version):
    client = McpClient(alice, version=version)

    assert "no task" in client.refused(name, **TOOLS[name])
    outdate()

    assert_unavailable(client.response("tools/call", {"name": name, "arguments": TOOLS[name]}))


@pytest.mark.parametrize("names_an_artifact", [False, True])
def test_mcp_finds_no_resource_only_after_a_commit(alice, bob, outdate, names_an_artifact):
    client, task = McpClient(alice), factories.sent_task(alice, bob)
    wanted = {"uri": f"{task_uri(task.uuid)}/artifacts/none" if names_an_artifact else task_uri(UUID(TASK))}

    assert client.error("resources/read", wanted) == (200, -32602)
    outdate()

    assert_unavailable(client.response("resources/read", wanted))


def test_corvid_finds_no_task_in_process_only_after_a_commit(alice, outdate):
    assert handler.handle_task_get(alice, TASK) is None
    outdate()

    with pytest.raises(OperationalError):
        handler.handle_task_get(alice, TASK)
