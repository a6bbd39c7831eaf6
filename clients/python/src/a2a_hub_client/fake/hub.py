"""The hub in memory, and the network that leads to it."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal
from urllib.parse import unquote

import httpx
import msgspec

from a2a_hub_client._async.hub import AsyncHub
from a2a_hub_client._sync.hub import Hub
from a2a_hub_client.fake import admin_routes, life, task_routes
from a2a_hub_client.fake.requests import Handler, Request
from a2a_hub_client.fake.state import Json, Party, Refusal, Tables
from a2a_hub_client.models.wire import milliseconds, to_json

URL = "http://hub.in.memory"
EVERYTHING = "a2a.send.*", "a2a.respond.*"
LOOK_EVERY = 0.005  # seconds between the looks of a waiting coroutine
_ROUTES: Sequence[tuple[re.Pattern[str], Handler]] = [
    (re.compile(route), handler) for route, handler in {**task_routes.ROUTES, **admin_routes.ROUTES}.items()
]


class FakeHub:
    """A hub in memory, for tests: the same answers as those of a hub, without a server.

    It knows tasks, leases, results, conversations, grants, repairs and the cache of idempotent work. It has no quotas,
    rates, callbacks, public routes and signatures, and keeps nothing. Threads and coroutines may share it.
    """

    def __init__(self, *agents: str) -> None:
        """``agents`` are names such as ``planner``. Each may send to everyone and answer everyone."""
        self._tables = Tables()
        self._changed = threading.Condition()
        self._keys: dict[str, str] = {}  # by the name of the party
        self.transport = FakeTransport(self)
        for name in agents:
            self.add_agent(name)

    def add_agent(self, name: str, *, actions: Sequence[str] = EVERYTHING) -> None:
        """Register an agent with a grant for each action. A name without a host is at ``local``."""
        display = name if "@" in name else f"{name}@local"
        party = admin_routes.new_agent(self._tables, display)
        for action in actions:
            admin_routes.new_grant(self._tables, party, action, by="user:fake")
        self._keys[name] = admin_routes.new_key(self._tables, party)["api_key"]

    def add_person(self, name: str, role: Literal["viewer", "operator", "admin"] = "admin") -> None:
        """Add a person. The hub in memory lets people of every role do everything."""
        party = Party(name=name, role=role)
        self._tables.parties[name] = party
        self._keys[name] = admin_routes.new_key(self._tables, party)["api_key"]

    def key(self, name: str) -> str:
        """Return the key of an agent or a person, for a client of your own with the ``transport`` of this hub.

        Raises `ValueError` for a name that was not added.
        """
        if name not in self._keys:
            raise ValueError(f'"{name}" is no agent or person of this hub: {", ".join(sorted(self._keys))}')
        return self._keys[name]

    def hub(self, name: str, **options: Any) -> Hub:
        """Return a client with the key of an agent or a person. ``options`` are those of `Hub`."""
        return Hub(URL, self.key(name), **{"transport": self.transport, **options})

    def async_hub(self, name: str, **options: Any) -> AsyncHub:
        """Return a client for asyncio with the key of an agent or a person. ``options`` are those of `AsyncHub`."""
        return AsyncHub(URL, self.key(name), **{"transport": self.transport, **options})

    def pass_time(self, span: timedelta) -> None:
        """Set the clock of this hub forward, so that deadlines and work timeouts pass."""
        with self._changed:
            self._tables.ahead += milliseconds(span)
            self._changed.notify_all()

    def answer(self, request: httpx.Request, *, patience: float) -> httpx.Response | None:
        """Answer a request. None: there is nothing to answer yet, and ``patience`` seconds are left to wait."""
        with self._changed:
            life.expire_due(self._tables)
            try:
                made = self._request(request)
                handler, made.words = _handler(request)
                told = handler(made)
            except Refusal as refusal:
                return _response(refusal.status, refusal.body)
            if made.is_empty and patience > 0 and made.wait_ms:
                return None
            self._changed.notify_all()
            return _response(200, {"kind": "fake", **told})

    def wait_for_change(self, seconds: float) -> None:
        """Wait until another request has come, at most so many seconds."""
        with self._changed:
            self._changed.wait(seconds)

    def _request(self, request: httpx.Request) -> Request:
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        caller = self._tables.keys.get(key)
        if caller is None:
            raise Refusal("unauthenticated", "Send an API key: Authorization: Bearer <key>.")
        body: Json = msgspec.json.decode(request.content) if request.content else {}
        query = dict(request.url.params)
        return Request(tables=self._tables, caller=caller, words={}, query=query, body=body)


class FakeTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """The way of clients to a hub in memory."""

    def __init__(self, hub: FakeHub) -> None:
        self._hub = hub

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request of a thread."""
        request.read()
        ends_at = time.monotonic() + _wait_of(request)
        while True:
            left = ends_at - time.monotonic()
            answer = self._hub.answer(request, patience=left)
            if answer is not None:
                return answer
            self._hub.wait_for_change(min(left, LOOK_EVERY))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request of a coroutine."""
        await request.aread()
        ends_at = time.monotonic() + _wait_of(request)
        while True:
            left = ends_at - time.monotonic()
            answer = self._hub.answer(request, patience=left)
            if answer is not None:
                return answer
            await asyncio.sleep(min(left, LOOK_EVERY))


def _handler(request: httpx.Request) -> tuple[Handler, Mapping[str, str]]:
    wanted = f"{request.method} {request.url.path}"
    for route, handler in _ROUTES:
        if (found := route.fullmatch(wanted)) is not None:
            return handler, {name: unquote(word) for name, word in found.groupdict().items()}
    raise Refusal("not_found", f"The hub in memory has no route {wanted}.")


def _wait_of(request: httpx.Request) -> float:
    body = msgspec.json.decode(request.content) if request.content else {}
    return int(request.url.params.get("wait_ms") or body.get("wait_ms") or 0) / 1000


def _response(status: int, body: Json) -> httpx.Response:
    return httpx.Response(status, content=to_json(body), headers={"Content-Type": "application/json"})
