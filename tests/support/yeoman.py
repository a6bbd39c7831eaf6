"""Clients and messages of YEOMAN's peers."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from mailbox.gate.callers import Caller
from tests.support import factories
from tests.support.api import assert_as_documented

RECEIVE = "/api/v1/a2a/receive"
TIMESTAMP = 1_708_516_800_000


def envelope(kind: str = "a2a:heartbeat", payload: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        "id": "01945e9c-7a52-7cc1-8f3e-2a6b7b1f9d10",
        "type": kind,
        "fromPeerId": "self",
        "toPeerId": "",
        "payload": {} if payload is None else payload,
        "timestamp": TIMESTAMP,
        **fields,
    }


class Peer:
    """A client with an agent's key in X-API-Key, or without a key at the path of a public route."""

    def __init__(self, caller: Caller | None = None, *, prefix: str = "") -> None:
        headers = {"X-API-Key": factories.key_of(caller)} if caller else {}
        self.client = Client(headers=headers, raise_request_exception=False)
        self.prefix = prefix

    def post(self, body: Any, path: str = RECEIVE) -> Any:
        raw = body if isinstance(body, str | bytes) else json.dumps(body)
        response = self.client.post(self.prefix + path, raw, content_type="application/json")
        assert_as_documented("POST", path, response)
        return response

    def get(self, path: str) -> Any:
        response = self.client.get(self.prefix + path)
        assert_as_documented("GET", path.partition("?")[0], response)
        return response

    def send(self, kind: str, payload: Any = None, **fields: Any) -> dict[str, Any]:
        response = self.post(envelope(kind, payload, **fields))
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer
