"""The record of a run: each operation with its tries, as JSON lines.

An operation is one intention of a client. It is tried under the same ids and the same request id until it is answered.
"""

import dataclasses
import itertools
import json
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One request. ``status`` is None without an answer; ``problem`` then says how the connection ended.

    ``began_at`` and ``ended_at`` are seconds since the begin of the run. ``answer`` is the body.
    """

    began_at: float
    ended_at: float
    status: int | None
    problem: str = ""
    answer: Any = None


@dataclass(slots=True, kw_only=True)
class Operation:
    """One intention of an actor. ``facts`` are the ids and values of its request.

    ``faults`` are the kinds of the proxy's faults on its tries. ``answer`` is the body of its last answer.
    """

    verb: str  # send, lease, post, drain, ack, release, cancel, repair, accept, compact, look
    actor: str  # the display of the agent, or the operator
    request_id: str
    route: str  # method and path, with {id} for an id
    dialect: str
    facts: dict[str, Any] = field(default_factory=dict)
    began_at: float = 0.0
    ended_at: float | None = None  # None: it was never answered
    tries: list[Try] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def status(self) -> int | None:
        """The status of its answer; None without an answer."""
        return self.tries[-1].status if self.tries and self.ended_at is not None else None

    @property
    def answer(self) -> Any:
        return self.tries[-1].answer if self.tries and self.ended_at is not None else None

    @property
    def is_acknowledged(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class History:
    """The operations of a run, in order of their begin. Threads may record at once.

    With a ``path``, each ended operation and each note is also written there as one JSON line.
    """

    def __init__(self, seed: int, path: Path | None = None) -> None:
        self.seed = seed
        self.operations: list[Operation] = []
        self.notes: list[dict[str, Any]] = []
        self._start = time.monotonic()
        self._lock = threading.Lock()
        self._by_request: dict[str, Operation] = {}
        self._writes: deque[Try] = deque(maxlen=100_000)  # the newest acknowledged writes
        self._file: IO[str] | None = path.open("a") if path else None

    def now(self) -> float:
        """Return the seconds since the begin of the run."""
        return round(time.monotonic() - self._start, 4)

    def begin(self, operation: Operation) -> Operation:
        operation.began_at = self.now()
        with self._lock:
            self.operations.append(operation)
            self._by_request[operation.request_id] = operation
        return operation

    def end(self, operation: Operation) -> None:
        """Record that the operation has its answer, which is that of its last try."""
        operation.ended_at = self.now()
        if operation.verb in WRITES and operation.is_acknowledged:
            with self._lock:
                self._writes.append(operation.tries[-1])
        self._write(dataclasses.asdict(operation))

    def faulted(self, request_id: str, kind: str) -> None:
        """Record a fault of the proxy. A request id without an operation is ignored."""
        with self._lock:
            if (operation := self._by_request.get(request_id)) is not None:
                operation.faults.append(kind)

    def note(self, what: str, **facts: Any) -> dict[str, Any]:
        """Record an event beside the operations, such as a kill; return it, so that facts can be added later."""
        noted = {"note": what, "at": self.now(), **facts}
        with self._lock:
            self.notes.append(noted)
        self._write(noted)
        return noted

    def noted(self, what: str) -> Sequence[dict[str, Any]]:
        with self._lock:
            return [note for note in self.notes if note["note"] == what]

    def of(self, *verbs: str) -> Iterator[Operation]:
        """Return the operations of these verbs."""
        return (operation for operation in self.operations if operation.verb in verbs)

    def acknowledged(self, *verbs: str) -> Iterator[Operation]:
        return (operation for operation in self.of(*verbs) if operation.is_acknowledged)

    def first_write_after(self, moment: float) -> float | None:
        """Return when the first write that was tried after ``moment`` was acknowledged; None if there is none."""
        with self._lock:
            ends = [last.ended_at for last in self._writes if last.began_at >= moment]
        return min(ends, default=None)

    def longest_silence(self, since: float, until: float) -> float:
        """Return the longest time between two acknowledged writes in that span; its ends count as writes."""
        with self._lock:
            ends = [last.ended_at for last in self._writes]
        moments = sorted([since, *(end for end in ends if since < end < until), until])
        return max(later - earlier for earlier, later in itertools.pairwise(moments))

    def close(self) -> None:
        """Write the operations without an answer, and close the file."""
        for operation in self.operations:
            if operation.ended_at is None:
                self._write(dataclasses.asdict(operation))
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, line: dict[str, Any]) -> None:
        text = json.dumps(line, separators=(",", ":"), default=str)
        with self._lock, suppress(ValueError):  # a thread may end after the file was closed
            if self._file is not None:
                self._file.write(f"{text}\n")


WRITES = frozenset({"send", "post", "ack", "release", "cancel", "repair"})
