"""Code in this process may pass anything: each argument is checked as its HTTP route checks it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from mailbox import Mailbox
from mailbox.access.callers import Caller
from mailbox.models import Agent, Task
from mailbox.words.envelopes import AgentRef
from mailbox.words.errors import DuplicateRiskMismatchError, InvalidRequestError, LeaseMismatchError, UnknownAgentError
from tests.mailbox.in_process.conftest import Refusal, Rows
from tests.support import factories

REQUEUE = {"action": "requeue", "duplicate_risk": "operator_accepted"}
FORCE_ERROR = {"action": "force_error", "message": "gave up"}


@pytest.mark.parametrize(
    ("usual", "field", "value"),
    [
        (REQUEUE, "duplicate_risk", "banana"),
        (REQUEUE, "duplicate_risk", None),
        (REQUEUE, "duplicate_risk", ["idempotent"]),
        (REQUEUE, "lease_id", "no id"),
        (REQUEUE, "lease_id", 7),
        (REQUEUE, "reason", " "),
        (REQUEUE, "reason", None),
        (REQUEUE, "reason", "r" * 501),
        (REQUEUE, "task_id", "no id"),
        (REQUEUE, "task_id", None),
        (REQUEUE, "message", "not for this action"),
        (FORCE_ERROR, "message", ""),
        (FORCE_ERROR, "message", None),
        (FORCE_ERROR, "message", 7),
        (FORCE_ERROR, "duplicate_risk", "idempotent"),
        (FORCE_ERROR, "lease_id", "no id"),
        (FORCE_ERROR, "reason", 7),
        (FORCE_ERROR, "task_id", 7),
    ],
)
def test_repair_arguments_are_rejected_as_over_http(
    box: Mailbox,
    rows: Rows,
    refusal: Refusal,
    alice: Caller,
    bob: Caller,
    usual: Mapping[str, Any],
    field: str,
    value: object,
) -> None:
    lease = factories.leased_task(alice, bob)
    before = rows()
    beside: dict[str, Any] = {"task_id": str(lease.task.uuid), "reason": "r"}
    arguments = {**beside, **usual, field: value}
    command = {name: given for name, given in arguments.items() if name not in beside}
    body = {**{name: arguments[name] for name in beside}, "command": command}

    with pytest.raises(InvalidRequestError) as refused:
        box.repair_task(**arguments)

    (path,) = refusal("post", "/a2a/repair", body)
    assert list(refused.value.fields) == [path.rpartition(".")[2]] == [field]
    assert rows() == before


class Unprintable:
    def __repr__(self) -> str:
        raise ArithmeticError


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize("value", [pytest.param(nested(100_000), id="nested"), pytest.param(Unprintable(), id="repr")])
def test_a_risk_without_a_repr_is_rejected(box: Mailbox, alice: Caller, bob: Caller, value: Any) -> None:
    lease = factories.leased_task(alice, bob)

    with pytest.raises(InvalidRequestError) as refused:
        box.repair_task(lease.task.uuid, action="requeue", reason="r", duplicate_risk=value)

    assert list(refused.value.fields) == ["duplicate_risk"]
    assert Task.objects.get().state == Task.State.IN_FLIGHT


def test_an_unknown_repair_action_is_rejected(box: Mailbox) -> None:
    with pytest.raises(InvalidRequestError, match="action: must be 'requeue' or 'force_error'"):
        box.repair_task(uuid4(), action="explode", reason="r")


@pytest.mark.parametrize("value", [0, -1, 1001, True, "10", 1.0, None, 10**30])
@pytest.mark.parametrize(
    ("method", "path"),
    [("recent_tasks", "/a2a/tasks/recent"), ("task_queue", "/a2a/queue"), ("recent_results", "/a2a/results/recent")],
)
def test_limits_are_rejected_as_over_http(
    box: Mailbox, refusal: Refusal, method: str, path: str, value: object
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        getattr(box, method)(value)

    assert list(refused.value.fields) == ["limit"]
    if type(value) is int:  # a query is all text
        assert list(refusal("get", path, {"limit": value})) == ["limit"]


@pytest.mark.parametrize("value", [5, 5.0, "5 s", timedelta(seconds=-1), True])
@pytest.mark.parametrize("method", ["recv_task", "recv_result"])
def test_invalid_timeouts_are_rejected(box: Mailbox, method: str, value: object) -> None:
    with pytest.raises(InvalidRequestError, match="timeout"):
        getattr(box, method)(timeout=value)


@pytest.mark.parametrize("value", [None, 7, "", "not a name", {}, AgentRef(), AgentRef("a" * 201), ["bob"]])
@pytest.mark.parametrize(("method", "path"), [("try_recv_task_for", "recipient"), ("try_recv_result_for", "peer")])
def test_invalid_agent_references_are_rejected(
    box: Mailbox, rows: Rows, alice: Caller, bob: Caller, method: str, path: str, value: object
) -> None:
    factories.resolved_task(alice, bob)
    factories.sent_task(alice, bob)
    before = rows()

    with pytest.raises(InvalidRequestError) as refused:
        getattr(box, method)(value)

    assert list(refused.value.fields) == [path]
    assert rows() == before


@pytest.mark.parametrize("pk", [2**70, -1, "abc", object()], ids=["large", "negative", "text", "object"])
@pytest.mark.parametrize("method", ["try_recv_task_for", "try_recv_result_for"])
def test_a_row_with_a_made_up_pk_is_rejected(
    box: Mailbox, rows: Rows, alice: Caller, bob: Caller, method: str, pk: Any
) -> None:
    factories.resolved_task(alice, bob)
    factories.sent_task(alice, bob)
    before = rows()

    with pytest.raises(InvalidRequestError):
        getattr(box, method)(Agent(pk=pk))
    with pytest.raises(UnknownAgentError):
        getattr(box, method)(Agent(pk=pk, display="ghost@local", local="ghost", pubkey="1" * 32))

    assert rows() == before


@pytest.mark.parametrize("method", ["try_recv_task_for", "try_recv_result_for"])
def test_a_deleted_row_is_an_unknown_agent(box: Mailbox, method: str) -> None:
    gone = factories.AgentFactory.create(display="gone@local")
    Agent.objects.filter(pk=gone.pk).delete()

    with pytest.raises(UnknownAgentError):
        getattr(box, method)(gone)


def test_a_lease_given_as_text_guards_a_repair(box: Mailbox, alice: Caller, bob: Caller) -> None:
    lease = factories.leased_task(alice, bob)
    arguments = {"reason": "r", **REQUEUE}

    with pytest.raises(LeaseMismatchError):
        box.repair_task(str(lease.task.uuid), lease_id=str(uuid4()), **arguments)
    box.repair_task(str(lease.task.uuid), lease_id=str(lease.lease_id), **arguments)

    assert Task.objects.get().state == Task.State.QUEUED


def test_a_risk_given_as_text_is_checked_against_the_task(box: Mailbox, alice: Caller, bob: Caller) -> None:
    lease = factories.leased_task(alice, bob)

    with pytest.raises(DuplicateRiskMismatchError):
        box.repair_task(lease.task.uuid, action="requeue", reason="r", duplicate_risk="idempotent")

    assert Task.objects.get().state == Task.State.IN_FLIGHT
