"""Plans to send many failed tasks again. Each becomes a new task, and the failed task stays as it is."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from mailbox.access import requests
from mailbox.access.callers import Caller
from mailbox.access.own_agents import OPERATORS
from mailbox.life import operator_tasks
from mailbox.models import Agent, RepairPlan, RepairPlanRow, Task
from mailbox.models.repair_plan import INTENT_KEPT
from mailbox.models.task import id_of_copy
from mailbox.models.task_queries import TaskQuerySet
from mailbox.repairs import plans
from mailbox.words.sealed import ERASED

SEND_AGAIN = RepairPlan.Verb.SEND_AGAIN


def make(caller: Caller, found: TaskQuerySet, *, token: UUID, query: str) -> RepairPlan:
    """Make a plan of the failed tasks among ``found``, oldest first and at most `plans.CAP` of them. It sends none yet.

    ``token`` names the request: a repeat returns the plan of the first call. ``query`` is the search that chose the
    tasks. Left out as skipped are tasks that were sent again before, erased tasks, and tasks whose recipient may not
    answer ``operators@hub``.

    Raises `InvalidRequestError` without any failed task, `WrongPartyError` for agents and programs, and a capability
    error. Journals ``a2a_repair_plan_made``.
    """
    failed = found.failed()
    tasks = list(failed.with_parties().with_opening().order_by("pk")[: plans.CAP])
    silent = {agent for agent in {task.recipient for task in tasks} if not operator_tasks.may_answer(agent)}
    copied = Task.objects.filter(uuid__in=[id_of_copy(task.uuid) for task in tasks])
    sent = set(copied.values_list("uuid", flat=True))
    return plans.store(
        caller,
        SEND_AGAIN,
        [_row(task, sent, silent) for task in tasks],
        token=token,
        query=query,
        matching=failed.order_by()[: plans.COUNTED_TO + 1].count(),
    )


def _row(task: Task, sent: Collection[UUID], silent: Collection[Agent]) -> RepairPlanRow:
    opening = str(getattr(task, "opening", ""))
    verdict, detail = _verdict(task, opening, sent, silent)
    return RepairPlanRow(
        task_id=task.uuid,
        intent=opening[:INTENT_KEPT],
        sender=task.sender.display,
        holder=task.recipient.display,
        attempt=task.attempt,
        leased_at=task.resolved_at or task.sent_at,
        is_idempotent=task.is_idempotent,
        verdict=verdict,
        detail=detail,
    )


def _verdict(
    task: Task, opening: str, sent: Collection[UUID], silent: Collection[Agent]
) -> tuple[RepairPlanRow.Verdict, str]:
    if id_of_copy(task.uuid) in sent:
        return RepairPlanRow.Verdict.SKIPPED, "already sent again"
    if opening.startswith(ERASED):
        return RepairPlanRow.Verdict.SKIPPED, "its payload was erased"
    if task.recipient in silent:
        grant = f"a2a grant give {task.recipient} {requests.RESPOND}.{OPERATORS}"
        return RepairPlanRow.Verdict.SKIPPED, f"{task.recipient} can't answer {OPERATORS}. Grant it: {grant}"[:500]
    return (RepairPlanRow.Verdict.READY if task.is_idempotent else RepairPlanRow.Verdict.CONSENT), ""
