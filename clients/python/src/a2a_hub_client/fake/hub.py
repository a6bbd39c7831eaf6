"""The hub in memory: its routes, and the network that leads to it."""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import httpx
import msgspec

from a2a_hub_client._async.hub import AsyncHub
from a2a_hub_client._sync.hub import Hub
from a2a_hub_client.fake.tasks import (
    DELIVERED,
    PENDING,
    RESOLVED,
    Agent,
    Json,
    Lease,
    Mailbox,
    Refusal,
    Task,
    not_known,
    uuid_of,
)
from a2a_hub_client.models.wire import milliseconds, to_json

URL = "http://hub.in.memory"
EVERYTHING = "a2a.send.*", "a2a.respond.*"
LOOK_EVERY = 0.005  # seconds between the looks of a waiting coroutine
UNSEEN = "id", "work_timeout_ms", "callback_url", "callback_secret"  # fields that a shown task has not
OF_TASK = "/a2a/tasks/(?P<task>[^/]+)"


@dataclass(kw_only=True)
class Request:
    """A request of an agent. ``task_id`` is that of the path.

    A route sets ``is_empty`` if it has nothing to answer yet. Then the request waits for a change.
    """

    mailbox: Mailbox
    caller: Agent
    task_id: str
    query: Mapping[str, str]
    body: Json
    is_empty: bool = False

    @property
    def wait_ms(self) -> int:
        """How long the request may wait, in milliseconds."""
        return int(self.query.get("wait_ms") or self.body.get("wait_ms") or 0)

    @property
    def task(self) -> Task:
        """The task that the path names. Raises `Refusal`."""
        return self.mailbox.task(self.task_id, self.caller)

    def id(self, name: str) -> UUID | None:
        """Return an id of the body, None without it. Raises `Refusal`."""
        return None if self.body.get(name) is None else uuid_of(self.body[name], name)

    def ids(self, name: str) -> list[UUID]:
        """Return ids of the body. Raises `Refusal`."""
        return [uuid_of(value, name) for value in self.body.get(name) or []]

    def page(self, key: str, items: Iterable[Any]) -> Json:
        """Return a page of a list. The cursor is a place in it."""
        start, limit, rows = int(self.query.get("cursor") or 0), int(self.query.get("limit") or 10), list(items)
        rest = start + limit
        return {key: rows[start:rest], "next_cursor": str(rest) if rest < len(rows) else None}

    def each(self, items: Sequence[Json], do: Callable[[Agent, Json], Task], id_field: str) -> Json:
        """Do each item of a batch; return the ids of those that succeeded, and the refused items."""
        posted: list[UUID] = []
        refused: list[Json] = []
        for index, item in enumerate(items):
            try:
                posted.append(do(self.caller, item).id)
            except Refusal as refusal:  # noqa: PERF203 (a test has few)
                why = {name: value for name, value in refusal.body.items() if name in ("code", "message", "fields")}
                refused.append({"index": index, "task_id": item.get(id_field), **why})
        return {"posted": posted, "refused": refused}


def messages(request: Request) -> Json:
    task, after, limit = request.task, int(request.query.get("after") or 0), int(request.query.get("limit") or 100)
    left = [message for message in task.messages if message["seq"] > after]
    page = left[:limit]
    next_after = page[-1]["seq"] if len(left) > limit else None
    if next_after is None and task.question is not None and task.question > (page[-1]["seq"] if page else after):
        next_after = task.question
    request.is_empty = not page and next_after is None and task.state != RESOLVED
    shown = {"task_id": task.id, "state": task.state, "turn": task.turn, "messages": page, "next_after": next_after}
    return shown if task.awaits is None else {**shown, "awaits": task.awaits}


def result(request: Request) -> Json:
    request.is_empty = request.task.result is None
    return {"result": shown_result(request.task)}


def receive(request: Request) -> Json:
    posted = request.each(request.body.get("results") or [], request.mailbox.post_result, "task_id")
    most, attempt_id = int(request.body.get("max") or 1), request.id("attempt_id")
    tasks, is_spent = request.mailbox.receive(request.caller, most, attempt_id)
    request.is_empty = not tasks and not is_spent
    return {"leases": [shown_leased(task.leases[-1], task) for task in tasks], **posted, **_spent(is_spent)}


def leases(request: Request) -> Json:
    live = ((task, task.lease) for task in request.mailbox.tasks.values())
    held = (
        {"task": shown_task(task), "leased_to": lease.holder.id, **shown_lease(lease, task)}
        for task, lease in live
        if lease is not None and lease.holder is request.caller
    )
    return request.page("leases", held)


def heartbeat(request: Request) -> Json:
    lease = request.task.live_lease(request.caller, request.id("lease_id"))
    lease.seen = request.mailbox.now()
    return {"task_id": request.task.id, "lease": shown_lease(lease, request.task), "turn": request.task.turn}


def lease_named(request: Request) -> Json:
    lease = request.mailbox.lease_named(request.caller, request.task, request.id("attempt_id"))
    return shown_leased(lease, request.task)


def release(request: Request) -> Json:
    lease = request.mailbox.release(request.caller, request.task, request.id("lease_id"))
    return {"task_id": request.task.id, "attempt": lease.attempt}


def cancel(request: Request) -> Json:
    request.mailbox.cancel(request.caller, request.task, request.body.get("reason", ""))
    return {}


def drain(request: Request) -> Json:
    acked, unknown = request.mailbox.ack(request.caller, request.ids("ack"))
    most, attempt_id = int(request.body.get("max") or 1), request.id("attempt_id")
    tasks, is_spent = request.mailbox.drain(request.caller, most, attempt_id)
    request.is_empty = not tasks and not is_spent
    results = [shown_result(task) for task in tasks]
    return {"results": results, "acked": acked, "unknown": unknown, "refused": [], **_spent(is_spent)}


def _spent(is_spent: bool) -> Json:
    return {"attempt_spent": True} if is_spent else {}


def ack(request: Request) -> Json:
    acked, unknown = request.mailbox.ack(request.caller, request.ids("task_ids"))
    if unknown and not acked:
        raise not_known(unknown[0])
    return {"task_ids": acked, "unknown": unknown}


def pending_results(request: Request) -> Json:
    return request.page("results", map(shown_result, request.mailbox.results(request.caller, PENDING)))


def delivered_results(request: Request) -> Json:
    after, limit = int(request.query.get("cursor") or 0), int(request.query.get("limit") or 10)
    left = [task for task in request.mailbox.results(request.caller, DELIVERED) if task.place > after]
    shown = [
        {**(shown_result(task) or {}), "delivered_at_ms": task.delivered_at, "attempt_id": task.drained_by}
        for task in left[:limit]
    ]
    return {"results": shown, "next_cursor": str(left[limit - 1].place) if len(left) > limit else None}


def shown_task(task: Task) -> Json:
    fields = {name: value for name, value in task.fields.items() if name not in UNSEEN}
    return {"id": task.id, "sender": task.sender.id, "recipient": task.recipient.id, **fields}


def shown_lease(lease: Lease, task: Task) -> Json:
    return {
        "lease_id": lease.id,
        "attempt": lease.attempt,
        "leased_at_ms": lease.at,
        "last_seen_at_ms": lease.seen or lease.at,
        "work_timeout_ms": task.fields.get("work_timeout_ms"),
    }


def shown_leased(lease: Lease, task: Task) -> Json:
    shown: Json = {"task": shown_task(task), "lease": shown_lease(lease, task), "turn": task.turn}
    of_sender = [message for message in task.messages if message["role"] == "user"]
    if len(of_sender) > 1:
        shown["message"] = {name: of_sender[-1][name] for name in ("message_id", "role", "content")}
    return shown


def shown_entry(task: Task) -> Json:
    shown: Json = {"state": task.state, "task": shown_task(task), "attempt": len(task.leases)}
    if task.awaits is not None:
        shown["awaits"] = task.awaits
    if (live := task.lease) is not None:
        shown |= {"lease_id": live.id, "leased_to": live.holder.id, "leased_at_ms": live.at}
    times = {"sent_at_ms": task.sent_at, "queued_at_ms": task.queued_at, "resolved_at_ms": task.resolved_at}
    return {**shown, "outcome": task.outcome, **times}


def shown_result(task: Task) -> Json | None:
    if task.result is None or not task.artifacts:
        return task.result
    named = [
        {
            "artifact_id": artifact["artifact_id"],
            "last_chunk": artifact["last_chunk"],
            "characters": len(str(artifact["content"])),
            **({"name": artifact["name"]} if "name" in artifact else {}),
        }
        for artifact in whole_artifacts(task)
    ]
    return {**task.result, "artifacts": named[:100], "artifacts_left": len(named[100:])}


def whole_artifacts(task: Task) -> list[Json]:
    """Return the artifacts of a task, each with all its chunks."""
    whole: dict[str, Json] = {}
    for chunk in task.artifacts:
        before = whole.get(chunk["artifact_id"]) if chunk["append"] else None
        content = [*before["content"], *chunk["content"]] if before else chunk["content"]
        whole[chunk["artifact_id"]] = {**(before or {}), **chunk, "content": content, "append": False}
    return list(whole.values())


Route = Callable[[Request], Json]
ROUTES: Mapping[str, Route] = {
    "GET /a2a/me": lambda request: {"agent": request.caller.id, "person": None, "role": None},
    "POST /a2a/tasks": lambda request: {"task_id": request.mailbox.send(request.caller, request.body).id},
    "POST /a2a/tasks/batch": lambda request: request.each(request.body["tasks"], request.mailbox.send, "id"),
    "POST /a2a/tasks/lease": receive,
    f"GET {OF_TASK}/entry": lambda request: {"entry": shown_entry(request.task)},
    f"GET {OF_TASK}/result": result,
    f"GET {OF_TASK}/messages": messages,
    f"POST {OF_TASK}/messages": lambda request: request.mailbox.say(
        request.caller, request.task, request.body, request.id("attempt_id")
    ),
    f"POST {OF_TASK}/updates": lambda request: request.mailbox.update(
        request.caller, request.task, request.body, request.id("attempt_id")
    ),
    f"GET {OF_TASK}/artifacts": lambda request: request.page("artifacts", whole_artifacts(request.task)),
    f"POST {OF_TASK}/cancel": cancel,
    f"POST {OF_TASK}/release": release,
    f"POST {OF_TASK}/heartbeat": heartbeat,
    f"POST {OF_TASK}/lease": lease_named,
    "GET /a2a/leases": leases,
    "POST /a2a/results": lambda request: {"task_id": request.mailbox.post_result(request.caller, request.body).id},
    "POST /a2a/results/batch": lambda request: request.each(
        request.body["results"], request.mailbox.post_result, "task_id"
    ),
    "POST /a2a/results/drain": drain,
    "POST /a2a/results/ack": ack,
    "GET /a2a/results/recent": pending_results,
    "GET /a2a/results/delivered": delivered_results,
}


class FakeHub:
    """A hub in memory, for tests: the same answers as those of a hub, without a server.

    Agents send tasks, lease them, talk about them, post results and drain them. It has no people, grants, repairs and
    quotas. It has neither a journal nor a cache of results, sends no callbacks and keeps nothing. Threads and
    coroutines may share it.
    """

    def __init__(self, *agents: str) -> None:
        """``agents`` are names such as ``planner``. Each may send to everyone and answer everyone."""
        self._mailbox = Mailbox()
        self._changed = threading.Condition()
        self._keys: dict[str, str] = {}  # by the name of the agent
        self._agents: dict[str, Agent] = {}  # by the key
        self.transport = FakeTransport(self)
        for name in agents:
            self.add_agent(name)

    def add_agent(self, name: str, *, actions: Sequence[str] = EVERYTHING) -> None:
        """Add an agent that may do these actions. A name without a host is at ``local``.

        Raises `ValueError` for a name that is taken.
        """
        display = name if "@" in name else f"{name}@local"
        if display in self._mailbox.agents:
            raise ValueError(f"the name {display} is taken")
        agent = self._mailbox.agents[display] = Agent(name=display, actions=actions)
        self._keys[name] = f"a2a_{secrets.token_urlsafe(24)}"
        self._agents[self._keys[name]] = agent

    def key(self, name: str) -> str:
        """Return the key of an agent, for a client of your own with the ``transport`` of this hub.

        Raises `ValueError` for a name that was not added.
        """
        if name not in self._keys:
            raise ValueError(f'"{name}" is no agent of this hub: {", ".join(sorted(self._keys))}')
        return self._keys[name]

    def hub(self, name: str, **options: Any) -> Hub:
        """Return a client with the key of an agent. ``options`` are those of `Hub`."""
        return Hub(URL, self.key(name), **{"transport": self.transport, **options})

    def async_hub(self, name: str, **options: Any) -> AsyncHub:
        """Return a client for asyncio with the key of an agent. ``options`` are those of `AsyncHub`."""
        return AsyncHub(URL, self.key(name), **{"transport": self.transport, **options})

    def pass_time(self, span: timedelta) -> None:
        """Set the clock of this hub forward, so that deadlines and work timeouts pass."""
        with self._changed:
            self._mailbox.ahead += milliseconds(span)
            self._changed.notify_all()

    def answer(self, request: httpx.Request, *, patience: float) -> httpx.Response | None:
        """Answer a request. None: there is nothing to answer yet, and ``patience`` seconds are left to wait."""
        with self._changed:
            self._mailbox.expire_due()
            try:
                made, route = self._request(request)
                answer = route(made)
            except Refusal as refusal:
                return _response(refusal.status, refusal.body)
            if made.is_empty and patience > 0 and made.wait_ms:
                return None
            self._changed.notify_all()
            return _response(200, {"kind": "fake", **answer})

    def wait_for_change(self, seconds: float) -> None:
        """Wait until another request has come, at most so many seconds."""
        with self._changed:
            self._changed.wait(seconds)

    def _request(self, request: httpx.Request) -> tuple[Request, Route]:
        caller = self._agents.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
        if caller is None:
            raise Refusal("unauthenticated", "Send an API key: Authorization: Bearer <key>.")
        body: Json = msgspec.json.decode(request.content) if request.content else {}
        wanted = f"{request.method} {request.url.path}"
        for pattern, route in ROUTES.items():
            if (match := re.fullmatch(pattern, wanted)) is not None:
                task_id, query = unquote(match.groupdict().get("task", "")), dict(request.url.params)
                made = Request(mailbox=self._mailbox, caller=caller, task_id=task_id, query=query, body=body)
                return made, route
        raise Refusal("not_found", f"The hub in memory has no route {wanted}.")


class FakeTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """The way of clients to a hub in memory."""

    def __init__(self, hub: FakeHub) -> None:
        self._hub = hub

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request of a thread."""
        request.read()
        ends_at = time.monotonic() + _wait_of(request)
        while (answer := self._hub.answer(request, patience=ends_at - time.monotonic())) is None:
            self._hub.wait_for_change(LOOK_EVERY)
        return answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request of a coroutine."""
        await request.aread()
        ends_at = time.monotonic() + _wait_of(request)
        while True:
            answer = self._hub.answer(request, patience=ends_at - time.monotonic())
            if answer is not None:
                return answer
            await asyncio.sleep(LOOK_EVERY)


def _wait_of(request: httpx.Request) -> float:
    body = msgspec.json.decode(request.content) if request.content else {}
    return int(request.url.params.get("wait_ms") or body.get("wait_ms") or 0) / 1000


def _response(status: int, body: Json) -> httpx.Response:
    return httpx.Response(status, content=to_json(body), headers={"Content-Type": "application/json"})
