"""Code in this process may pass an inbox anything."""

from __future__ import annotations

from typing import Any

import pytest

from mailbox.dialects.marianne.inbox import A2AInbox
from mailbox.dialects.marianne.values import A2ATask
from mailbox.models import Task
from mailbox.words.errors import InvalidRequestError

pytestmark = pytest.mark.django_db


@pytest.fixture
def inbox() -> A2AInbox:
    return A2AInbox(job_id="j1", agent_name="canyon")


def submit(inbox: A2AInbox, **fields: Any) -> A2ATask:
    return inbox.submit_task(**{"source_job_id": "j2", "source_agent": "forge", "description": "Review", **fields})


@pytest.mark.parametrize(
    ("field", "value", "refused_as"),
    [("description", 7, "description"), ("context", 7, "context"), ("context", {"a": float("nan")}, "metadata")],
)
def test_a_task_of_wrong_values_is_refused(inbox: A2AInbox, field: str, value: object, refused_as: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        submit(inbox, **{field: value})

    assert list(refused.value.fields) == [refused_as]
    assert not Task.objects.exists()


@pytest.mark.parametrize("task_id", [7, None, "no id", b"bytes"])
def test_an_inbox_has_no_task_under_a_wrong_id(inbox: A2AInbox, task_id: Any) -> None:
    submit(inbox)

    assert inbox.get_task(task_id) is None
    assert [inbox.mark_accepted(task_id), inbox.complete_task(task_id), inbox.fail_task(task_id, "r")] == [False] * 3


def test_a_failure_for_a_reason_that_is_no_text_is_refused(inbox: A2AInbox) -> None:
    task = submit(inbox)

    with pytest.raises(InvalidRequestError):
        inbox.fail_task(task.task_id, 7)  # type: ignore[arg-type]

    assert Task.objects.get().state == Task.State.QUEUED
