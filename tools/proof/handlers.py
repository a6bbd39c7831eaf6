"""Workers of the clients under faults: requests are cut, and worker processes are killed or frozen.

A worker may be killed before its first heartbeat. No worker takes over such a lease; the operator's retry gate requeues
its task.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from a2a_hub_client import Hub, HubError, Result, Retry
from tests.support.clients.environments import NotInstalledError, javascript_package
from tests.support.hub import ROOT
from tools.proof.evidence import Violation
from tools.proof.forms import HANG_UPS, Part, Strike
from tools.proof.history import History
from tools.proof.proxy import QUIET, proxied
from tools.proof.stage import Stage
from tools.proof.world import operator_key

Commands = Mapping[str, Sequence[str]]  # of worker processes, by their kinds
PYTHON: Commands = {kind: (sys.executable, "-m", "tools.proof.handler", kind) for kind in ("threads", "asyncio")}
OF_PACKAGE = "handlers of the client package"
OF_JAVASCRIPT = "handlers of the JavaScript client"
OF_FROZEN = "handlers that are frozen and taken over"
SENDERS = 2
BETWEEN = 2.0  # seconds between two strikes
BETWEEN_LONG = 0.3  # seconds between two tasks of a sender that take long
FROZEN = 20.0  # seconds at most: far longer than the silence after which a worker takes over
BEGUN_WITHIN = 60.0
RETRY_EVERY = 1.0
STALE = 20.0  # seconds: the age of a lease that the retry gate requeues, long after a worker would take it over
FINISHED_WITHIN = 240.0
STOPPED_WITHIN = 90.0


@dataclass(kw_only=True)
class Diary:
    """The facts that the clients know, by the ids of tasks. ``tries`` counts requests that were repeated."""

    sent: set[UUID] = field(default_factory=set)
    drained: Counter[UUID] = field(default_factory=Counter)
    wrong: dict[UUID, str] = field(default_factory=dict)
    doubled: set[UUID] = field(default_factory=set)  # a message of the worker came twice
    unsafe: set[UUID] = field(default_factory=set)  # sent without a key, so that they may not be done twice
    redone: set[UUID] = field(default_factory=set)  # those of them that were begun again
    repeated: int = 0  # tasks that were begun again, by a worker that took them over
    left: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    tries: int = 0

    def trouble(self, _: HubError) -> None:
        with self.lock:
            self.tries += 1

    def note(self, result: Result, said: list[str]) -> None:
        with self.lock:
            self.drained[result.task_id] += 1
            if not result.is_ok or result.text != str(result.task_id):
                self.wrong[result.task_id] = f"{result.status}: {result.text or result.error_message}"
            if len(set(said)) < len(said):
                self.doubled.add(result.task_id)
            self.repeated += len(said) > 1
            if len(said) > 1 and result.task_id in self.unsafe:
                self.redone.add(result.task_id)


def javascript() -> Commands:
    """Return the command of the worker in JavaScript, {} if it is not installed."""
    try:
        folder = javascript_package()
    except NotInstalledError:
        return {}
    return {"javascript": ("node", str(ROOT / "tools" / "proof" / "handler.mjs"), str(folder))}


def handled(
    stage: Stage, seed: int, *, sends: int, kills: int, name: str = OF_PACKAGE, commands: Commands = PYTHON
) -> Part:
    """Send idempotent tasks to handlers through the proxy, and kill worker processes; check what came back."""
    part = _struck(stage, seed, name, commands, sends, [Crew.kill] * kills, is_safe=True)
    part.strikes = [Strike(name=f"killed: a worker of {name}", recovery=0.0, counted=kills)]
    return part


def frozen(stage: Stage, seed: int, *, sends: int, freezes: int) -> Part:
    """Do as `handled` with frozen worker processes, and with tasks that may be done once only. No request is cut.

    A cut lets the silence of a frozen worker begin anew, so that it would hardly be taken over.
    """
    part = _struck(stage, seed, OF_FROZEN, PYTHON, sends, [Crew.freeze] * freezes, is_safe=False)
    part.strikes = [Strike(name="frozen: a worker, which others took over", recovery=0.0, counted=freezes)]
    if not part.operations["take_over"]:
        part.violations.append(Violation("frozen_worker_kept_its_tasks", "", f"{freezes} freezes"))
    return part


def _struck(
    stage: Stage, seed: int, name: str, commands: Commands, sends: int, strikes: Sequence[Strikes], *, is_safe: bool
) -> Part:
    began, diary = time.monotonic(), Diary()
    history = History(seed, stage.folder / f"history-{seed}.jsonl")
    with proxied(("127.0.0.1", stage.port), history, HANG_UPS if is_safe else QUIET) as proxy:
        _play(stage, proxy.url, diary, random.Random(seed), commands, sends, strikes, is_safe=is_safe)
    history.close()
    part = Part(name=name, database=stage.database, seed=seed, seconds=time.monotonic() - began)
    part.operations.update(send=len(diary.sent), drain=diary.drained.total(), take_over=diary.repeated)
    part.tries = part.operations.total() + diary.tries
    for (kind, _), count in proxy.counts.items():
        part.faults[kind] += count
    part.violations = list(broken(diary))
    return part


def _play(
    stage: Stage,
    url: str,
    diary: Diary,
    rng: random.Random,
    commands: Commands,
    sends: int,
    strikes: Sequence[Strikes],
    *,
    is_safe: bool,
) -> None:
    retry = Retry(patience=FINISHED_WITHIN, first_pause=0.05, longest_pause=1.0, on_trouble=diary.trouble)
    names = [f"{kind}-{rng.getrandbits(32):x}@proof" for kind in commands]
    operator = Hub(stage.url, operator_key(stage), timeout=60, retry=retry)
    with operator, contextlib.ExitStack() as running:
        senders = [
            running.enter_context(Hub(url, _key(operator, f"sender-{rng.getrandbits(32):x}@proof"), retry=retry))
            for _ in range(SENDERS)
        ]
        keys = [_key(operator, name) for name in names]
        crew = [
            running.enter_context(Crew(command, url, key, stage.folder / f"{name}.log"))
            for name, command, key in zip(names, commands.values(), keys, strict=True)
        ]
        with ThreadPoolExecutor(SENDERS) as pool:
            sending = [
                pool.submit(_send_and_drain, hub, names, sends // SENDERS, diary, is_safe=is_safe) for hub in senders
            ]
            for strike in strikes:
                time.sleep(BETWEEN)
                strike(rng.choice(crew))
            _retry_until_done(operator, sending)
        diary.left += [f"exit code {code}" for one in crew if (code := one.stop()) != 0]
        for key in keys:
            with Hub(stage.url, key, retry=retry) as worker:
                diary.left += [f"lease of task {held.task.id}" for held in worker.leases()]


def _retry_until_done(operator: Hub, sending: Sequence[Future[None]]) -> None:
    """Requeue tasks whose worker was killed before its first heartbeat, until the senders have all results.

    A pass is not repeated, so it is kept short: a loaded hub may need a second for ten tasks.
    """
    give_up_at = time.monotonic() + FINISHED_WITHIN
    while wait(sending, RETRY_EVERY).not_done and time.monotonic() < give_up_at:
        operator.retry_stale(enabled=True, min_lease_age=STALE, max_attempts=100, max_requeues=20)
    for sender in sending:
        sender.result(0)


def _key(operator: Hub, name: str) -> str:
    made = operator.add_agent(name)
    for action in ("a2a.send.*", "a2a.respond.*"):
        operator.grant(name, action)
    return made.api_key


def _send_and_drain(hub: Hub, names: list[str], sends: int, diary: Diary, *, is_safe: bool) -> None:
    """Send the tasks, and receive their results. Unless all are safe, half have no key, and all take long."""
    mine = set()
    for number in range(sends):
        key, words = (str(number), "work") if is_safe else (str(number) if number % 4 < 2 else None, "long work")
        task_id = hub.send(names[number % len(names)], f"{words} {number}", idempotency_key=key).id
        mine.add(task_id)
        if key is None:
            diary.unsafe.add(task_id)
        time.sleep(0 if is_safe else BETWEEN_LONG)
    diary.sent |= mine
    missing = set(mine)
    for result in hub.results(batch=5, wait=FINISHED_WITHIN):
        said = [one.text for one in hub.task(result.task_id).messages() if one.role == "agent" and one.progress is None]
        diary.note(result, said)
        missing.discard(result.task_id)
        if not missing:
            hub.ack(list(mine))
            return


class Member:
    """A worker process with a log of its own."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def taken_over(self) -> int:
        """The number of tasks that it has taken over, which it logs."""
        return self._log.read_bytes().count(b": taken over, ")

    def stop(self) -> None:
        """Send SIGTERM once the worker hears signals, which it logs; before, the signal would end the process."""
        limit = time.monotonic() + BEGUN_WITHIN
        while b"Working" not in self._log.read_bytes() and self.process.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
        self.process.send_signal(signal.SIGTERM)


class Crew:
    """Two worker processes of one agent. One of them is killed and started again."""

    def __init__(self, command: Sequence[str], url: str, key: str, log: Path) -> None:
        """``log`` is the path of the logs, to which each process adds its number."""
        self._command = command
        self._environment = os.environ | {"A2A_URL": url, "A2A_API_KEY": key}
        self._logs = (log.with_suffix(f".{number}.log") for number in itertools.count(1))
        self._members: list[Member] = []

    def __enter__(self) -> Crew:
        self._members = [self._start(), self._start()]
        return self

    def __exit__(self, *_: object) -> None:
        for member in self._members:
            member.kill()

    def kill(self) -> None:
        """Kill the older process, and start another."""
        self._members.pop(0).kill()
        self._members.append(self._start())

    def freeze(self) -> None:
        """Freeze the oldest process until another one takes over a task, or for so long; then let both go on."""
        frozen = self._members.pop(0)
        frozen.process.send_signal(signal.SIGSTOP)
        self._members.append(self._start())
        before, give_up_at = self._taken_over(), time.monotonic() + FROZEN
        while self._taken_over() == before and time.monotonic() < give_up_at:
            time.sleep(0.1)
        frozen.process.send_signal(signal.SIGCONT)
        self._members.append(frozen)

    def _taken_over(self) -> int:
        return sum(member.taken_over for member in self._members)

    def stop(self) -> int:
        """Stop the processes by SIGTERM; return an exit code that is not 0, else 0."""
        for member in self._members:
            member.stop()
        return next(filter(None, [member.process.wait(STOPPED_WITHIN) for member in self._members]), 0)

    def _start(self) -> Member:
        return Member(self._command, self._environment, next(self._logs))


Strikes = Callable[[Crew], None]  # a strike at one crew


def broken(diary: Diary) -> Iterator[Violation]:
    """Yield the promises that the clients' diary shows as broken."""
    for task_id in diary.sent - diary.drained.keys():
        yield Violation("handler_result_lost", str(task_id))
    for task_id, times in diary.drained.items():
        if times > 1 or task_id not in diary.sent:
            yield Violation("handler_result_doubled", str(task_id), f"{times} times")
    for task_id, result in diary.wrong.items():
        yield Violation("handler_result_wrong", str(task_id), result)
    for task_id in diary.redone:
        yield Violation("unsafe_task_redone", str(task_id))
    for task_id in diary.doubled:
        yield Violation("handler_message_doubled", str(task_id))
    for what in diary.left:
        yield Violation("handler_left_something", what)
