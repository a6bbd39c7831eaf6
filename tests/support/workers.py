"""Workers for tests. Tests of programs run them in this process, tests of signals in a process of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from a2a_hub_client import Hub
from a2a_hub_client.cli.commands.work import environment_without
from a2a_hub_client.worker.client import BatchingClient, WorkerClient
from a2a_hub_client.worker.orphans import Resuming
from a2a_hub_client.worker.programs import Programs, ProgramSettings
from a2a_hub_client.worker.worker import Worker
from mailbox.models import Lease, Message, Result, Task
from tests.support.hub import PATIENCE, wait_until
from tests.support.terminals import MAIN

GRACE = 1.0


@dataclass(slots=True, kw_only=True)
class Desk:
    """A place to run bob's programs: the hub's URL and his key. ``said`` holds the log lines of in-process workers."""

    url: str
    key: str
    var: Path
    said: list[str] = field(default_factory=list)

    def run(
        self,
        *command: str,
        name: str = "bob",
        tasks: int = 1,
        concurrency: int = 1,
        batch: int | None = None,
        resuming: Resuming | None = None,
        **how: Any,
    ) -> str | None:
        """Run a worker in this process for that many tasks; return its failure."""
        client_of = WorkerClient if batch is None else BatchingClient
        work = ProgramSettings(command=command, environment=environment_without(self.key), **{"grace": GRACE, **how})
        with Hub(self.url, lambda: self.key) as hub:
            worker = Worker(
                client_of(hub),
                name,
                Programs(work),
                concurrency=concurrency,
                batch=batch,
                max_tasks=tasks,
                resuming=resuming,
                say=self.said.append,
            )
            return worker.run()

    @contextlib.contextmanager
    def process(self, *command: str, name: str = "bob", options: tuple[str, ...] = ()) -> Iterator[WorkerProcess]:
        """Run `a2a work` in a process; kill it when the block ends."""
        words = ["work", name, "--url", self.url, "--grace", "1", "--heartbeat", "1", *options, "--", *command]
        log = self.var / "worker.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-c", MAIN, *words],
                cwd=self.var,
                env=os.environ | {"A2A_API_KEY": self.key, "A2A_CONFIG": str(self.var / "none")},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            yield WorkerProcess(process=process, log=log)
        finally:
            process.kill()
            process.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerProcess:
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def printed(self) -> str:
        return self.log.read_text()

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def code(self) -> int:
        return self.process.wait(PATIENCE)


def result_of(task: Task) -> Result:
    """Wait for the task's result and return it."""
    wait_until(lambda: Result.objects.filter(task=task).exists())
    return Result.objects.get(task=task)


def text_of(result: Result) -> str:
    (block,) = result.blocks
    return str(block["text"])


def messages_of(task: Task) -> list[str]:
    said = Message.objects.filter(task=task).in_order()
    return [block["text"] for message in said for block in message.blocks]


def lease_of(task: Task) -> Lease | None:
    return task.leases.live().first()


def await_lease(task: Task) -> Lease:
    """Return the lease of the task once it has one. The lease may end at any moment after that."""
    leases: list[Lease] = []

    def is_leased() -> bool:
        leases.extend(task.leases.live()[:1])
        return bool(leases)

    wait_until(is_leased)
    return leases[0]


def await_heartbeat(lease: Lease) -> None:
    """Wait until the worker has read the hub's answer to a heartbeat from now on: the next heartbeat follows it."""
    for _ in range(2):
        lease.refresh_from_db()
        seen_at = lease.last_seen_at
        wait_until(lambda seen_at=seen_at: Lease.objects.get(pk=lease.pk).last_seen_at > seen_at)  # type: ignore[misc]


def await_message(task: Task, number: int = 1) -> list[str]:
    wait_until(lambda: len(messages_of(task)) >= number)
    return messages_of(task)
