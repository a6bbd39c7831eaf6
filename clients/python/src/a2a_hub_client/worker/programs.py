"""Programs as the work of a worker: each task is one run of the program."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from a2a_hub_client.worker import given
from a2a_hub_client.worker.control import ControlledOutput
from a2a_hub_client.worker.guard import Guard
from a2a_hub_client.worker.job import Stop
from a2a_hub_client.worker.leased_task import LeasedTask, TaskResult
from a2a_hub_client.worker.output import Output
from a2a_hub_client.worker.program import Program

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSettings:
    """The program to run for each task, and how. ``heartbeat`` and ``grace`` are seconds.

    ``environment`` holds the program's variables, without the API key. ``result`` selects its last line or all lines.
    ``messages`` "none" posts no line as a message. ``protocol`` "lines" lets the program write control lines.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    result: Literal["last", "all"] = "last"
    messages: Literal["all", "none"] = "all"
    protocol: Literal["plain", "lines"] = "plain"
    heartbeat: float = 10.0
    grace: float = 10.0


class Programs:
    """Runs a program for each task, and guards the programs of a worker that is killed."""

    def __init__(self, settings: ProgramSettings) -> None:
        self.name = settings.command[0]
        self.heartbeat, self.grace = settings.heartbeat, settings.grace
        self._settings = settings
        self._guard: Guard

    def __enter__(self) -> Self:
        self._guard = Guard(grace=self.grace)
        return self

    def __exit__(self, *_: object) -> None:
        self._guard.close()

    def job(self, leased: LeasedTask) -> ProgramJob:
        """Return a run of the program that has not started."""
        return ProgramJob(leased, self._settings, self._guard)


class ProgramJob:
    """One run of the program, for one task."""

    def __init__(self, leased: LeasedTask, settings: ProgramSettings, guard: Guard) -> None:
        self._leased = leased
        self._settings = settings
        self._token = secrets.token_hex(16) if settings.protocol == "lines" else None
        self.is_strict = self._token is not None
        is_silent = settings.messages == "none"
        self.updates = self._output = (
            Output(is_silent=is_silent) if self._token is None else ControlledOutput(self._token, is_silent=is_silent)
        )
        self._program = Program(
            settings.command, output=self._output, guard=guard, time_limit=leased.time_limit, grace=settings.grace
        )
        self._files = contextlib.ExitStack()
        self._file: given.ConversationFile

    @property
    def ended_at(self) -> float | None:
        return self._program.ended_at

    def start(self, conversation: Sequence[Mapping[str, Any]]) -> None:
        self._file = self._files.enter_context(given.conversation_file(conversation))
        variables = given.environment_of(self._leased, conversation=self._file.path, token=self._token)
        text = given.text_of(self._leased, conversation)
        self._program.start(text, {**self._settings.environment, **variables})

    def hear(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self._file.add(messages)

    def wait(self, seconds: float) -> bool:
        return self._program.wait(seconds)

    def stop(self, why: Stop, *, at_once: bool = False) -> None:
        self._program.stop(why, at_once=at_once)

    def conclude(self) -> None:
        self._program.conclude()

    def close(self) -> None:
        self._files.close()

    def await_end(self) -> None:
        """Return at once: an attempt goes on only when its program has ended."""

    @property
    def stopped(self) -> Stop | None:
        return self._program.ending.stop

    @property
    def fault(self) -> str | None:
        return self._output.fault

    @property
    def has_concluded(self) -> bool:
        return self._output.conclusion is not None

    @property
    def closing(self) -> TaskResult:
        """The last control line of a program that did not fail, else a result by its exit code."""
        ending, conclusion = self._program.ending, self._output.conclusion
        has_failed = ending.code != 0 and ending.stop is None
        if conclusion is not None and not has_failed:
            return TaskResult(spoken=conclusion)
        if ending.code == 0:
            return TaskResult(text=self._output.last if self._settings.result == "last" else self._output.whole)
        complaint = self._output.complaint
        return TaskResult(error_message=f"{ending}\n{complaint}" if complaint else str(ending))
