"""Tasks to compact, and compacted tasks: sent, ended, acknowledged and deleted."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from mailbox.access.callers import Caller
from mailbox.life import leasing, results, sending
from mailbox.models import Task
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from mailbox.words.envelopes import ResultEnvelope, TaskEnvelope
from tests.support import factories

EVERYTHING = Retention(acked=timedelta(0), delivered=timedelta(0))
EVERY_FIELD: dict[str, Any] = {
    "task_kind": "summary",
    "parent": uuid4(),
    "deadline_ms": 2**62,
    "context_id": "c",
    "metadata": {"b": [1.0, None], "a": "ü"},
    "work_timeout": timedelta(minutes=5),
    "callback_url": "https://example.com/done",
    "callback_secret": "s",
}


def finished(sender: Caller, recipient: Caller, envelope: TaskEnvelope, **said: Any) -> tuple[Task, ResultEnvelope]:
    """Send, answer, drain, acknowledge and compact a task; return it as it was, and its result's envelope."""
    task = sending.send_task(sender, envelope)
    leasing.lease_tasks(recipient)
    answer = factories.result_envelope(task, **said)
    results.post_result(recipient, answer)
    results.drain_results(sender)
    results.ack_results(sender, [task.uuid])
    stored = Task.objects.whole().get(uuid=task.uuid)
    compact()
    return stored, answer


def answered_task(sender: Caller, recipient: Caller, **fields: Any) -> Task:
    """Return a resolved task, whose result is not delivered yet."""
    lease = factories.leased_task(sender, recipient, **fields)
    return results.post_result(recipient, factories.result_envelope(lease.task)).task


def acked_task(sender: Caller, recipient: Caller, **fields: Any) -> Task:
    """Return a resolved task whose result its sender has acknowledged."""
    task = answered_task(sender, recipient, **fields)
    results.drain_results(sender)
    results.ack_results(sender, [task.uuid])
    return task


def compact() -> None:
    assert compaction.compact(Caller.command_line(), EVERYTHING) == 1
    assert not Task.objects.exists()


def named(recipient: Caller, **fields: Any) -> TaskEnvelope:
    return factories.task_envelope(recipient, **{"id": uuid4(), **fields})
