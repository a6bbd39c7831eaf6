"""The tasks of the hub in memory: sent, leased, talked about, answered and drained."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from a2a_hub_client._calls import BY_CODE
from a2a_hub_client.models.wire import blocks_of

QUEUED, IN_FLIGHT, INTERRUPTED, RESOLVED = "queued", "in_flight", "interrupted", "resolved"
PENDING, DELIVERED, ACKED = "pending", "delivered", "acked"
FIELDS = "task_kind", "parent", "deadline_ms", "work_timeout_ms", "idempotency", "callback_url", "callback_secret"
Json = dict[str, Any]


class Refusal(Exception):  # noqa: N818 (an answer)
    """The hub in memory refuses a request."""

    def __init__(self, code: str, message: str, *, fields: Mapping[str, str] | None = None, **ids: object) -> None:
        super().__init__(message)
        self.status = int(BY_CODE[code].usual_status or 400)
        self.body: Json = {"kind": "error", "code": code, "message": message}
        self.body |= {name: None if value is None else str(value) for name, value in ids.items()}
        if fields is not None:
            self.body["fields"] = dict(fields)


def invalid(**fields: str) -> Refusal:
    """Return the refusal of a request with these problems."""
    return Refusal("invalid_request", "; ".join(f"{path}: {why}" for path, why in fields.items()), fields=fields)


def not_known(task_id: object) -> Refusal:
    """Return the refusal of a task that does not exist, or that is not the caller's."""
    return Refusal("unknown_task", f"no task {task_id} is known to you", task_id=task_id)


def uuid_of(value: object, path: str) -> UUID:
    """Return a UUID of JSON. Raises `Refusal`."""
    try:
        return value if isinstance(value, UUID) else UUID(str(value))
    except ValueError:
        raise invalid(**{path: "must be a UUID"}) from None


@dataclass(kw_only=True, eq=False)
class Agent:
    """An agent, and the actions that it may do."""

    name: str
    actions: Sequence[str]
    pubkey: str = field(default_factory=lambda: uuid4().hex)

    @property
    def id(self) -> Json:
        """The agent as the hub shows it."""
        return {"display": self.name, "pubkey": self.pubkey}

    @property
    def names(self) -> set[str]:
        """The names by which a request may call it."""
        return {self.name, self.name.partition("@")[0], self.pubkey}

    def require(self, action: str, target: set[str]) -> None:
        """Raise `Refusal` unless the agent may do ``action`` to a target of these names."""
        if not {f"{action}.{name}" for name in {"*", *target}} & {*self.actions}:
            raise Refusal("capability_missing", f"{self.name} has no valid grant for {action}.")


@dataclass(kw_only=True, eq=False)
class Lease:
    """A lease. ``end`` is the word for its end, "" while it is live."""

    holder: Agent
    attempt: int
    at: int
    attempt_id: UUID | None
    id: UUID = field(default_factory=uuid4)
    seen: int = 0
    end: str = ""


@dataclass(kw_only=True, eq=False)
class Task:
    """A task with all that happened to it. ``seq`` is the number of its newest change."""

    id: UUID
    sender: Agent
    recipient: Agent
    fields: Json  # of the request, without the parties
    sent_at: int
    queued_at: int
    state: str = QUEUED
    outcome: str | None = None
    awaits: str | None = None
    resolved_at: int | None = None
    leases: list[Lease] = field(default_factory=list)
    messages: list[Json] = field(default_factory=list)
    artifacts: list[Json] = field(default_factory=list)
    answers: dict[UUID, Json] = field(default_factory=dict)  # of updates and messages, by their attempt ids
    seq: int = 0
    turn: int = 1
    place: int = 0  # among the queued tasks, and then among the results
    result: Json | None = None
    delivery: str = PENDING
    delivered_at: int = 0
    drained_by: UUID | None = None
    question: int | None = None  # the number of an open question without words

    @property
    def lease(self) -> Lease | None:
        """The live lease."""
        return self.leases[-1] if self.leases and not self.leases[-1].end else None

    def change(self) -> int:
        """Count a change; return its number."""
        self.seq += 1
        return self.seq

    def must_be_open(self) -> None:
        """Raise `Refusal` for a resolved task."""
        if self.state == RESOLVED:
            raise Refusal("already_resolved", f"Task {self.id} is already resolved as {self.outcome}.", task_id=self.id)

    def check_lease(self, lease_id: UUID | None) -> None:
        """Raise `Refusal` unless ``lease_id`` is the live lease, or None."""
        if lease_id is not None and lease_id != (self.lease and self.lease.id):
            raise Refusal("lease_mismatch", f"The lease {lease_id} is not live.", task_id=self.id, lease_id=lease_id)

    def live_lease(self, holder: Agent, lease_id: UUID | None) -> Lease:
        """Return the live lease of the holder. Raises `Refusal`."""
        if self.recipient is not holder:
            raise not_known(self.id)
        if self.lease is None:
            raise Refusal("not_in_flight", f"Task {self.id} is not leased: it is {self.state}.", task_id=self.id)
        self.check_lease(lease_id)
        return self.lease


class Mailbox:
    """The agents and the tasks of the hub in memory."""

    def __init__(self) -> None:
        self.ahead = 0  # milliseconds by which the clock is set forward
        self.agents: dict[str, Agent] = {}
        self.tasks: dict[UUID, Task] = {}
        self._place = 0

    def now(self) -> int:
        """Return Unix epoch milliseconds."""
        return time.time_ns() // 1_000_000 + self.ahead

    def task(self, task_id: object, caller: Agent) -> Task:
        """Return a task of the caller. Raises `Refusal`."""
        task = self.tasks.get(uuid_of(task_id, "task_id"))
        if task is None or caller not in (task.sender, task.recipient):
            raise not_known(task_id)
        return task

    def send(self, caller: Agent, body: Json) -> Task:
        """Store a task. A repeat with the same content stores none."""
        text, named = body.get("intent_text"), body.get("recipient")
        name = named.get("display") if isinstance(named, dict) else named
        if not isinstance(text, str) or not text.strip():
            raise invalid(intent_text="must not be blank")
        recipients = [agent for agent in self.agents.values() if name in agent.names]
        caller.require("a2a.send", recipients[0].names if recipients else {str(name)})
        if len(recipients) != 1:
            raise Refusal("unknown_agent", f'No agent named "{name}" is registered.', agent=name)
        fields = {"intent_text": text, **{key: body[key] for key in FIELDS if body.get(key) is not None}}
        task_id = uuid4() if body.get("id") is None else uuid_of(body["id"], "id")
        if (earlier := self.tasks.get(task_id)) is not None:
            if (earlier.sender, earlier.recipient, earlier.fields) == (caller, recipients[0], fields):
                return earlier
            raise Refusal("task_conflict", f"The id {task_id} is already taken; choose another.", task_id=task_id)
        now = self.now()
        task = Task(id=task_id, sender=caller, recipient=recipients[0], fields=fields, sent_at=now, queued_at=now)
        self.tasks[task_id] = task
        self._queue(task)
        self._add_message(task, "user", {"content": text, "message_id": str(task_id)}, task.seq)
        return task

    def cancel(self, caller: Agent, task: Task, reason: str) -> None:
        """Cancel a task, as its sender."""
        if task.sender is not caller:
            raise not_known(task.id)
        if task.outcome == "cancelled":
            return
        task.must_be_open()
        self._fail(task, "cancelled", f"cancelled by the sender: {reason}" if reason else "cancelled by the sender")

    def expire_due(self) -> None:
        """End the tasks whose deadline or work timeout is over."""
        now = self.now()
        for task in self.tasks.values():
            deadline, limit = task.fields.get("deadline_ms"), task.fields.get("work_timeout_ms")
            if task.state == QUEUED and deadline is not None and deadline <= now:
                self._fail(task, "expired", "deadline exceeded")
            elif task.lease is not None and limit is not None and task.lease.at + limit <= now:
                self._fail(task, "expired", "Task timed out")

    def receive(self, caller: Agent, most: int, attempt_id: UUID | None) -> tuple[list[Task], bool]:
        """Lease the oldest tasks; return them, and whether the attempt id is spent."""
        if earlier := self._leased_by(caller, attempt_id):
            live = [task for task, lease in earlier if not lease.end]
            return live, not live
        queued = [task for task in self.tasks.values() if task.recipient is caller and task.state == QUEUED]
        chosen = sorted(queued, key=lambda task: task.place)[:most]
        for task in chosen:
            self._begin(task, attempt_id)
        return chosen, False

    def lease_named(self, caller: Agent, task: Task, attempt_id: UUID | None) -> Lease:
        """Lease one task before older tasks."""
        if task.recipient is not caller:
            raise not_known(task.id)
        for earlier, lease in self._leased_by(caller, attempt_id):
            if earlier is task and not lease.end:
                return lease
        task.must_be_open()
        if task.state == IN_FLIGHT:
            raise Refusal("not_in_flight", f"Task {task.id} cannot be leased now.", task_id=task.id)
        return self._begin(task, attempt_id)

    def _leased_by(self, caller: Agent, attempt_id: UUID | None) -> list[tuple[Task, Lease]]:
        pairs = ((task, lease) for task in self.tasks.values() for lease in task.leases if attempt_id is not None)
        return [(task, lease) for task, lease in pairs if lease.attempt_id == attempt_id and lease.holder is caller]

    def _begin(self, task: Task, attempt_id: UUID | None) -> Lease:
        lease = Lease(holder=task.recipient, attempt=len(task.leases) + 1, at=self.now(), attempt_id=attempt_id)
        task.leases.append(lease)
        task.state, task.awaits, task.question = IN_FLIGHT, None, None
        task.change()
        return lease

    def release(self, caller: Agent, task: Task, lease_id: UUID | None) -> Lease:
        """Return a task to the queue, as its holder. A repeat changes nothing."""
        for lease in task.leases:
            if lease.id == lease_id and lease.holder is caller and lease.end == "release":
                return lease
        live = task.live_lease(caller, lease_id)
        live.end, task.queued_at = "release", self.now()
        self._queue(task)
        return live

    def _queue(self, task: Task) -> None:
        """Put the task at the end of the queue."""
        task.state, task.place = QUEUED, self._next_place()
        task.change()

    def _next_place(self) -> int:
        self._place += 1
        return self._place

    def say(self, caller: Agent, task: Task, body: Json, attempt_id: UUID | None) -> Json:
        """Add a message of the sender, which answers a question. A repeat adds none."""
        if task.sender is not caller:
            raise not_known(task.id)
        if attempt_id in task.answers:
            return task.answers[attempt_id]
        task.must_be_open()
        task.turn += 1
        message = self._add_message(task, "user", body, task.change())
        if task.state == INTERRUPTED:
            task.state, task.awaits, task.question = QUEUED, None, None
            task.queued_at, task.place = self.now(), self._next_place()
        answer = {"task_id": task.id, "message_id": message["message_id"], "seq": task.seq, "turn": task.turn}
        return self._answer(task, answer, attempt_id)

    def update(self, caller: Agent, task: Task, body: Json, attempt_id: UUID | None) -> Json:
        """Add the updates of the holder. A repeat adds none."""
        if attempt_id in task.answers:
            return task.answers[attempt_id]
        lease = task.live_lease(caller, None if body.get("lease_id") is None else uuid_of(body["lease_id"], "lease_id"))
        if not body.get("updates"):
            raise invalid(updates="must have at least 1 entries")
        lease.seen = self.now()
        for update in body["updates"]:
            self._update(task, lease, update)
        return self._answer(task, {"task_id": task.id, "seq": task.seq, "turn": task.turn}, attempt_id)

    def _answer(self, task: Task, answer: Json, attempt_id: UUID | None) -> Json:
        if attempt_id is not None:
            task.answers[attempt_id] = answer
        return answer

    def _update(self, task: Task, lease: Lease, update: Json) -> None:
        seq, artifact = task.change(), update.get("artifact")
        if artifact is not None:
            chunk = {"artifact_id": "result", **artifact, "content": list(blocks_of(artifact["content"]))}
            flags = {"append": bool(update.get("append")), "last_chunk": bool(update.get("last_chunk"))}
            task.artifacts.append({**chunk, **flags, "seq": seq, "said_at_ms": self.now()})
            return
        content = update.get("message") or []
        if content or update.get("progress"):
            self._add_message(task, "agent", {**update, "content": content}, seq)
        if (status := update.get("status")) in ("input_required", "auth_required"):
            lease.end, task.state = "question", INTERRUPTED
            task.awaits = "input" if status == "input_required" else "authorization"
            task.question = None if content else seq

    def _add_message(self, task: Task, role: str, body: Json, seq: int) -> Json:
        """Add a message with its number and its time."""
        message = {
            "message_id": body.get("message_id") or str(uuid4()),
            "role": role,
            "content": list(blocks_of(body["content"])),
            "seq": seq,
            "said_at_ms": self.now(),
            **{name: body[name] for name in ("metadata", "progress") if body.get(name) is not None},
        }
        task.messages.append(message)
        return message

    def post_result(self, caller: Agent, body: Json) -> Task:
        """Resolve a task with its result. A repeat changes nothing."""
        task = self.task(body.get("task_id"), caller)
        if task.recipient is not caller:
            raise not_known(task.id)
        caller.require("a2a.respond", task.sender.names)
        result, outcome = _result_of(task, body), body["status"]
        if task.state == RESOLVED:
            if task.result == result:
                return task
            code = "result_conflict" if task.outcome in ("ok", "partial", "error", "rejected") else "already_resolved"
            raise Refusal(code, f"Task {task.id} is already resolved as {task.outcome}.", task_id=task.id)
        task.check_lease(None if body.get("lease_id") is None else uuid_of(body["lease_id"], "lease_id"))
        if closing := result.get("message"):
            self._add_message(task, "agent", {"content": closing}, task.seq + 1)
        self._resolve(task, outcome, result)
        return task

    def _fail(self, task: Task, outcome: str, problem: str) -> None:
        result = {"task_id": task.id, "status": "error", "content": [], "error_message": problem}
        self._resolve(task, outcome, result)

    def _resolve(self, task: Task, outcome: str, result: Json) -> None:
        if task.lease is not None:
            task.lease.end = outcome
        task.state, task.outcome, task.result, task.awaits, task.question = RESOLVED, outcome, result, None, None
        task.resolved_at, task.place = self.now(), self._next_place()
        task.change()

    def results(self, caller: Agent, *deliveries: str) -> list[Task]:
        """Return the tasks of the sender that have a result in one of these states, in the order of the results."""
        own = (task for task in self.tasks.values() if task.sender is caller and task.result is not None)
        return sorted((task for task in own if task.delivery in deliveries), key=lambda task: task.place)

    def drain(self, caller: Agent, most: int, attempt_id: UUID | None) -> tuple[list[Task], bool]:
        """Drain the oldest results; return their tasks, and whether the attempt id is spent."""
        drained = self.results(caller, DELIVERED, ACKED)
        if earlier := [task for task in drained if attempt_id is not None and task.drained_by == attempt_id]:
            left = [task for task in earlier if task.delivery != ACKED]
            return left, not left
        chosen = self.results(caller, PENDING)[:most]
        for task in chosen:
            task.delivery, task.delivered_at, task.drained_by = DELIVERED, self.now(), attempt_id
            task.change()
        return chosen, False

    def ack(self, caller: Agent, task_ids: Iterable[UUID]) -> tuple[list[UUID], list[UUID]]:
        """Acknowledge results; return the acknowledged ids, and the ids without a result of the caller."""
        acked, unknown = [], []
        for task_id in task_ids:
            task = self.tasks.get(task_id)
            if task is None or task.sender is not caller or task.result is None:
                unknown.append(task_id)
            else:
                acked.append(task_id)
                task.delivery = ACKED
        return acked, unknown


def _result_of(task: Task, body: Json) -> Json:
    status = body.get("status")
    if status not in ("ok", "error", "partial", "rejected"):
        raise invalid(status="must be 'ok', 'error', 'partial' or 'rejected'")
    result: Json = {
        "task_id": task.id,
        "status": "error" if status == "rejected" else status,
        "content": list(blocks_of(body.get("content") or [])),
    }
    if body.get("error_message") is not None:
        result["error_message"] = body["error_message"]
    if body.get("message"):
        result["message"] = list(blocks_of(body["message"]))
    return result
