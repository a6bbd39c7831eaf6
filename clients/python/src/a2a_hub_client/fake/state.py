"""The tables of the hub in memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from a2a_hub_client._calls import call
from a2a_hub_client.errors import HubError

AGENT, OPERATOR, ADMIN = "agent", "operator", "admin"
QUEUED, IN_FLIGHT, INTERRUPTED, RESOLVED = "queued", "in_flight", "interrupted", "resolved"
PENDING, DELIVERED, ACKED = "pending", "delivered", "acked"
Json = dict[str, Any]


class Refusal(Exception):  # noqa: N818 (an answer)
    """The hub in memory refuses a request."""

    def __init__(self, code: str, message: str, *, fields: Mapping[str, str] | None = None, **ids: object) -> None:
        super().__init__(message)
        kind: type[HubError] = call.BY_CODE[code]
        self.status = int(kind.usual_status or 400)
        self.body: Json = {"kind": "error", "code": code, "message": message}
        self.body |= {name: None if value is None else str(value) for name, value in ids.items()}
        if fields is not None:
            self.body["fields"] = dict(fields)


def invalid(**fields: str) -> Refusal:
    """Return the refusal of a request with these problems."""
    return Refusal(
        "invalid_request", "; ".join(f"{path}: {problem}" for path, problem in fields.items()), fields=fields
    )


@dataclass(kw_only=True, eq=False)
class Party:
    """An agent, or a person with a role."""

    name: str
    role: str = AGENT
    pubkey: str = field(default_factory=lambda: uuid4().hex)
    paused: str | None = None
    paused_at: int = 0

    @property
    def id(self) -> Json:
        """The agent as the hub shows it."""
        return {"display": self.name, "pubkey": self.pubkey}


@dataclass(kw_only=True, eq=False)
class LeaseRow:
    """A lease. ``end`` is the word for its end, "" while it is live."""

    holder: Party
    attempt: int
    at: int
    attempt_id: UUID | None
    id: UUID = field(default_factory=uuid4)
    seen: int = 0
    end: str = ""


@dataclass(kw_only=True, eq=False)
class TaskRow:
    """A task with all that happened to it."""

    id: UUID
    sender: Party
    recipient: Party
    fields: Json  # of the request, without the parties
    number: int
    sent_at: int
    queued_at: int
    state: str = QUEUED
    outcome: str | None = None
    awaits: str | None = None
    resolved_at: int | None = None
    waits_on: TaskRow | None = None
    leases: list[LeaseRow] = field(default_factory=list)
    messages: list[Json] = field(default_factory=list)
    artifacts: list[Json] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)
    answers: dict[UUID, Json] = field(default_factory=dict)  # of updates and messages, by their attempt ids
    turn: int = 1
    result: Json | None = None
    posted_at: int = 0
    delivery: str = PENDING
    delivered_at: int = 0
    drained_by: UUID | None = None
    question: int | None = None  # the number of an open question without words

    @property
    def lease(self) -> LeaseRow | None:
        """The live lease."""
        last = self.leases[-1] if self.leases else None
        return last if last is not None and not last.end else None

    @property
    def cache_key(self) -> tuple[str, str, str, str] | None:
        """The key of the task's cached result. None: its work may not be done twice."""
        declared = self.fields.get("idempotency")
        if declared is None or declared["duplicate_safety"] != "idempotent":
            return None
        kind = self.fields.get("task_kind") or self.fields["intent_text"]
        return self.sender.name, self.recipient.name, kind, declared["key"].strip()


class Tables:
    """All that the hub in memory knows."""

    def __init__(self) -> None:
        self.ahead = 0  # milliseconds by which the clock is set forward
        self.parties: dict[str, Party] = {}
        self.keys: dict[str, Party] = {}  # by the key
        self.key_ids: dict[str, str] = {}  # the keys by their public ids
        self.tasks: dict[UUID, TaskRow] = {}
        self.grants: list[Json] = []
        self.cached: dict[tuple[str, str, str, str], Json] = {}
        self.journal: list[Json] = []
        self._number = 0

    def now(self) -> int:
        """Return Unix epoch milliseconds."""
        return time.time_ns() // 1_000_000 + self.ahead

    def next_number(self) -> int:
        """Return a number that grows."""
        self._number += 1
        return self._number

    def agents(self) -> Iterator[Party]:
        """Yield the agents by name."""
        return (party for _, party in sorted(self.parties.items()) if party.role == AGENT)

    def agent(self, name: object) -> Party:
        """Return an agent by its display, local part or public key. Raises `Refusal`."""
        if isinstance(name, dict):
            name = name.get("display")
        found = [one for one in self.agents() if name in (one.name, one.name.partition("@")[0], one.pubkey)]
        if len(found) != 1:
            raise Refusal("unknown_agent", f'No agent named "{name}" is registered.', agent=name)
        return found[0]

    def task(self, task_id: object, *, for_: Party) -> TaskRow:
        """Return a task that the party may see. Raises `Refusal`."""
        found = self.tasks.get(uuid_of(task_id, "task_id"))
        if found is None or (for_.role == AGENT and for_ not in (found.sender, found.recipient)):
            raise Refusal("unknown_task", f"no task {task_id} is known to you", task_id=task_id)
        return found

    def require(self, caller: Party, action: str, target: Party | None = None) -> None:
        """Raise `Refusal` unless the caller may do ``action`` to the ``target``. People may do everything here."""
        if caller.role != AGENT:
            return
        names = {"*"} if target is None else {"*", target.name, target.name.partition("@")[0], target.pubkey}
        wanted = {action} if target is None else {f"{action}.{name}" for name in names}
        now = self.now()
        for grant in self.grants:
            if grant["subject"] == caller.id and grant["action"] in wanted and is_live(grant, now):
                grant["uses"] += 1
                return
        shown = action if target is None else f"{action}.{target.name}"
        raise Refusal("capability_missing", f"{caller.name} has no valid grant for {shown}.")

    def note(self, task: TaskRow, kind: str, actor: str, **data: Any) -> int:
        """Add a row of the task's life to the journal; return its number in the task."""
        row = {
            "id": len(self.journal) + 1,
            "kind": kind,
            "actor": actor,
            "task_id": task.id,
            "seq": len(task.events) + 1,
            "at_ms": self.now(),
            "source": "api",
            "request_id": None,
            "address": "",
            "data": data,
        }
        task.events.append(row)
        self.journal.append(row)
        return len(task.events)


def is_live(grant: Json, now: int) -> bool:
    """Whether a grant is neither revoked nor expired nor used up."""
    is_expired = grant["expires_at"] is not None and grant["expires_at"] <= now
    is_spent = grant["max_uses"] is not None and grant["uses"] >= grant["max_uses"]
    return grant["revoked_at_ms"] is None and not is_expired and not is_spent


def uuid_of(value: object, path: str) -> UUID:
    """Return a UUID of JSON. Raises `Refusal`."""
    try:
        return value if isinstance(value, UUID) else UUID(str(value))
    except ValueError:
        raise invalid(**{path: "must be a UUID"}) from None


def optional_uuid(value: object, path: str) -> UUID | None:
    """Return a UUID of JSON, None for null. Raises `Refusal`."""
    return None if value is None else uuid_of(value, path)
