"""Names of agents that the original's classes accept: any text, and case counts."""

import json
import threading
from uuid import uuid4

import pytest
from django.db import connection

from mailbox.access.agents import directory, registration
from mailbox.access.callers import Caller, Role
from mailbox.dialects.marianne import A2AInbox, A2ATask, AgentCard, AgentCardRegistry
from mailbox.models import Agent, Task
from mailbox.words.errors import InvalidRequestError, UnknownAgentError
from tests.support import factories
from tests.support.api import Api, error_of

pytestmark = pytest.mark.django_db
NAMES = ["Code Reviewer", "canyon", "Canyon", "审查员", "a@b@c", "two\nlines", "  ", "-", "x@y z"]


def displays():
    return set(Agent.objects.values_list("display", flat=True))


@pytest.mark.parametrize("name", NAMES)
def test_an_inbox_and_a_sender_may_have_any_name(name):
    inbox = A2AInbox(job_id="j1", agent_name=name)
    task = inbox.submit_task("j2", name, "Review")

    again = A2AInbox(job_id="j9", agent_name=name)
    assert (task.source_agent, task.target_agent) == (name, name)
    assert again.get_pending_tasks() == [again.get_task(task.task_id)] == [task]
    assert again.complete_task(task.task_id, {"review": "fine"}) is True
    assert Agent.objects.count() == 1


def test_names_that_differ_in_case_only_are_two_agents():
    canyons = [A2AInbox("j1", name) for name in ("canyon", "Canyon", "CANYON")]
    tasks = [inbox.submit_task("j2", "Canyon", "Review") for inbox in canyons]

    assert displays() == {"canyon@local", "_canyon@inbox", "_c_a_n_y_o_n@inbox"}
    assert [inbox.get_pending_tasks() for inbox in canyons] == [[task] for task in tasks]
    assert [A2AInbox("j3", name).task_count for name in ("canyon", "Canyon", "CANYON")] == [1, 1, 1]


def test_an_agent_registered_elsewhere_is_found_by_its_name(bob):
    capital = factories.agent("Kanyon")

    assert A2AInbox("j1", "bob")._owner == bob.agent
    assert A2AInbox("j1", "bob@local")._owner == bob.agent
    assert A2AInbox("j1", "Kanyon")._owner == capital.agent
    assert A2AInbox("j1", "kanyon")._owner.display == "kanyon@inbox"


def test_a_registered_name_leads_to_its_inbox():
    AgentCardRegistry().register("job-1", AgentCard(name="Code Reviewer", description=""))

    job_id = AgentCardRegistry().get_job_id_for_agent("Code Reviewer")

    assert job_id is not None
    assert A2AInbox(job_id, "Code Reviewer").agent_name == "Code Reviewer"


@pytest.mark.parametrize("owner", NAMES)
def test_an_inbox_with_such_names_survives_a_round_trip_to_another_hub(owner):
    inbox = A2AInbox("j1", owner)
    for sender in NAMES:
        inbox.submit_task("j2", sender, "Review")
    text = json.dumps(inbox.to_dict())
    for task_id in Task.objects.values_list("uuid", flat=True):
        text = text.replace(str(task_id), str(uuid4()))  # this hub's journal remembers its own
    data = json.loads(text)
    Task.objects.all().delete()
    Agent.objects.all().delete()

    restored = A2AInbox.from_dict(data)

    assert restored.to_dict() == data
    assert Agent.objects.count() == len(NAMES)


def test_an_inbox_is_read_over_http_under_the_name_that_it_shows(alice):
    A2AInbox("j1", "Code Reviewer").submit_task("j2", "alice", "Review")
    path = "/a2a/inboxes/Code%20Reviewer"

    listed = Api(alice).get(f"{path}/tasks").json()
    sent = Api(factories.agent("zoe", "a2a.send.*")).post(f"{path}/tasks", {"description": "More"})

    assert listed["agent_name"] == "Code Reviewer"
    assert [A2ATask.model_validate(task).target_agent for task in listed["tasks"]] == ["Code Reviewer"]
    assert sent.json()["task"]["target_agent"] == "Code Reviewer"


@pytest.mark.parametrize(
    ("name", "refusal"),
    [("No%20One", (400, "invalid_request")), ("Bob", (404, "unknown_agent")), ("nobody", (404, "unknown_agent"))],
)
def test_a_name_that_no_agent_has_is_refused_over_http(alice, bob, name, refusal):
    assert error_of(Api(alice).get(f"/a2a/inboxes/{name}/tasks")) == refusal


@pytest.mark.parametrize("name", ["a\x00", "\ud800", "审" * 100])
def test_a_name_that_cannot_be_stored_is_refused(name):
    with pytest.raises(InvalidRequestError):
        A2AInbox("j1", name)

    assert not Agent.objects.exists()


def test_only_an_inbox_registers_an_agent_under_a_spelled_name(olga):
    admin = factories.person("ada", Role.ADMIN)

    for display in ("_code-_reviewer@inbox", "x@INBOX"):
        with pytest.raises(InvalidRequestError, match="reserved for names"):
            registration.register_agent(admin, display)
    assert error_of(Api(admin).post("/a2a/agents", {"display": "bob@inbox"})) == (400, "invalid_request")
    assert not Agent.objects.exists()


def test_a_task_for_a_spelled_name_can_be_sent_by_any_door(alice):
    A2AInbox("j1", "Code Reviewer")

    sent = Api(alice).post(
        "/a2a/tasks", {"id": str(uuid4()), "recipient": "_code-_reviewer@inbox", "intent_text": "Review"}
    )

    assert sent.status_code == 200
    assert [task.source_agent for task in A2AInbox("j1", "Code Reviewer").get_pending_tasks()] == ["alice"]


def test_an_unknown_name_registers_no_agent_over_http():
    with pytest.raises(UnknownAgentError):
        directory.named(Caller.local(), "nobody")

    assert not Agent.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_new_names_that_differ_in_case_become_two_agents_at_once():
    names = ["forge", "Forge", "FORGE", "forGe"] * 2
    barrier, failures = threading.Barrier(len(names)), []

    def open_inbox(name):
        barrier.wait()
        try:
            registration.ensure_named(Caller.local(), name)
        except Exception as error:  # noqa: BLE001
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=open_inbox, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert Agent.objects.count() == 4
    assert sum(display.endswith("@local") for display in displays()) == 1
