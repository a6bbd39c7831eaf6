"""An actor: a client that repeats each request under the same ids until it is answered, as clients should.

The checker of histories must know each single try, which the client package hides.
"""

import json
import random
import threading
import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from tests.support.raw_client import RawClient
from tools.proof.history import Operation, Try
from tools.proof.wire import route_of
from tools.proof.world import World

PATIENCE = 400.0  # seconds after which an operation without an answer is given up
RETRIED = (429, 503)
MOST_FAILURES = 10  # answers such as 500, after which an operation is given up, too
CLIENT_TIMEOUT = 40.0


class Actor:
    """A thread that acts as one agent or operator. ``name`` is its own in the run, and seeds all its choices."""

    def __init__(self, world: World, name: str, key: str, agent: str) -> None:
        self.world = world
        self.name = name
        self.agent = agent
        self.random = random.Random(f"{world.history.seed} {name}")
        self.client = RawClient(world.url, key, timeout=CLIENT_TIMEOUT)
        self._count = 0

    def act(self) -> None:
        """Act until the run ends."""
        raise NotImplementedError

    def run(self) -> None:
        """Act, and record a failure of the actor itself."""
        try:
            self.act()
        except BaseException as failure:
            self.world.failures.append(failure)
            raise
        finally:
            self.close()

    def start(self) -> threading.Thread:
        thread = threading.Thread(target=self.run, name=self.name, daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        self.client.close()

    def new_id(self) -> str:
        return str(UUID(int=self.random.getrandbits(128), version=4))

    def request_id(self) -> str:
        self._count += 1
        return f"{self.world.history.seed}.{self.name}.{self._count}"

    def pause(self, longest: float) -> None:
        time.sleep(self.random.random() * longest)

    def do(
        self,
        verb: str,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        dialect: str = "mailbox",
        headers: Mapping[str, str] | None = None,
        request_id: str = "",
        **facts: Any,
    ) -> Operation:
        """Repeat one request until it is answered with another status than 429, 503 or a failure of the hub."""
        operation = self.world.history.begin(
            Operation(
                verb=verb,
                actor=self.agent,
                request_id=request_id or self.request_id(),
                route=route_of(method, path),
                dialect=dialect,
                facts=facts,
            )
        )
        sent = b"" if body is None else json.dumps(body).encode()
        named = {"X-Request-Id": operation.request_id, **(headers or {})}
        give_up_at = time.monotonic() + PATIENCE
        while time.monotonic() < give_up_at:
            tried = self._try(method, path, sent, named)
            operation.tries.append(tried)
            if tried.status is not None and tried.status not in RETRIED and tried.status < 500:
                self.world.history.end(operation)
                break
            if sum(one.status not in (None, *RETRIED) for one in operation.tries) >= MOST_FAILURES:
                break
            self.pause(0.1 if len(operation.tries) < 5 else 0.5)
        return operation

    def _try(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Try:
        began_at = self.world.history.now()
        status, answer, problem = None, None, ""
        try:
            status, answer = self.client.call(method, path, body, headers)
            status = _late_status(answer) or status
        except OSError as error:
            problem = type(error).__name__
        except (ValueError, AssertionError) as error:
            problem = f"unreadable: {error!r}"[:300]
            self.client.close()
        ended_at = self.world.history.now()
        return Try(began_at=began_at, ended_at=ended_at, status=status, problem=problem, answer=answer)


def _late_status(answer: Any) -> int | None:
    """Return the status of an official error that came after 200 had been sent: the rest of a waiting answer."""
    error = answer.get("error") if isinstance(answer, dict) else None
    return error.get("code") if isinstance(error, dict) else None
