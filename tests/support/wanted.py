"""Random sends for `test_lifecycle`: with few agents and few keys, so that many are duplicates."""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from hypothesis import strategies as st

from mailbox.words.envelopes import AgentRef, DuplicateSafety, Idempotency, TaskEnvelope
from mailbox.words.times import epoch_ms
from tests.support.model_rows import INTENT, Task

SENDERS, RECIPIENTS = ("alice", "anna"), ("bob", "ben")
MINUTE = timedelta(minutes=1)


class Wanted(NamedTuple):
    """The fields of a task to send, without its id."""

    sender: str
    recipient: str
    safety: str | None
    key: str | None
    kind: str | None
    deadline: timedelta | None
    work_timeout: timedelta | None
    converses: bool = True

    def task(self, task_id: UUID, *, number: int, now: datetime) -> Task:
        """Return the task for the model."""
        return Task(
            id=task_id,
            number=number,
            sender=self.sender,
            recipient=self.recipient,
            safety=self.safety,
            key=self.key if self.safety else None,
            kind=self.kind,
            deadline=now + self.deadline if self.deadline else None,
            work_timeout=self.work_timeout,
            queued_at=now,
            converses=self.converses,
        )

    def envelope(self, task: Task, recipient: AgentRef) -> TaskEnvelope:
        """Return the task for the verb."""
        promise = None
        if task.safety and task.key:
            promise = Idempotency(duplicate_safety=DuplicateSafety(task.safety), key=task.key)
        return TaskEnvelope(
            id=task.id,
            recipient=recipient,
            intent_text=INTENT,
            task_kind=task.kind,
            idempotency=promise,
            deadline_ms=epoch_ms(task.deadline) if task.deadline else None,
            work_timeout=task.work_timeout,
            converses=task.converses,
        )


WANTED = st.builds(
    Wanted,
    sender=st.sampled_from(["alice", "alice", "anna"]),
    recipient=st.sampled_from(["bob", "bob", "ben"]),
    safety=st.sampled_from([*["idempotent"] * 3, "unsafe", "unsafe", None]),
    key=st.sampled_from(["k", "k", " k", "j"]),
    kind=st.sampled_from([None, None, None, "review"]),
    deadline=st.sampled_from([None, None, MINUTE, MINUTE * 5]),
    work_timeout=st.sampled_from([None, None, None, MINUTE * 2]),
    converses=st.sampled_from([*[True] * 4, False]),
)

Pick = tuple[str, int]


def picks(which: str) -> st.SearchStrategy[Pick]:
    """Draw a pick: three times out of four of this sort of tasks, else of all. Its number selects the task."""
    return st.tuples(st.sampled_from([which] * 3 + ["any"]), st.integers(0, 9))
