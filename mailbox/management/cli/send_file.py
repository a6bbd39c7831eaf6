"""``send --file``: sends the tasks of a file, many at once."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from django.core.management.base import CommandError

from mailbox.access.callers import Caller
from mailbox.life import batches
from mailbox.management.cli import arguments, output
from mailbox.management.cli.progress import Progress
from mailbox.management.cli.task_file import Line, TaskFile
from mailbox.models import Task
from mailbox.words import advice
from mailbox.words.envelopes import TaskEnvelope
from mailbox.words.errors import MailboxError, QuotaExceededError

AT_ONCE = batches.MOST_SENT
BYTES_AT_ONCE = 1_048_576  # of lines
MOST_REPORTED = 1_000  # refused lines that the message at the end names
WRONG_USAGE, INTERRUPTED = 2, 130


def send_file(options: Namespace) -> str:
    """Send every task of the file; return a sentence. Raises `CommandError` with all refused lines at the end."""
    sender = arguments.agent(options.sender)
    recipient = None if options.recipient is None else arguments.agent(options.recipient).display
    with (
        _opened(options.file) as (source, size),
        TaskFile(source, sender, recipient=recipient, run=options.run_name or "") as file,
    ):
        sending_ = _Sending(Caller.command_line(sender), Progress(size), as_json=options.json)
        try:
            sending_.send(file)
        except KeyboardInterrupt as interrupt:
            message = f"interrupted: {sending_.summary()}. The same command sends the rest."
            raise CommandError(message, returncode=INTERRUPTED) from interrupt
        finally:
            sending_.progress.end()
    if sending_.refused:
        raise CommandError("\n".join([f"{sending_.summary()}.", *sending_.report()]))
    return "" if options.json else sending_.summary()


class _Sending:
    """The state of one run: how many tasks went, how many were there before, and which lines were refused."""

    def __init__(self, caller: Caller, progress: Progress, *, as_json: bool) -> None:
        self.progress = progress
        self.sent = self.already_there = self.refused = 0
        self._caller = caller
        self._as_json = as_json
        self._problems: list[str] = []
        self._position = self._underway = 0
        self._waited_for = ""

    def send(self, file: TaskFile) -> None:
        for lines in _batches(file):
            while lines:
                lines = self._send(lines)
            self._show()

    def summary(self) -> str:
        """Words for what was done. The lines of an interrupted batch may have been sent, too."""
        parts = [
            f"{self.sent} task(s) sent",
            f"and perhaps {self._underway} more" if self._underway else "",
            f"{self.already_there} already there" if self.already_there else "",
            f"{self.refused} line(s) refused" if self.refused else "",
        ]
        return ", ".join(filter(None, parts))

    def report(self) -> list[str]:
        more = self.refused - len(self._problems)
        return [*self._problems, *([f"and {more} more line(s)"] if more else [])]

    def _send(self, lines: Sequence[Line]) -> Sequence[Line]:
        """Send the lines, and return those that a quota delays, after a wait."""
        self._underway = len(lines)
        outcomes = iter(_send_tasks(self._caller, [line.task for line in lines if isinstance(line.task, TaskEnvelope)]))
        over: list[tuple[Line, QuotaExceededError]] = []
        for line in lines:
            outcome = line.task if isinstance(line.task, MailboxError) else next(outcomes)
            if isinstance(outcome, QuotaExceededError) and not outcome.is_too_large:
                over.append((line, outcome))
            elif isinstance(outcome, MailboxError):
                self._refuse(line, outcome)
            else:
                self._count(line, outcome)
        self._position, self._underway = lines[-1].end, 0
        if over:
            self._wait(*over[0])
        return [line for line, _ in over]

    def _count(self, line: Line, task: Task) -> None:
        self.already_there += task.was_sent_before
        self.sent += not task.was_sent_before
        self._print({"line": line.number, "task_id": task.uuid, "already_there": task.was_sent_before})

    def _refuse(self, line: Line, error: MailboxError) -> None:
        self.refused += 1
        message = output.printable(advice.to_program(error))
        self._print({"line": line.number, "code": error.code, "message": message})
        if len(self._problems) < MOST_REPORTED:
            self._problems.append(f"line {line.number}: {message}")

    def _wait(self, line: Line, full: QuotaExceededError) -> None:
        """Wait until there may be room for the line. Each reason is shown once, at the first line that it delays."""
        if full.message != self._waited_for:
            self.progress.end()
            sys.stderr.write(f"Line {line.number} waits for room: {output.printable(full.message)}\n")
        self._waited_for = full.message
        self._show(f"line {line.number} waits for room")
        time.sleep(full.retry_after)

    def _show(self, note: str = "") -> None:
        self.progress.show(self._position, self.sent + self.already_there, note)

    def _print(self, outcome: dict[str, object]) -> None:
        if self._as_json:
            sys.stdout.write(f"{output.as_json(outcome)}\n")


def _send_tasks(caller: Caller, envelopes: Sequence[TaskEnvelope]) -> Sequence[Task | MailboxError]:
    return batches.send_tasks(caller, envelopes).of_each if envelopes else ()


def _batches(file: TaskFile) -> Iterator[Sequence[Line]]:
    """Yield the lines in batches of at most `AT_ONCE`, which end with the line that reaches `BYTES_AT_ONCE`."""
    batch: list[Line] = []
    began = 0
    for line in file:
        batch.append(line)
        if len(batch) == AT_ONCE or line.end - began >= BYTES_AT_ONCE:
            yield batch
            batch, began = [], line.end
    if batch:
        yield batch


@contextlib.contextmanager
def _opened(path: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open the file, or stdin for ``-``; yield it with its size in bytes, None if that is unknown."""
    if path == "-":
        yield sys.stdin.buffer, None
        return
    try:
        source = open(path, "rb")  # noqa: SIM115 (closed below; an error of the block is not one of opening)
    except OSError as error:
        raise CommandError(f"--file {path}: {error.strerror}", returncode=WRONG_USAGE) from error
    with source:
        status = os.fstat(source.fileno())
        yield source, status.st_size if stat.S_ISREG(status.st_mode) else None
