"""Code in this process may pass an inbox anything."""

from collections.abc import Callable
from typing import Any

import pytest

from agentcards import models
from mailbox.dialects.marianne.inbox import A2AInbox
from mailbox.dialects.marianne.registry import AgentCardRegistry
from mailbox.dialects.marianne.values import A2ATask, AgentCard
from mailbox.models import Agent, AuditEvent, Task
from mailbox.words.errors import InvalidRequestError

pytestmark = pytest.mark.django_db


@pytest.fixture
def inbox() -> A2AInbox:
    return A2AInbox(job_id="j1", agent_name="canyon")


def submit(inbox: A2AInbox, **fields: Any) -> A2ATask:
    return inbox.submit_task(**{"source_job_id": "j2", "source_agent": "forge", "description": "Review", **fields})


@pytest.mark.parametrize(
    ("field", "value", "refused_as"),
    [("context", 7, "context"), ("context", {"a": float("nan")}, "metadata")],
)
def test_a_task_of_wrong_values_is_refused(inbox: A2AInbox, field: str, value: object, refused_as: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        submit(inbox, **{field: value})

    assert list(refused.value.fields) == [refused_as]
    assert not Task.objects.exists()


@pytest.mark.parametrize("task_id", [7, None, "no id", "", b"bytes", "6a2f1d34-8f0e-4c57-9b1e-2d7c5a90e4b1"])
def test_an_inbox_has_no_task_under_a_wrong_or_unknown_id(inbox: A2AInbox, task_id: Any) -> None:
    submit(inbox)

    assert inbox.get_task(task_id) is None
    assert [inbox.mark_accepted(task_id), inbox.complete_task(task_id), inbox.fail_task(task_id, "r")] == [False] * 3


def test_a_failure_for_a_reason_that_is_no_text_is_refused(inbox: A2AInbox) -> None:
    task = submit(inbox)

    with pytest.raises(InvalidRequestError):
        inbox.fail_task(task.task_id, 7)  # type: ignore[arg-type]

    assert Task.objects.get().state == Task.State.QUEUED


CARD = AgentCard(name="canyon", description="Reviews")
NOT_TEXT = [None, 7, b"x", [], object()]


def rows() -> list[object]:
    return [list(model.objects.order_by("pk").values()) for model in (Agent, AuditEvent, Task, models.AgentCard)]


@pytest.mark.parametrize("value", NOT_TEXT, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    ("place", "call"),
    [
        ("open job_id", lambda value: A2AInbox(value, "forge")),
        ("open agent_name", lambda value: A2AInbox("j", value)),
        ("import job_id", lambda value: A2AInbox.from_dict({"job_id": value, "agent_name": "forge"})),
        ("import agent_name", lambda value: A2AInbox.from_dict({"job_id": "j", "agent_name": value})),
        ("submit source_job_id", lambda value: submit(A2AInbox("j1", "canyon"), source_job_id=value)),
        ("submit source_agent", lambda value: submit(A2AInbox("j1", "canyon"), source_agent=value)),
        ("submit description", lambda value: submit(A2AInbox("j1", "canyon"), description=value)),
        ("register job_id", lambda value: AgentCardRegistry().register(value, CARD)),
        ("deregister job_id", lambda value: AgentCardRegistry().deregister(value)),
        ("get job_id", lambda value: AgentCardRegistry().get(value)),
        ("find agent_name", lambda value: AgentCardRegistry().get_job_id_for_agent(value)),
        ("query skill_id", lambda value: AgentCardRegistry().query_by_skill(value)),
    ],
)
@pytest.mark.usefixtures("inbox")
def test_a_name_or_id_that_is_not_text_is_refused(place: str, call: Callable[[object], object], value: object) -> None:
    before = rows()

    with pytest.raises(InvalidRequestError) as refused:
        call(value)

    assert refused.value.fields == {place.split()[1]: "must be text"}
    assert rows() == before


@pytest.mark.parametrize("value", [None, 7, "text", [], object()])
@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("data", A2AInbox.from_dict),
        ("tasks", lambda value: A2AInbox.from_dict({"job_id": "j", "agent_name": "forge", "tasks": value})),
        ("card", lambda value: AgentCardRegistry().register("j", value)),
    ],
)
def test_a_value_of_another_type_is_refused(field: str, call: Callable[[object], object], value: object) -> None:
    before = rows()

    with pytest.raises(InvalidRequestError) as refused:
        call(value)

    assert list(refused.value.fields) == [field]
    assert rows() == before
