"""A leased task and the result of the work, as the hub's JSON has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

ASKING = ("input_required", "auth_required")  # the statuses of questions
POSTED_WITHIN = 1.0  # seconds by which jobs are stopped before the hub's limit, so that their messages still count


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedTask:
    """A task as the hub's JSON shows it, and its lease. ``time_limit``: seconds for the work, None without a limit.

    ``turn`` is the number of messages of its sender. ``message`` is the newest of them, None for a mere text.
    """

    task: Mapping[str, Any]
    lease_id: str
    attempt: int
    time_limit: float | None
    turn: int = 1
    message: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, leased: Mapping[str, Any]) -> Self:
        """Return the task and lease of an answer that has both."""
        lease = leased["lease"]
        limit = lease["work_timeout_ms"]
        return cls(
            task=leased["task"],
            lease_id=lease["lease_id"],
            attempt=lease["attempt"],
            time_limit=None if limit is None else limit / 1000 - min(POSTED_WITHIN, limit / 10_000),
            turn=leased.get("turn", 1),
            message=leased.get("message"),
        )

    @property
    def id(self) -> str:
        return str(self.task["id"])


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """The result of a task: ``error_message`` if it failed, else ``text``, None without any.

    ``spoken`` is the result as the hub's JSON has it, or a question. Then the other fields are None.
    """

    text: str | None = None
    error_message: str | None = None
    spoken: Mapping[str, Any] | None = None

    @property
    def is_question(self) -> bool:
        """Whether it is a question to the sender, which ends the lease and not the task."""
        return self.spoken is not None and self.spoken["status"] in ASKING

    @property
    def summary(self) -> str:
        """One line for the log."""
        status = "ok" if self.spoken is None else str(self.spoken["status"])
        return (self.error_message or status).partition("\n")[0]

    def body(self, leased: LeasedTask) -> dict[str, Any]:
        """Return the result as the hub takes it, under the task's lease."""
        posted: dict[str, Any] = {"status": "ok", "content": []}
        if self.text is not None:
            posted["content"] = [{"type": "text", "text": self.text}]
        if self.error_message is not None:
            posted |= {"status": "error", "error_message": self.error_message}
        if self.spoken is not None:
            posted |= self.spoken
            if isinstance(text := posted["content"], str):
                posted["content"] = [{"type": "text", "text": text}]
        return {**posted, "task_id": leased.id, "lease_id": leased.lease_id}
