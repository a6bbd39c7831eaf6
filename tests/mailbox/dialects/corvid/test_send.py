import json
from datetime import timedelta

import pytest

from agentcards.models import AgentProfile
from mailbox.models import AuditEvent, Task
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.api import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]

UNREADABLE = "message is required (either at top-level or inside params)"


@pytest.fixture
def send(alice, bob, settings):
    settings.A2A_INBOUND_RATE_LIMIT_PER_MIN = 1000
    return Sender(alice)


class Sender(Api):
    def __call__(self, body):
        return self.post("/a2a/tasks/send", body)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("not json", "Invalid JSON body"),
        ("", "Invalid JSON body"),
        ({}, f"Validation failed: : {UNREADABLE}"),
        ({"message": "   "}, f"Validation failed: : {UNREADABLE}"),
        (
            {"params": {}, "message": "hi"},
            "Validation failed: params.message: Invalid input: expected string, received undefined",
        ),
        (
            {"params": {"message": ""}},
            f"Validation failed: params.message: message is required; : {UNREADABLE}",
        ),
        (
            {"message": ""},
            f"Validation failed: message: Too small: expected string to have >=1 characters; : {UNREADABLE}",
        ),
        (
            {"params": {"message": {"role": "user"}}},
            "Validation failed: params.message: Invalid input: expected string, received object",
        ),
        (
            {"params": {"message": 7}},
            "Validation failed: params.message: Invalid input: expected string, received number",
        ),
        ({"params": None}, "Validation failed: params: Invalid input: expected object, received null"),
        ([], "Validation failed: : Invalid input: expected object, received array"),
        ("null", "Validation failed: : Invalid input: expected object, received null"),
        (
            {"params": {"message": "hi", "timeoutMs": 999}},
            "Validation failed: params.timeoutMs: Too small: expected number to be >=1000",
        ),
        (
            {"params": {"message": "hi", "timeoutMs": 600001}},
            "Validation failed: params.timeoutMs: Too big: expected number to be <=600000",
        ),
        (
            {"params": {"message": "hi", "timeoutMs": 1000.5}},
            "Validation failed: params.timeoutMs: Invalid input: expected int, received number",
        ),
        (
            {"params": {"message": "hi", "timeoutMs": "5000"}},
            "Validation failed: params.timeoutMs: Invalid input: expected number, received string",
        ),
        (
            {"params": {"message": "hi", "depth": 0}},
            "Validation failed: params.depth: Too small: expected number to be >=1",
        ),
        (
            {"params": {"message": "hi", "depth": 11}},
            "Validation failed: params.depth: Too big: expected number to be <=10",
        ),
        (
            {"params": {"message": "hi", "skill": "s" * 201}},
            "Validation failed: params.skill: Too big: expected string to have <=200 characters",
        ),
        ({"params": {"message": "hi", "depth": 4}}, "Invocation depth limit exceeded."),
        ({"message": "hi", "depth": 10}, "Invocation depth limit exceeded."),
        ({"params": {"message": "hi"}, "depth": 4}, "Invocation depth limit exceeded."),
    ],
)
def test_a_bad_body_is_refused_in_the_originals_words_and_stores_nothing(send, body, error):
    response = send(body)

    assert response.status_code == 400
    assert response.json() == {"error": error}
    assert not Task.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {"params": {"message": "hi"}},
        {"message": "hi"},
        {"jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": {"message": "hi", "depth": 3}},
        {"message": "hi", "sourceAgent": "someone", "timeoutMs": 1000},
    ],
)
def test_either_body_form_makes_a_task_with_one_user_message(send, bob, body):
    response = send(body)

    task = response.json()
    assert response.status_code == 200
    assert task["messages"] == [{"role": "user", "parts": [{"type": "text", "text": "hi"}]}]
    assert task["state"] == "submitted"
    assert task["sessionId"] is None
    assert task["createdAt"].endswith("Z")
    assert len(task["createdAt"]) == len("2026-01-01T00:00:00.000Z")
    stored = Task.objects.get(uuid=task["id"])
    assert stored.recipient == bob.agent
    assert stored.source == "agent"
    assert AuditEvent.objects.of_task(stored.uuid).get().kind == Kind.TASK_SENT


def test_the_timeout_is_kept_and_defaults_to_five_minutes(send):
    plain = send({"message": "hi"}).json()
    short = send({"message": "hi", "timeoutMs": 2000}).json()

    assert Task.objects.get(uuid=plain["id"]).work_timeout == timedelta(minutes=5)
    assert Task.objects.get(uuid=short["id"]).work_timeout == timedelta(seconds=2)


def test_invariant_3_first_agent_with_a_default_project_is_selected(send, alice, bob):
    factories.profile(alice)
    factories.profile(factories.agent("carol"), default_project="other")

    task = send({"message": "hi"}).json()

    assert Task.objects.get(uuid=task["id"]).recipient == bob.agent


def test_invariant_3_holds_for_a_task_with_a_skill_that_another_agent_has(send, bob):
    factories.profile(factories.agent("carol"), tool_permissions=["web_search"])
    factories.tool("web_search")

    task = send({"params": {"message": "hi", "skill": "web_search"}}).json()

    stored = Task.objects.get(uuid=task["id"])
    assert stored.recipient == bob.agent
    assert json.loads(stored.metadata)["skill"] == "web_search"


@pytest.mark.parametrize("somebody_has_a_default_project", [True, False])
def test_the_skill_decides_by_setting_or_without_a_default_project(send, settings, somebody_has_a_default_project):
    settings.A2A_TASKS_SEND_ROUTE_BY_SKILL = somebody_has_a_default_project
    if not somebody_has_a_default_project:
        AgentProfile.objects.update(default_project="")
    carol = factories.agent("carol")
    factories.profile(carol, tool_permissions=["web_search"])
    factories.tool("web_search")

    task = send({"params": {"message": "hi", "skill": "web_search"}}).json()

    assert Task.objects.get(uuid=task["id"]).recipient == carol.agent


def test_a_skill_that_no_agent_has_falls_back_to_the_default_project(send, bob):
    task = send({"params": {"message": "hi", "skill": "unheard_of"}}).json()

    assert Task.objects.get(uuid=task["id"]).recipient == bob.agent


def test_a_send_without_a_suitable_agent_is_404(alice):
    AgentProfile.objects.all().delete()

    response = Sender(alice)({"message": "hi"})

    assert response.status_code == 404
    assert response.json() == {"error": "Agent with default project not found", "code": "NOT_FOUND"}


def test_the_sixth_task_of_an_agent_in_a_minute_is_refused_with_retry_after(alice, bob):
    send = Sender(alice)
    other = Sender(factories.agent("dave", "a2a.send.*"))
    for _ in range(5):
        assert send({"message": "hi"}).status_code == 200

    sixth = send({"message": "hi", "sourceAgent": "somebody else"})

    assert sixth.status_code == 429
    assert sixth.json() == {"error": "Rate limit exceeded. Try again later."}
    assert 1 <= int(sixth["Retry-After"]) <= 60
    assert other({"message": "hi"}).status_code == 200


def test_the_keys_of_an_agent_share_its_limit(alice, bob, settings):
    settings.A2A_INBOUND_RATE_LIMIT_PER_MIN = 1
    first, second = Sender(alice), Sender(alice)

    answers = [sender({"message": "hi"}).status_code for sender in (first, second)]

    assert answers == [200, 429]


def test_a_get_of_the_send_route_finds_no_task(send):
    assert send.get("/a2a/tasks/send").json() == {"error": "Task not found"}


@pytest.mark.parametrize("path", ["/a2a/tasks/send", "/a2a/tasks/x", "/api/agents"])
def test_options_are_answered_without_a_key(client, path):
    answer = client.options(path, headers={"Origin": "https://elsewhere.example"})

    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["Access-Control-Allow-Methods"] == "GET, POST, PUT, DELETE, OPTIONS"
    assert answer["Access-Control-Allow-Headers"] == "Content-Type, Authorization"
    assert "Access-Control-Allow-Origin" not in answer
