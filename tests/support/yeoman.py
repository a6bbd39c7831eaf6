"""Clients and messages of YEOMAN's peers."""

from typing import Any

from mailbox.access.callers import Caller
from tests.support import factories
from tests.support.api import Api

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


class Peer(Api):
    """A client with an agent's key in X-API-Key, or with ``headers`` alone."""

    def __init__(
        self, caller: Caller | None = None, *, headers: dict[str, str] | None = None, prefix: str = ""
    ) -> None:
        key = {"X-API-Key": factories.key_of(caller)} if caller else {}
        super().__init__(headers=key | (headers or {}), prefix=prefix)

    def receive(self, body: Any) -> Any:
        return self.post(RECEIVE, body)

    def send(self, kind: str, payload: Any = None, **fields: Any) -> dict[str, Any]:
        response = self.receive(envelope(kind, payload, **fields))
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer
