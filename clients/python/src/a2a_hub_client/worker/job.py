"""The work of an attempt as the engine sees it: one run of a program, or one call of a Python function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Protocol

from a2a_hub_client.worker.leased_task import LeasedTask, TaskResult
from a2a_hub_client.worker.updates import Updates

if TYPE_CHECKING:
    from typing_extensions import Self


class Stop(Enum):
    """The reason to stop a job."""

    TIMED_OUT = auto()
    LEASE_ENDED = auto()
    WORKER_STOPPED = auto()
    CONCLUDED = auto()  # it did not end by itself after its last control line
    FAULTY = auto()  # an update cannot be obeyed, or was refused


class Job(Protocol):
    """One run of the work for one leased task. Call `start` first, and `close` at the end."""

    @property
    def updates(self) -> Updates:
        """The updates that it posts while it runs."""

    @property
    def is_strict(self) -> bool:
        """Whether an update that the hub refuses fails the task."""

    @property
    def ended_at(self) -> float | None:
        """The time of its end by the monotonic clock; None while anything of it runs."""

    def start(self, conversation: Sequence[Mapping[str, Any]]) -> None:
        """Start with the task's messages, oldest first. Raises `OSError` or `ValueError` if that fails."""

    def hear(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Take the messages that came since the start."""

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds`` until the attempt can go on without the job; return whether it can."""

    def stop(self, why: Stop, *, at_once: bool = False) -> None:
        """Stop the job within its grace, or ``at_once``. The first reason counts."""

    def conclude(self) -> None:
        """Stop the job if it does not end by itself within the grace, counted from the first call."""

    def close(self) -> None:
        """Delete its files."""

    def await_end(self) -> None:
        """Wait until nothing of it runs any more."""

    @property
    def stopped(self) -> Stop | None:
        """The reason why it was stopped; None: it ended by itself."""

    @property
    def fault(self) -> str | None:
        """The problem of an update that cannot be obeyed; None without one."""

    @property
    def has_concluded(self) -> bool:
        """Whether it gave its result or a question."""

    @property
    def closing(self) -> TaskResult:
        """Its result or its question, once it has ended without a fault."""


class Work(Protocol):
    """Makes a job for each leased task, within its ``with`` block. ``heartbeat`` and ``grace`` are in seconds."""

    name: str
    heartbeat: float
    grace: float

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def job(self, leased: LeasedTask) -> Job: ...
