"""A short client of the API for one caller. It does not check answers against the OpenAPI document."""

from __future__ import annotations

from typing import Any

from django.test import Client

from mailbox.gate.callers import Caller
from tests.support import factories


class Door:
    """Sends requests with a key of the caller; returns status and JSON, or the JSON alone."""

    def __init__(self, caller: Caller) -> None:
        self._client = Client(headers={"Authorization": f"Bearer {factories.key_of(caller)}"})

    def post(self, path: str, body: Any = None) -> tuple[int, Any]:
        answer = self._client.post(path, body, content_type="application/json")
        return answer.status_code, answer.json()

    def get(self, path: str) -> Any:
        return self._client.get(path).json()
