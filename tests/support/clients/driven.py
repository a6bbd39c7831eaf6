"""An official client in a process of its own. Its test says what to do, line by line, and reads the answers."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.support.hub import PATIENCE

Json = dict[str, Any]


# The names of 1.x for the codes that the Python SDK 0.3 shows.
NAMES = {
    -32001: "TaskNotFoundError",
    -32002: "TaskNotCancelableError",
    -32003: "PushNotificationNotSupportedError",
    -32004: "UnsupportedOperationError",
    -32005: "ContentTypeNotSupportedError",
    -32602: "InvalidParamsError",
}


class RefusedError(Exception):
    """The client raised an error. ``name`` is the error's class in 1.x, in every version of the client."""

    def __init__(self, error: Json) -> None:
        super().__init__(error)
        self.name = NAMES.get(error["code"], str(error["name"]))
        self.message = str(error["message"])


@dataclass(slots=True)
class Operation:
    """One operation that the client has begun."""

    number: int
    client: Driven
    lines: queue.Queue[Json] = field(default_factory=queue.Queue)

    def result(self) -> Any:
        """Wait for the end of the operation, and return its result. Raise `RefusedError` if the client did."""
        while True:
            line = self._next()
            if "event" not in line:
                return _result(line)

    def event(self) -> Any:
        """Wait for the next event."""
        line = self._next()
        if "error" in line:
            raise RefusedError(line["error"])
        return line["event"]

    def events(self) -> list[Any]:
        """Return the events that are left until the stream ends."""
        found: list[Any] = []
        while "event" in (line := self._next()):
            found.append(line["event"])
        _result(line)
        return found

    def drop(self) -> None:
        """Close the connection of the operation, and wait until it is closed."""
        self.client.tell({"do": "drop", "id": self.number})
        while "event" in self._next():
            pass

    def _next(self) -> Json:
        try:
            return self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"no answer: {self.client.complaints()}") from None


class Driven:
    """A running client."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._numbers = itertools.count(1)
        self._begun: dict[int, Operation] = {}
        self._complaints: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._hear, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def begin(self, do: str, params: Json | None = None, **headers: str) -> Operation:
        """Begin an operation. ``headers`` have underscores for hyphens."""
        operation = Operation(next(self._numbers), self)
        self._begun[operation.number] = operation
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.tell({"id": operation.number, "do": do, "params": params or {}, "headers": named})
        return operation

    def do(self, do: str, params: Json | None = None, **headers: str) -> Any:
        """Run an operation to its end and return its result."""
        return self.begin(do, params, **headers).result()

    def tell(self, line: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def complaints(self) -> str:
        return "".join(self._complaints)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for raw in self._process.stdout:
            line = json.loads(raw)
            self._begun[line["id"]].lines.put(line)

    def _hear(self) -> None:
        assert self._process.stderr is not None
        self._complaints.extend(self._process.stderr)


@contextlib.contextmanager
def running(command: list[str], base_url: str, *arguments: str, key: str = "") -> Iterator[Driven]:
    """Run a client of the agent at ``base_url`` until the block ends."""
    with subprocess.Popen(
        [*command, base_url, *arguments],
        env=os.environ | {"A2A_KEY": key, "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Driven(process)
        finally:
            process.kill()


def _result(line: Json) -> Any:
    if "error" in line:
        raise RefusedError(line["error"])
    return line["result"]
