"""The parent of the hub's programs: web server, task cluster and carrier. It starts each again when it ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from a2aproject.serving import beats, stopping

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
STEADY_AFTER = 10.0  # seconds; when a program ends after so long a run, its pauses begin anew
LOOKS_WHILE_SILENT = 10  # the time after which a silent program is late is measured in so many parts
ONE_STOP = 1.0  # seconds in which all stop signals count as one: a terminal and a service manager may both send one
# Seconds. A service manager signals the programs itself. A signal that interrupts the handler of another could jam it.
PASS_ON_AFTER = 0.2

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A program to keep running. Messages call it by its ``name``.

    A program with ``late_after`` sends beats (`beats.sender`). After so many seconds without a beat it is killed and
    started again. None: it sends no beats.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    late_after: float | None = None


@dataclass(slots=True)
class Child:
    """A service with its process, which is None while the service does not run."""

    service: Service
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_due_at: float = 0.0
    deaths_in_a_row: int = 0
    beats: beats.Receiver | None = None

    def start(self, now: float, line: int) -> None:
        """Start the program in a process group of its own. ``line`` is the reading end of the supervisor's lifeline."""
        descriptors = {stopping.VARIABLE: line}
        if self.service.late_after is not None:
            self.beats, descriptors[beats.VARIABLE] = beats.pipe(now)
        self.process = subprocess.Popen(  # noqa: S603 (our own command, no shell)
            self.service.command,
            env=os.environ | self.service.environment | {name: str(end) for name, end in descriptors.items()},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=descriptors.values(),
        )
        if self.beats is not None:
            os.close(descriptors[beats.VARIABLE])
        self.started_at = now

    def kill_if_late(self, now: float) -> str | None:
        """Kill the program if it is late. Return a message about it, else None. `reap` plans the next start."""
        late_after = self.service.late_after
        if self.process is None or self.beats is None or late_after is None:
            return None
        if self.beats.silence(now, longest_step=2 * late_after / LOOKS_WHILE_SILENT) < late_after:
            return None
        self._hear_no_more()
        self._signal_group()
        return f"The {self.service.name} finished nothing for {late_after:g} s and is killed."

    def reap(self, now: float) -> str | None:
        """Collect the process if it has ended and plan the next start. Return a message about it, None if it runs."""
        if self.process is None or (code := self.process.poll()) is None:
            return None
        self.kill()
        steady = now - self.started_at >= STEADY_AFTER
        self.deaths_in_a_row = 1 if steady else self.deaths_in_a_row + 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (self.deaths_in_a_row - 1))
        self.start_due_at = now + pause
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return f"The {self.service.name} {how}; starting it again in {pause:g} s."

    def terminate(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def kill(self) -> None:
        """Kill the process and every process that it started."""
        if self.process is None:
            return
        self._signal_group()
        self.process.wait()
        self.process = None
        self._hear_no_more()

    def _hear_no_more(self) -> None:
        if self.beats is not None:
            self.beats.close()
            self.beats = None

    def _signal_group(self) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)


class Supervisor:
    """Runs services, starts each again when it ends, and ends every process when it stops."""

    def __init__(self, services: Sequence[Service], *, say: Callable[[str], object], grace: float) -> None:
        """Take the services in the order of their start. Each has ``grace`` seconds to stop before it is killed."""
        self.children = [Child(service) for service in services]
        self.say = say
        self.grace = grace

    def run(self) -> None:
        """Run until a stop signal arrives and every process has ended.

        Another stop signal more than `ONE_STOP` seconds later kills the processes at once.
        """
        with _signals() as wait_for_signals, stopping.held() as line:
            try:
                while not wait_for_signals(self._tend(line)):
                    pass
                self.say("Stopping.")
                self._stop(wait_for_signals)
            finally:
                for child in self.children:
                    child.kill()

    def _tend(self, line: int) -> float:
        """Kill late programs, reap ended processes, start the services that are due. Return the longest pause then."""
        now = time.monotonic()
        for child in self.children:
            for report in (child.kill_if_late(now), child.reap(now)):
                if report:
                    self.say(report)
            if child.process is None and child.start_due_at <= now:
                child.start(now, line)
        due = [child.start_due_at - now for child in self.children if child.process is None]
        spans = [child.service.late_after for child in self.children if child.service.late_after]
        return min([*due, *(span / LOOKS_WHILE_SILENT for span in spans)], default=60.0)

    def _stop(self, wait_for_signals: Callable[[float], bool]) -> None:
        began_at = time.monotonic()
        time.sleep(PASS_ON_AFTER)
        for child in self.children:
            child.terminate()
        while any(child.process and child.process.poll() is None for child in self.children):
            remaining = began_at + self.grace - time.monotonic()
            is_stopped_again = wait_for_signals(remaining) and time.monotonic() - began_at >= ONE_STOP
            if remaining <= 0 or is_stopped_again:
                self.say("Some processes did not stop in time and are killed.")
                return


@contextlib.contextmanager
def _signals() -> Iterator[Callable[[float], bool]]:
    """Yield a function that sleeps so many seconds, or until a signal arrives. It returns whether to stop.

    The end of a child wakes it too. Signals arrive through a socket, so a signal just before the sleep counts too.
    """
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    watched = (*STOP_SIGNALS, signal.SIGCHLD)
    earlier_handlers = {number: signal.signal(number, lambda *_: None) for number in watched}
    earlier_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, watched)  # `supervise.become` has blocked them

    def wait(seconds: float) -> bool:
        readable, _, _ = select.select([reader], [], [], max(0.0, seconds))
        return bool(readable) and any(number in STOP_SIGNALS for number in reader.recv(4096))

    try:
        yield wait
    finally:
        signal.set_wakeup_fd(earlier_fd)
        for number, handler in earlier_handlers.items():
            signal.signal(number, handler)
        reader.close()
        writer.close()
