"""The states of the official A2A protocol, and what each kind of journal row means to it. Both tables are total.

Source: A2A 1.0, TaskState.
"""

from collections.abc import Mapping
from enum import Enum, StrEnum, auto

from mailbox.words.kinds import Kind

# The kinds that end a task. A repair ends a task if it forces an error.
ENDING = (Kind.RESULT_POSTED, Kind.RESULT_REPLAYED, Kind.TASK_EXPIRED, Kind.TASK_CANCELLED, Kind.REPAIR_APPLIED)


class TaskState(StrEnum):
    """The state of a task by its name on the wire."""

    SUBMITTED = "TASK_STATE_SUBMITTED"
    WORKING = "TASK_STATE_WORKING"
    INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
    AUTH_REQUIRED = "TASK_STATE_AUTH_REQUIRED"
    COMPLETED = "TASK_STATE_COMPLETED"
    FAILED = "TASK_STATE_FAILED"
    CANCELED = "TASK_STATE_CANCELED"
    REJECTED = "TASK_STATE_REJECTED"

    @property
    def is_terminal(self) -> bool:
        return self in _TERMINAL

    @property
    def is_interrupted(self) -> bool:
        return self in (TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED)


_TERMINAL = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED})
_OF_UNRESOLVED: Mapping[tuple[str, str | None], TaskState] = {
    ("queued", None): TaskState.SUBMITTED,
    ("in_flight", None): TaskState.WORKING,
    ("interrupted", "input"): TaskState.INPUT_REQUIRED,
    ("interrupted", "authorization"): TaskState.AUTH_REQUIRED,
}
_OF_OUTCOME: Mapping[str, TaskState] = {
    "ok": TaskState.COMPLETED,
    "partial": TaskState.COMPLETED,
    "error": TaskState.FAILED,
    "expired": TaskState.FAILED,
    "cancelled": TaskState.CANCELED,
    "rejected": TaskState.REJECTED,
}


def of_question(awaits: str) -> TaskState:
    """Return the state of a task that waits for ``input`` or ``authorization``."""
    return _OF_UNRESOLVED["interrupted", awaits]


def of_outcome(outcome: str) -> TaskState:
    """Return the terminal state of a task that was resolved with this outcome."""
    return _OF_OUTCOME[outcome]


def of_task(state: str, awaits: str | None, outcome: str | None) -> TaskState:
    """Return the state of a task from the columns of its row."""
    return _OF_UNRESOLVED[state, awaits] if outcome is None else _OF_OUTCOME[outcome]


def columns_of(wanted: TaskState) -> Mapping[str, object]:
    """Return the conditions on a task's columns, by name, that hold for all tasks in this state."""
    for (state, awaits), found in _OF_UNRESOLVED.items():
        if found == wanted:
            return {"state": state} if awaits is None else {"state": state, "awaits": awaits}
    return {"outcome__in": [outcome for outcome, found in _OF_OUTCOME.items() if found == wanted]}


class Change(Enum):
    """The meaning of a journal row to the reader of its task."""

    NOTHING = auto()
    SENT = auto()  # the task itself
    LEASED = auto()
    QUEUED = auto()  # returned to the queue by its holder
    REPAIRED = auto()  # returned to the queue, or resolved as an error
    UPDATED = auto()  # a message, progress, or an artifact
    INTERRUPTED = auto()
    HEARD = auto()  # a message of its sender, which queues an interrupted task
    ENDED = auto()


_CHANGES: Mapping[Kind, Change] = {
    Kind.TASK_SENT: Change.SENT,
    Kind.TASK_LEASED: Change.LEASED,
    Kind.TASK_RELEASED: Change.QUEUED,
    Kind.REPAIR_APPLIED: Change.REPAIRED,
    Kind.TASK_UPDATED: Change.UPDATED,
    Kind.TASK_ASKED: Change.INTERRUPTED,
    Kind.MESSAGE_SENT: Change.HEARD,
    Kind.RESULT_POSTED: Change.ENDED,
    Kind.RESULT_REPLAYED: Change.ENDED,
    Kind.TASK_EXPIRED: Change.ENDED,
    Kind.TASK_CANCELLED: Change.ENDED,
}


def change_of(kind: Kind) -> Change:
    """Return what a numbered journal row of this kind means."""
    return _CHANGES.get(kind, Change.NOTHING)
