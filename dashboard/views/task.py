from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from dashboard.base.page import DashboardView
from dashboard.figures import thresholds
from dashboard.wording import commands, payload, task_story
from dashboard.wording.journal import in_words
from dashboard.wording.payload import File
from mailbox.dialects.base.view import JSONRenderer
from mailbox.dialects.covenant import wire
from mailbox.gate import actions
from mailbox.gate.own_agents import OPERATORS
from mailbox.inspection import journal, leases, tasks
from mailbox.models import Lease, Result, Task
from mailbox.verbs.repairs.auto_retry import AutoRetry
from mailbox.verbs.repairs.repair import DuplicateRisk
from mailbox.words import json_text

ATTEMPTS, ACTS, CHILDREN, ALIKE = 50, 100, 20, 10


class TaskPage(DashboardView):
    """A task with its state, its history, its payload and its relatives."""

    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        task = tasks.whole_task(task_id)
        attempts = leases.attempts_at(task, most=ATTEMPTS)
        is_leased = task.state == Task.State.IN_FLIGHT
        # The lease of the task as it was read above: the lease may have ended, or another may have begun, since then.
        lease = next((one for one in attempts if is_leased and one.attempt == task.attempt), None)
        about = journal.newest_about(task_id, most=ACTS)
        acts = [in_words(event) for event in about.items]
        now_so = self._now(task, lease)
        context = {
            **now_so,
            "task": task,
            "attempts": task_story.attempts(task, attempts, self.now),
            "cards": task_story.cards([act for act in reversed(acts) if act.is_life]),
            "beside": [act for act in acts if not act.is_life],
            "is_cut": about.next_cursor is not None,
            **self._carried(task),
            **self._related(task),
            "curl": commands.get(f"/a2a/tasks/{task_id}/entry"),
            "command": _command(task, lease),
            **{f"may_{name}": self.holds(verb) for name, verb in VERBS.items()},
        }
        seen = task.journal_seq, now_so["state"], len(acts), lease and lease.last_seen_at
        return self.live("ops/task.html", context, seen)

    def _now(self, task: Task, lease: Lease | None) -> dict[str, Any]:
        """Return the context of the state sentence and of the lease."""
        policy = AutoRetry.from_settings().policy
        stale_after = thresholds.stale_after()
        is_stale = lease is not None and lease.is_stale(self.now, stale_after)
        waits = "waiting" if task.waits_on_id is not None else None
        left = None if task.deadline_ms is None else timedelta(milliseconds=task.deadline_ms) - self._since_epoch()
        return {
            "lease": lease,
            "is_stale": is_stale,
            "stale_after": stale_after,
            "stale_by": self.now - lease.leased_at - stale_after if lease and is_stale else None,
            "max_attempts": policy.max_attempts,
            "state": "stale" if is_stale else waits or task.outcome or task.state,
            "left": left,
            "is_late": left is not None and left <= timedelta(0),
            "late_by": -left if left is not None else None,
        }

    def _since_epoch(self) -> timedelta:
        return timedelta(seconds=self.now.timestamp())

    def _carried(self, task: Task) -> dict[str, Any]:
        result = task.result_or_none
        return {
            "parts": payload.of_task(task.intent_text, task.metadata),
            "result": result,
            "answer": payload.of_blocks(result.blocks) if result else [],
            "blocks_left": max(0, len(result.blocks) - payload.BLOCKS_SHOWN) if result else 0,
            "shown": payload.SHOWN,
            "by_hand": task.sender.display == OPERATORS,
        }

    def _related(self, task: Task) -> dict[str, Any]:
        at = self.now, thresholds.stale_after()
        children = list(tasks.children(task).with_opening().with_stale(*at)[: CHILDREN + 1])
        alike = list(tasks.alike(task).with_opening().with_stale(*at)[: ALIKE + 1])
        return {
            "children": children[:CHILDREN],
            "has_more_children": len(children) > CHILDREN,
            "alike": alike[:ALIKE],
            "has_more_alike": len(alike) > ALIKE,
        }


class TaskPart(DashboardView):
    """A whole part of a task's or a result's payload."""

    def get(self, request: HttpRequest, task_id: UUID, part: str) -> HttpResponse:
        file = _part(tasks.task(self.caller, task_id).task, tasks.result(self.caller, task_id), part)
        response = HttpResponse(file.content, content_type=file.content_type)
        how = "inline" if file.is_shown else "attachment"
        response["Content-Disposition"] = f'{how}; filename="{file.name}"'
        return response


class TaskJson(DashboardView):
    """A task with its result and its journal as JSON."""

    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponseBase:
        entry = tasks.task(self.caller, task_id)
        result = tasks.result(self.caller, task_id)
        head = {
            "entry": wire.queue_entry(entry),
            "metadata": json_text.loads(entry.task.metadata),
            "result": wire.result(result) if result else None,
        }
        parts = _with_journal(JSONRenderer().render(head), task_id)
        response = StreamingHttpResponse(parts, content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="task-{task_id}.json"'
        return response


def _with_journal(head: bytes, task_id: UUID) -> Iterator[bytes]:
    """Yield the JSON object ``head`` with a further key, which has the journal rows of the task."""
    yield head[:-1] + b',"journal":['
    for number, event in enumerate(journal.all_about(task_id)):
        row = {"kind": event.kind, "actor": event.actor, "at": event.at.isoformat(), "data": event.fields}
        yield (b"," if number else b"") + JSONRenderer().render(row)
    yield b"]}"


VERBS = {"requeue": actions.REQUEUE, "force_error": actions.FORCE_ERROR, "send": actions.SEND}


def _command(task: Task, lease: Lease | None) -> str:
    if lease is None:
        return "manage.py a2a status --json"
    risk = DuplicateRisk.IDEMPOTENT if task.is_idempotent else DuplicateRisk.OPERATOR_ACCEPTED
    return commands.requeue(task.uuid, lease.lease_id, risk=risk, reason="")


def _part(task: Task, result: Result | None, part: str) -> File:
    name = f"task-{task.uuid}-{part}"
    match part:
        case "intent":
            return payload.text_file(task.intent_text, f"{name}.txt")
        case "metadata":
            return payload.json_file(json_text.loads(task.metadata), f"{name}.json")
        case "error" if result is not None and result.error_message is not None:
            return payload.text_file(result.error_message, f"{name}.txt")
        case "content" if result is not None:
            return payload.json_file(result.blocks, f"{name}.json")
    blocks = result.blocks if result is not None else []
    if not part.isdecimal() or len(part) > len(str(len(blocks))) or int(part) >= len(blocks):
        raise Http404
    return payload.file_of(blocks[int(part)], name)
