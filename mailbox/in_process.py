"""The mailbox for Python code in this process. Source: Covenant A2A, trait "Mailbox"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import TypeVar
from uuid import UUID

from mailbox.database import paging, waiting
from mailbox.database.bell import topics
from mailbox.database.paging import Page
from mailbox.gate.callers import Caller
from mailbox.inspection import lists, lookup, tasks
from mailbox.models import Agent, Lease, Result, Task
from mailbox.verbs.agents import finding
from mailbox.verbs.life import leasing, results, sending
from mailbox.verbs.repairs import repair
from mailbox.words.envelopes import AgentRef, ResultEnvelope, TaskEnvelope, check_pubkey
from mailbox.words.errors import InvalidRequestError, WaitTimeoutError

MOST_LISTED = 1000

Envelope = TypeVar("Envelope", TaskEnvelope, ResultEnvelope)
Item = TypeVar("Item")


class Mailbox:
    """Covenant's ten methods, and `delivered_results_for`, over the verbs of all interfaces. Callers are trusted.

    An agent is given by display, local part, `AgentRef` or row, and an id as a UUID or its text. No method needs a
    grant; every change is journalled. All methods raise `InvalidRequestError` for arguments that HTTP would refuse too.
    HTTP also refuses a large body with 413. These methods limit no size of a whole task or result.

    Call no method inside a transaction. A change raises `RuntimeError` there, since it must be durable when the method
    returns.
    """

    def send_task(self, task: TaskEnvelope) -> Task:
        """Send the task as its ``sender``, which must not be None; see `sending.send_task`."""
        task = _envelope(task, TaskEnvelope, "task")
        if task.sender is None:
            raise InvalidRequestError({"sender": "is required: set TaskEnvelope.sender"})
        task = replace(
            task,
            id=_id_or_none(task.id, "id"),
            parent=_id_or_none(task.parent, "parent"),
            sender=_ref(task.sender, "sender"),
            recipient=_ref(task.recipient, "recipient"),
        )
        task.check()
        return sending.send_task(Caller.local(_agent(task.sender, "sender")), task)

    def recv_task(self, *, timeout: timedelta | None = None) -> Lease:
        """Lease the oldest task of any agent, waiting if there is none. ``timeout`` None waits without limit.

        Raises `WaitTimeoutError`.
        """
        leases = waiting.until(lambda: leasing.lease_tasks(Caller.local()), _timeout(timeout), [topics.agent(None)])
        if not leases:
            raise WaitTimeoutError
        return leases[0]

    def try_recv_task_for(self, recipient: AgentRef | Agent | str) -> Lease | None:
        """Lease the oldest task for ``recipient``, without waiting; None if it has none."""
        leases = leasing.lease_tasks(Caller.local(_agent(recipient, "recipient")))
        return leases[0] if leases else None

    def recent_tasks(self, limit: int) -> Sequence[Task]:
        """Return up to ``limit``, 1 to 1000, queued tasks, oldest first."""
        return _first(_limit(limit), lambda most, cursor: lists.recent_tasks(Caller.local(), limit=most, cursor=cursor))

    def task_queue(self, limit: int) -> Sequence[tasks.QueueEntry]:
        """Return up to ``limit``, 1 to 1000, unresolved tasks: queued tasks, then leased tasks, each oldest first."""
        return _first(_limit(limit), lambda most, cursor: lists.queue(Caller.local(), limit=most, cursor=cursor))

    def repair_task(
        self,
        task_id: UUID | str,
        *,
        action: str,
        reason: str,
        duplicate_risk: str | None = None,
        message: str | None = None,
        lease_id: UUID | str | None = None,
    ) -> Task | Result:
        """Call the verb that ``action`` names: `repair.requeue` or `repair.force_error`.

        ``duplicate_risk`` is for ``requeue`` only, ``message`` for ``force_error`` only.
        """
        caller, task, lease = Caller.local(), _id(task_id, "task_id"), _id_or_none(lease_id, "lease_id")
        match action:
            case "requeue":
                _refuse(message, "message", action)
                risk = _required(duplicate_risk, "duplicate_risk")
                return repair.requeue(caller, task, reason=reason, duplicate_risk=risk, lease_id=lease)
            case "force_error":
                _refuse(duplicate_risk, "duplicate_risk", action)
                text = _required(message, "message")
                return repair.force_error(caller, task, reason=reason, message=text, lease_id=lease)
        raise InvalidRequestError({"action": "must be 'requeue' or 'force_error'"})

    def send_result(self, result: ResultEnvelope) -> Result:
        """Post a result on behalf of the task's recipient; see `results.post_result`."""
        result = _envelope(result, ResultEnvelope, "result")
        result = replace(
            result, task_id=_id(result.task_id, "task_id"), lease_id=_id_or_none(result.lease_id, "lease_id")
        )
        return results.post_result(Caller.local(lookup.recipient_of(result.task_id)), result)

    def recv_result(self, *, timeout: timedelta | None = None) -> Result:
        """Drain the oldest result of any agent, waiting if there is none. ``timeout`` None waits without limit.

        Raises `WaitTimeoutError`.
        """
        result = results.next_result(Caller.local(), wait=_timeout(timeout))
        if result is None:
            raise WaitTimeoutError
        return result

    def try_recv_result_for(self, peer: AgentRef | Agent | str) -> Result | None:
        """Drain the oldest result of a task that ``peer`` sent, without waiting; None if there is none."""
        drained = results.drain_results(Caller.local(_agent(peer, "peer")))
        return drained[0] if drained else None

    def recent_results(self, limit: int) -> Sequence[Result]:
        """Return up to ``limit``, 1 to 1000, results that were not drained yet, oldest first."""
        return _first(
            _limit(limit), lambda most, cursor: lists.recent_results(Caller.local(), limit=most, cursor=cursor)
        )

    def delivered_results_for(self, peer: AgentRef | Agent | str, limit: int) -> Sequence[Result]:
        """Return up to ``limit``, 1 to 1000, results that ``peer`` drained and did not acknowledge, earliest first."""
        caller = Caller.local(_agent(peer, "peer"))
        return _first(_limit(limit), lambda most, cursor: lists.delivered_results(caller, limit=most, cursor=cursor))


def _envelope(given: object, kind: type[Envelope], path: str) -> Envelope:
    if not isinstance(given, kind):
        raise InvalidRequestError({path: f"must be a {kind.__name__}"})
    return given


def _agent(named: object, path: str) -> Agent:
    return finding.identified(Caller.local(), _ref(named, path))


def _ref(named: object, path: str) -> AgentRef:
    if not isinstance(named, Agent | AgentRef):
        return AgentRef.parse(named, path)
    display, pubkey = named.display, named.pubkey
    if display is None and isinstance(pubkey, str):
        check_pubkey(pubkey, path)
        return AgentRef(pubkey=pubkey)
    return AgentRef.parse(display if pubkey is None else {"display": display, "pubkey": pubkey}, path)


def _id(given: object, path: str) -> UUID:
    try:
        return given if isinstance(given, UUID) else UUID(given if isinstance(given, str) else "")
    except ValueError as error:
        raise InvalidRequestError({path: "must be a UUID"}) from error


def _id_or_none(given: object, path: str) -> UUID | None:
    return None if given is None else _id(given, path)


def _limit(given: object) -> int:
    if type(given) is not int or not 1 <= given <= MOST_LISTED:
        raise InvalidRequestError({"limit": f"must be a whole number from 1 to {MOST_LISTED}"})
    return given


def _timeout(given: object) -> timedelta | None:
    if given is not None and (not isinstance(given, timedelta) or given < timedelta(0)):
        raise InvalidRequestError({"timeout": "must be a timedelta of at least 0, or None to wait for ever"})
    return given


def _first(limit: int, look: Callable[[int, str | None], Page[Item]]) -> Sequence[Item]:
    """Return the first ``limit`` items of all pages: a page of large items has fewer."""
    return list(islice(paging.every(lambda cursor: look(limit, cursor)), limit))


def _required(given: str | None, path: str) -> str:
    if given is None:
        raise InvalidRequestError({path: "is required"})
    return given


def _refuse(given: object, path: str, action: str) -> None:
    if given is not None:
        raise InvalidRequestError({path: f"is not a field of {action}"})
