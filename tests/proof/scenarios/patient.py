"""A client that repeats each request until the hub has answered it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Self

from tests.load.client import Client
from tests.proof.stage import Stage

GIVE_UP_AFTER = 180.0
PAUSE = 0.1
UNAVAILABLE = 503


class Patient:
    """A client of a stage's hub with one key. ``tries`` counts its requests."""

    def __init__(self, stage: Stage, key: str) -> None:
        self._client = Client(stage.url, key)
        self.tries = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, path: str) -> dict[str, Any]:
        return self.call("GET", path)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self.call("POST", path, body)

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the body of the answer. Fails for any refusal but 503, and if no answer comes in time."""
        give_up_at = time.monotonic() + GIVE_UP_AFTER
        while time.monotonic() < give_up_at:
            self.tries += 1
            try:
                answer = self._client.call(method, path, json.dumps(body).encode() if body is not None else b"")
            except OSError:
                time.sleep(PAUSE)
                continue
            if answer.status != UNAVAILABLE:
                assert answer.status < 300, f"{method} {path}: {answer}"
                return answer.body
            time.sleep(PAUSE)
        raise AssertionError(f"{method} {path} was not answered in {GIVE_UP_AFTER:.0f} s")
