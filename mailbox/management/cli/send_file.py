"""``send --file``: sends the tasks of a file, many at once.

Each line of the file is the JSON body of one task, as ``POST /a2a/tasks`` takes it.
"""

import contextlib
import os
import sqlite3
import stat
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any, BinaryIO, Self
from uuid import UUID, uuid5

from django.conf import settings
from django.core.management.base import CommandError

from mailbox.access.agents import directory
from mailbox.access.callers import Caller
from mailbox.dialects.base.view import parse
from mailbox.dialects.covenant.requests import TaskBody
from mailbox.life import batches
from mailbox.management.cli import arguments, output
from mailbox.management.cli.progress import Progress
from mailbox.models import Agent, Task
from mailbox.words import errors, json_text
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import InvalidRequestError, MailboxError, QuotaExceededError

NAMESPACE = UUID("718fe4f8-a6e4-4bf7-b909-38d3f710058d")  # of derived ids; never change it
MOST_NAMES = 1_000  # recipients whose whole names are remembered
_CHUNK = 65_536
AT_ONCE = batches.MOST_SENT
BYTES_AT_ONCE = 1_048_576  # of lines
MOST_REPORTED = 1_000  # refused lines that the message at the end names
INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a file. ``number`` counts from 1, and ``end`` is the position behind the line, in bytes.

    ``task`` is the envelope of its task, or the error of a line without one.
    """

    number: int
    end: int
    task: TaskEnvelope | MailboxError


class TaskFile:
    """The tasks of a file for ``sender``. It reads one line at a time, so that the file may be larger than the memory.

    A task without an ``id`` gets an id that is derived from its line, so that a repeated file names the same tasks. Of
    equal lines, the first has the same id wherever it stands, and the second has another. ``recipient`` is the
    recipient of the lines that name none, and a part of their ids alone. ``run`` is a part of derived ids: another run
    of the same file makes new tasks. No secret is a part, so the ids outlive a change of SECRET_KEY. Another agent that
    guesses a line may take its id first. The line is then refused with a conflict, and another ``run`` sends it.

    It is a context manager, which closes the file of its counts. Its user closes ``source``.
    """

    def __init__(self, source: BinaryIO, sender: Agent, *, recipient: str | None = None, run: str = "") -> None:
        self._source = source
        self._sender = sender
        self._recipient = recipient
        self._run = run
        self._seen = _Occurrences()
        self._in_full = lru_cache(maxsize=MOST_NAMES)(_in_full)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._seen.close()

    def __iter__(self) -> Iterator[Line]:
        """Yield the lines in their order, without blank lines."""
        number = end = 0
        while raw := self._source.readline(settings.A2A_MAX_BODY_BYTES + 1):
            number += 1
            end += len(raw)
            is_whole = raw.endswith(b"\n") or len(raw) <= settings.A2A_MAX_BODY_BYTES
            if not is_whole:
                end += self._skip_the_rest()
            if text := raw.strip():
                yield Line(number=number, end=end, task=self._task(text) if is_whole else _too_long())

    def _skip_the_rest(self) -> int:
        skipped = 0
        while part := self._source.readline(_CHUNK):
            skipped += len(part)
            if part.endswith(b"\n"):
                break
        return skipped

    def _task(self, text: bytes) -> TaskEnvelope | MailboxError:
        try:
            body = json_text.loads(text)
            recipient = self._recipient_of(body)
            envelope = parse(TaskBody, body if recipient is None else {**body, "recipient": recipient}).envelope()
        except MailboxError as error:
            return error
        task_id = envelope.id or self._id_of(text, recipient)
        return replace(envelope, id=task_id, recipient=self._in_full(envelope.recipient))

    def _recipient_of(self, body: Any) -> str | None:
        """Return the recipient of a line that names none; None if the line names one, or if there is none."""
        return self._recipient if isinstance(body, dict) and "recipient" not in body else None

    def _id_of(self, text: bytes, recipient: str | None) -> UUID:
        """Return the id that is derived from a line. ``recipient`` is None if the line names its own."""
        digest = blake2b(text, digest_size=16).digest()
        origin = f"{self._sender.pubkey}\n{recipient or ''}\n{self._run}"
        return uuid5(NAMESPACE, f"{origin}\n{digest.hex()}\n{self._seen.next(digest)}")


class _Occurrences:
    """Counts how often each digest came. The counts are in a temporary file, since memory is for other things."""

    def __init__(self) -> None:
        # An empty name makes a private file, which SQLite deletes in the end. One open transaction writes it lazily.
        self._counts = sqlite3.connect("", isolation_level=None)
        self._counts.execute("CREATE TABLE seen (digest BLOB PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID")
        self._counts.execute("BEGIN")

    def next(self, digest: bytes) -> int:
        """Count the digest, and return how often it came so far."""
        counted = self._counts.execute(
            "INSERT INTO seen VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1 RETURNING times", (digest,)
        )
        (times,) = counted.fetchone()
        return int(times)

    def close(self) -> None:
        self._counts.close()


def _in_full(recipient: AgentRef) -> AgentRef:
    """Return the whole name of the recipient, so that many of its tasks are sent at once; an unknown name as it is."""
    try:
        agent = directory.identified(Caller.command_line(), recipient)
    except MailboxError:
        return recipient
    return AgentRef(agent.display, agent.pubkey)


def _too_long() -> MailboxError:
    return InvalidRequestError({"line": f"is longer than {settings.A2A_MAX_BODY_BYTES} bytes"})


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
        message = output.printable(errors.text_for_program(error))
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
        raise CommandError(f"--file {path}: {error.strerror}", returncode=arguments.WRONG_USAGE) from error
    with source:
        status = os.fstat(source.fileno())
        yield source, status.st_size if stat.S_ISREG(status.st_mode) else None
