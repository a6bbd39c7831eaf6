"""Small writes of several threads in one transaction of SQLite, so that one commit serves them all."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, DatabaseError, OperationalError, connections, transaction

from mailbox.database import named_cursor, write_turns

Answer = TypeVar("Answer")
Step = Callable[[], Answer]  # returns the answer of a write, or raises its error

MOST = 64  # writes of one transaction


class _Write(Generic[Answer]):
    """The work of a thread, and the step that it goes on with."""

    def __init__(self, work: Callable[[Any], Answer]) -> None:
        self.work = work
        self.step: Future[Step[Answer]] = Future()


class _Waiting:
    """The writes of this process that wait for the next transaction. The leading thread does all of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.writes: list[_Write[Any]] = []
        self.leader: _Write[Any] | None = None

    def add(self, write: _Write[Any]) -> None:
        with self.lock:
            self.writes.append(write)
            if self.leader is None:
                self._appoint()

    def take(self, most: int) -> Sequence[_Write[Any]]:
        with self.lock:
            taken, self.writes = self.writes[:most], self.writes[most:]
            return taken

    def leave(self, write: _Write[Any]) -> None:
        """Forget a write whose thread waits no more. If that thread leads, another leads from now on."""
        with self.lock:
            if write in self.writes:
                self.writes.remove(write)
            if write is self.leader:
                self._appoint()

    def _appoint(self) -> None:
        """Let the thread of the first write lead."""
        self.leader = self.writes.pop(0) if self.writes else None
        if self.leader is not None:
            self.leader.step.set_result(partial(_lead, self.leader))


_waiting = _Waiting()
os.register_at_fork(after_in_child=_waiting.__init__)  # type: ignore[misc] # a new process has no such threads


def run(work: Callable[[Any], Answer]) -> Answer:
    """Return what ``work`` returns for a `named_cursor` in a transaction, which is committed by then.

    One thread of the process leads: it waits for its turn among the writers, and does the work of all threads that came
    meanwhile. So ``work`` runs in any thread: it reads and writes by its cursor alone, and must not catch an error of
    the database. An error of ``work`` is raised here; its writes are undone, and the writes of others stay. An error of
    the transaction is raised for all writes.
    Raises `RuntimeError` within a transaction of the caller, which might undo the write later.
    """
    if connections[DEFAULT_DB_ALIAS].in_atomic_block:
        return _together([work])[0]()
    write = _Write(work)
    _waiting.add(write)
    try:
        return write.step.result()()
    except BaseException:
        _waiting.leave(write)  # an interrupted thread waits no more
        raise


def _lead(own: _Write[Answer]) -> Answer:
    """Do the waiting writes too; then let another thread lead."""
    writes: list[_Write[Any]] = [own]
    failed: Step[Any] = partial(_raise, OperationalError("the thread that led the transaction was interrupted"))
    steps: Sequence[Step[Any]] = ()
    try:
        with write_turns.turn():
            writes += _waiting.take(MOST - 1)
            steps = _together([write.work for write in writes])
    except Exception as error:
        failed = partial(_raise, error)
        raise
    finally:
        _waiting.leave(own)
        for place, write in enumerate(writes[1:], start=1):
            write.step.set_result(steps[place] if steps else failed)
    answer: Answer = steps[0]()
    return answer


def _together(works: Sequence[Callable[[Any], Answer]]) -> Sequence[Step[Answer]]:
    """Do the works in one transaction; return the answer or the error of each. Raises an error of the transaction."""
    with transaction.atomic(durable=True), named_cursor.opened() as cursor:
        if len(works) == 1:
            return [partial(_given, works[0](cursor))]
        return [_apart(work, cursor) for work in works]


def _apart(work: Callable[[Any], Answer], cursor: Any) -> Step[Answer]:
    """Do one of several works. Its error undoes nothing of the others, unless SQLite has ended the transaction."""
    cursor.execute("SAVEPOINT one")
    try:
        answer = work(cursor)
    except Exception as error:  # noqa: BLE001 (it is raised in the thread of the work)
        try:
            cursor.execute("ROLLBACK TO one")
            cursor.execute("RELEASE one")
        except DatabaseError:
            raise error  # noqa: B904 (the transaction has ended with it)
        return partial(_raise, error)
    cursor.execute("RELEASE one")
    return partial(_given, answer)


def _given(answer: Answer) -> Answer:
    return answer


def _raise(error: Exception) -> Any:
    """Raise a copy of the error, since several threads may raise it."""
    raise copy.copy(error).with_traceback(error.__traceback__) from error.__cause__
