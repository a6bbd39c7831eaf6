"""The rules of `model` for results: posted in every way, drained and acknowledged, one by one and in batches."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from mailbox.words.envelopes import ResultStatus
from tests.support.model import Model
from tests.support.model_rows import Refused, Task


class Given(NamedTuple):
    """A result to post. ``text`` None: it has no content."""

    status: str
    text: str | None
    message: str | None = None
    direct: bool = False

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of its envelope."""
        blocks = () if self.text is None else [{"type": "text", "text": self.text}]
        return {
            "status": ResultStatus(self.status),
            "content": blocks,
            "error_message": self.message,
            "direct": self.direct,
        }

    @property
    def is_valid(self) -> bool:
        if self.status == "rejected" and not (self.message or "").strip():
            return False
        return not self.direct or (self.status == "ok" and self.text is not None)


class AnsweringModel(Model):
    def post(self, task: Task, given: Given, guard: str, now: datetime) -> None:
        if not given.is_valid:
            raise Refused("invalid_request")
        if task.has_timed_out(now):
            self._expire(task, "Task timed out")
        if (answer := task.answer) is not None:
            status = "rejected" if task.outcome == "rejected" else answer.status
            if (status, answer.text, answer.message, answer.direct) == given:
                task.story.append("posted-again")
                return
            raise Refused("result_conflict" if answer.by_holder else "already_resolved")
        self._guarded(task, guard)
        if given.direct and (task.turn > 1 or task.spoken or task.produced):
            raise Refused("invalid_request")
        task.story += ["rejected"] * (given.status == "rejected") + ["direct"] * given.direct
        self._resolve(
            task,
            given.status,
            "posted",
            end="result",
            text=given.text,
            message=given.message,
            by_holder=True,
            direct=given.direct,
        )

    def drain(
        self, sender: str, limit: int, now: datetime, *, attempt_id: UUID | None, ack: Collection[Task]
    ) -> list[UUID]:
        if ack:
            self.acknowledge(sender, ack, now)
        return [task.id for task in self._drain(sender, limit, now, attempt_id)]

    def drain_several(
        self, sender: str, limit: int, now: datetime, *, attempt_id: UUID | None, ack: Collection[Task]
    ) -> tuple[list[UUID], list[UUID], bool]:
        """Return the drained results, the unknown ids, and whether the attempt id is spent."""
        unknown = [task for task in ack if task.sender != sender or task.answer is None]
        for task in ack:
            if task in unknown:
                task.story.append("batch-ack-unknown")
            else:
                self.acknowledge(sender, [task], now)
                task.story.append("batch-acked")
        drained = self._drain(sender, limit, now, attempt_id)
        for task in drained:
            task.story.append("batch-delivered")
        is_spent = not drained and any(self._given(sender, attempt_id))
        return [task.id for task in drained], [task.id for task in unknown], is_spent

    def _given(self, sender: str, attempt_id: UUID | None) -> list[Task]:
        """Return the tasks whose results this attempt got before."""
        mine = [task for task in self.tasks if task.sender == sender and not task.dropped]
        return [task for task in mine if attempt_id and task.answer and task.answer.attempt_id == attempt_id]

    def _drain(self, sender: str, limit: int, now: datetime, attempt_id: UUID | None) -> list[Task]:
        mine = [task for task in self.tasks if task.sender == sender and not task.dropped]
        if given := self._given(sender, attempt_id):
            again = [task for task in given if task.answer and task.answer.delivery == "delivered"]
            for task in given:
                task.story.append("delivered-again" if task in again else "not-delivered-again")
            return _in_order(again)
        if len(_pending(mine)) < limit:
            self.expire_due(mine, now)
        pending = _pending(mine)[:limit]
        for task in pending:
            assert task.answer
            task.answer.delivery, task.answer.delivered_at, task.answer.attempt_id = "delivered", now, attempt_id
            task.story.append("delivered")
        return pending

    def acknowledge(self, sender: str, tasks: Collection[Task], now: datetime) -> None:
        if any(task.sender != sender or task.answer is None for task in tasks):
            raise Refused("unknown_task")
        for task in tasks:
            assert task.answer
            if task.dropped or task.answer.delivery == "acked":
                task.story.append("acked-after-compaction" if task.dropped else "acked-again")
            else:
                task.answer.delivery, task.answer.acked_at = "acked", now
                task.story.append("acked")


def _in_order(tasks: Iterable[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: task.answer.number if task.answer else 0)


def _pending(tasks: Iterable[Task]) -> list[Task]:
    return _in_order(task for task in tasks if task.answer and task.answer.delivery == "pending")
