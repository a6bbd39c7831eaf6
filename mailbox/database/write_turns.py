"""Turns at SQLite's one write lock, which has no queue of its own.

Small writes of several threads share one transaction of SQLite, so that one commit serves them all.
"""

import contextlib
import copy
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import cache, partial
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, DatabaseError, IntegrityError, OperationalError, connections, transaction

from mailbox.database import managers

LONGEST_WAIT = 10.0  # seconds; then the writer tries SQLite's own lock, which may raise that the database is locked
# Pauses between two tries, in seconds. A write mostly ends within HURRY, and the lock is idle during a pause.
PAUSE, LONG_PAUSE = 0.0001, 0.001
HURRY = 0.01
Answer = TypeVar("Answer")
Step = Callable[[], Answer]  # returns the answer of a write, or raises its error
MOST_SHARED = 64  # writes of one transaction


class _Process:
    """The lock of this process, which orders its threads."""

    def __init__(self) -> None:
        self.threads = threading.Lock()


_here = _Process()
os.register_at_fork(after_in_child=_here.__init__)  # type: ignore[misc] # a new process has no such threads


@contextlib.contextmanager
def turn() -> Iterator[None]:
    """Run the block when it is this writer's turn among the threads and processes that take turns.

    A writer that meets SQLite's lock sleeps up to 100 ms before it tries again. With eight writers the lock is free
    most of that time. Only speed depends on turns: a writer without a turn still waits for the lock. On PostgreSQL
    and within a transaction the block runs at once.
    """
    ours = connections[DEFAULT_DB_ALIAS]  # `connection` would look it up for each attribute
    if ours.vendor != "sqlite" or ours.in_atomic_block:
        yield
        return
    give_up_at = time.monotonic() + LONGEST_WAIT
    threads = _here.threads
    if not threads.acquire(timeout=LONGEST_WAIT):
        yield
        return
    try:
        with _turn_of_process(ours.settings_dict["NAME"], give_up_at):
            yield
    finally:
        threads.release()


@contextlib.contextmanager
def _turn_of_process(database: str, give_up_at: float) -> Iterator[None]:
    """Hold the lock of the turns in the block. If it is not free before ``give_up_at``, run the block without it.

    A process takes the next place before it takes the lock. So a process with many writers alternates with the
    others: after its turn another process has the next place. Otherwise it would take turn after turn.
    """
    files = _opened(database)
    if files is None:
        yield
        return
    place, lock = files
    try:
        _wait_for(place, give_up_at)
        _wait_for(lock, give_up_at)
        fcntl.flock(place, fcntl.LOCK_UN)
        yield
    finally:
        fcntl.flock(place, fcntl.LOCK_UN)
        fcntl.flock(lock, fcntl.LOCK_UN)


def _wait_for(file: int, give_up_at: float) -> None:
    """Wait for the lock of ``file``, at most until ``give_up_at``."""
    hurry_until = time.monotonic() + HURRY
    while not _try_lock(file) and (now := time.monotonic()) < give_up_at:
        time.sleep(PAUSE if now < hurry_until else LONG_PAUSE)


def _opened(database: str) -> tuple[int, int] | None:
    """Return the files of the next place and of the turns, or None if they cannot be opened.

    SQLite then reports the reason by errors of its own.
    """
    try:
        return _file(f"{database}-next", os.getpid()), _file(f"{database}-turn", os.getpid())
    except OSError:
        return None


@cache
def _file(path: str, process: int) -> int:
    """Open the file whose lock orders processes. Each process opens its own, since a fork shares its parent's lock."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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


def run_shared(work: Callable[[Any], Answer]) -> Answer:
    """Return what ``work`` returns for a `named_cursor` in a transaction, which is committed by then.

    One thread of the process leads: it waits for its turn among the writers, and does the work of all threads that came
    meanwhile. So ``work`` runs in any thread: it reads and writes by its cursor alone, and must not catch an error of
    the database. An error of ``work`` is raised here; its writes are undone, and the writes of others stay. An error of
    the transaction is raised for all writes, but a broken constraint only for the write that broke it.
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
        with turn():
            writes += _waiting.take(MOST_SHARED - 1)
            steps = _decided([write.work for write in writes])
    except Exception as error:
        failed = partial(_raise, error)
        raise
    finally:
        _waiting.leave(own)
        for place, write in enumerate(writes[1:], start=1):
            write.step.set_result(steps[place] if steps else failed)
    answer: Answer = steps[0]()
    return answer


def _decided(works: Sequence[Callable[[Any], Answer]]) -> Sequence[Step[Answer]]:
    """Do the works in one transaction. If a constraint stops its commit, do each in a transaction of its own."""
    try:
        return _together(works)
    except IntegrityError:
        if len(works) == 1:
            raise
    return [_alone(work) for work in works]  # a deferred constraint does not tell whose row stopped the commit


def _alone(work: Callable[[Any], Answer]) -> Step[Answer]:
    try:
        return _together([work])[0]
    except Exception as error:  # noqa: BLE001 (it is raised in the thread of the work)
        return partial(_raise, error)


def _together(works: Sequence[Callable[[Any], Answer]]) -> Sequence[Step[Answer]]:
    """Do the works in one transaction; return the answer or the error of each. Raises an error of the transaction."""
    with transaction.atomic(durable=True), managers.open_named() as cursor:
        if len(works) == 1:
            return [partial(_identity, works[0](cursor))]
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
    return partial(_identity, answer)


def _identity(answer: Answer) -> Answer:
    return answer


def _raise(error: Exception) -> Any:
    """Raise a copy of the error, since several threads may raise it."""
    raise copy.copy(error).with_traceback(error.__traceback__) from error.__cause__
