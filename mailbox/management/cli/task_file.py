"""Files of tasks: each line is the JSON body of one task, as ``POST /a2a/tasks`` takes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any, BinaryIO, Self
from uuid import UUID, uuid5

from django.conf import settings

from mailbox.access.agents import directory
from mailbox.access.callers import Caller
from mailbox.dialects.base.view import parse
from mailbox.dialects.covenant.requests import TaskBody
from mailbox.models import Agent
from mailbox.words import json_text
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import InvalidRequestError, MailboxError

NAMESPACE = UUID("718fe4f8-a6e4-4bf7-b909-38d3f710058d")  # of derived ids; never change it
MOST_NAMES = 1_000  # recipients whose whole names are remembered
_CHUNK = 65_536


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
