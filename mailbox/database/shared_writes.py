"""Small writes of several threads in one transaction of SQLite, so that one commit serves them all."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, transaction

from mailbox.database import named_cursor, write_turns

Answer = TypeVar("Answer")

MOST = 64  # writes of one transaction


class _Write(Generic[Answer]):
    """The work of a thread, and the step that it goes on with."""

    def __init__(self, work: Callable[[Any], Answer]) -> None:
        self.work = work
        self.step: Future[Callable[[], Answer]] = Future()


class _Waiting:
    """The writes of this process that wait for the next transaction. The leading thread does all of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.writes: list[_Write[Any]] = []
        self.has_leader = False

    def add(self, write: _Write[Any]) -> None:
        with self.lock:
            self.writes.append(write)
            if not self.has_leader:
                self._appoint()

    def take(self, most: int) -> Sequence[_Write[Any]]:
        with self.lock:
            taken, self.writes = self.writes[:most], self.writes[most:]
            return taken

    def pass_the_lead(self) -> None:
        with self.lock:
            self._appoint()

    def _appoint(self) -> None:
        """Let the thread of the first write lead."""
        self.has_leader = bool(self.writes)
        if self.has_leader:
            leader = self.writes.pop(0)
            leader.step.set_result(partial(_lead, leader))


_waiting = _Waiting()
os.register_at_fork(after_in_child=_waiting.__init__)  # type: ignore[misc] # a new process has no such threads


def run(work: Callable[[Any], Answer]) -> Answer:
    """Return what ``work`` returns for a `named_cursor` in a transaction, which is committed by then.

    One thread of the process leads: it waits for its turn among the writers, and does the work of all threads that came
    meanwhile. So ``work`` may run in another thread. If a common transaction fails, each write runs once more, in a
    transaction of its own, whose error is raised. Raises `RuntimeError` within a transaction of the caller, which might
    undo the write later.
    """
    if connections[DEFAULT_DB_ALIAS].in_atomic_block:
        return _together([work])[0]
    write = _Write(work)
    _waiting.add(write)
    return write.step.result()()


def _lead(own: _Write[Answer]) -> Answer:
    """Do the waiting writes too; then let another thread lead."""
    writes: list[_Write[Any]] = [own]
    answers: Sequence[Any] = ()
    try:
        with write_turns.turn():
            writes += _waiting.take(MOST - 1)
            answers = _together([write.work for write in writes])
    except Exception:
        if len(writes) == 1:
            raise
    finally:
        _waiting.pass_the_lead()
        for place, write in enumerate(writes[1:], start=1):
            write.step.set_result(partial(_given, answers[place]) if answers else partial(_alone, write.work))
    return answers[0] if answers else _alone(own.work)


def _alone(work: Callable[[Any], Answer]) -> Answer:
    with write_turns.turn():
        return _together([work])[0]


def _together(works: Sequence[Callable[[Any], Answer]]) -> Sequence[Answer]:
    with transaction.atomic(durable=True), named_cursor.opened() as cursor:
        return [work(cursor) for work in works]


def _given(answer: Answer) -> Answer:
    return answer
