"""The mailbox for Python code in this process. Source: Covenant A2A, trait "Mailbox"."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import islice
from typing import TypeVar
from uuid import UUID

from mailbox.access.callers import Caller
from mailbox.database import paging, waiting
from mailbox.database.bell import topics
from mailbox.in_process import conversations
from mailbox.inspection import lists, lookup, tasks
from mailbox.life import batches, leasing, results, sending
from mailbox.models import Agent, Lease, Result, Task
from mailbox.repairs import repair
from mailbox.words.envelopes import AgentRef, ResultEnvelope, TaskEnvelope
from mailbox.words.errors import InvalidRequestError, MailboxError, WaitTimeoutError

Envelope = TypeVar("Envelope", TaskEnvelope, ResultEnvelope)
Item = TypeVar("Item")
Row = TypeVar("Row", Task, Result)


class Mailbox(conversations.Conversations):
    """Covenant's ten methods, batches, conversations, and `delivered_results_for`, over the verbs of all interfaces.

    Callers are trusted. A batch holds `Outcomes`: for each item what the single method returns, or its error.

    An agent is given by display, local part, `AgentRef` or row, and an id as a UUID or its text. No method needs a
    grant; every change is journalled. All methods raise `InvalidRequestError` for arguments that HTTP would refuse too.
    HTTP also refuses a large body with 413. These methods limit no size of a whole task or result.

    Call no method inside a transaction. A change raises `RuntimeError` there, since it must be durable when the method
    returns.
    """

    def send_task(self, task: TaskEnvelope) -> Task:
        """Send the task as its ``sender``, which must not be None; see `sending.send_task`."""
        sender, task = conversations.sender_and_task(task)
        return sending.send_task(Caller.local(sender), task)

    def send_tasks(self, tasks: Sequence[TaskEnvelope]) -> batches.Outcomes[Task]:
        """Send 1 to 500 tasks, each as its ``sender``; see `batches.send_tasks`."""
        read = [_read(lambda task=task: conversations.sender_and_task(task)) for task in tasks]  # type: ignore[misc]
        return batches.Outcomes(
            [getattr(task, "id", None) for task in tasks], _decided(read, "tasks", batches.send_tasks)
        )

    def recv_task(self, *, timeout: timedelta | None = None) -> Lease:
        """Lease the oldest task of any agent, waiting if there is none. ``timeout`` None waits without limit.

        Raises `WaitTimeoutError`.
        """
        leases = waiting.until(
            lambda: leasing.lease_tasks(Caller.local()), conversations.wait_timeout(timeout), [topics.agent(None)]
        )
        if not leases:
            raise WaitTimeoutError
        return leases[0]

    def recv_tasks(
        self,
        most: int,
        *,
        recipient: AgentRef | Agent | str | None = None,
        timeout: timedelta | None = None,
        attempt_id: UUID | str | None = None,
        results: Sequence[ResultEnvelope] = (),
    ) -> batches.Leased:
        """Post ``results``, then lease 1 to 100 tasks; see `batches.next_tasks`.

        The tasks are those of ``recipient``, of any agent if that is None. The call returns once there is a task, or
        without a task after ``timeout``, None for no limit. A value that is no envelope is an error of the call.
        """
        answers = [conversations.result_envelope(one, f"results.{place}.") for place, one in enumerate(results)]
        return batches.next_tasks(
            Caller.local(None if recipient is None else conversations.agent(recipient, "recipient")),
            most=conversations.page_limit(most, "most", batches.MOST_LEASED),
            attempt_id=conversations.uuid_or_none(attempt_id, "attempt_id"),
            answers=answers,
            wait=conversations.wait_timeout(timeout),
        )

    def try_recv_task_for(self, recipient: AgentRef | Agent | str) -> Lease | None:
        """Lease the oldest task for ``recipient``, without waiting; None if it has none."""
        leases = leasing.lease_tasks(Caller.local(conversations.agent(recipient, "recipient")))
        return leases[0] if leases else None

    def recent_tasks(self, limit: int) -> Sequence[Task]:
        """Return up to ``limit``, 1 to 1000, queued tasks, oldest first."""
        return _first(
            conversations.page_limit(limit),
            lambda most, cursor: lists.recent_tasks(Caller.local(), limit=most, cursor=cursor),
        )

    def task_queue(self, limit: int) -> Sequence[tasks.QueueEntry]:
        """Return up to ``limit``, 1 to 1000, unresolved tasks: queued tasks, then leased tasks, each oldest first."""
        return _first(
            conversations.page_limit(limit), lambda most, cursor: lists.queue(Caller.local(), limit=most, cursor=cursor)
        )

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
        caller, task, lease = (
            Caller.local(),
            conversations.uuid(task_id, "task_id"),
            conversations.uuid_or_none(lease_id, "lease_id"),
        )
        match action:
            case "requeue":
                conversations.refuse(message, "message", action)
                risk = conversations.required(duplicate_risk, "duplicate_risk")
                return repair.requeue(caller, task, reason=reason, duplicate_risk=risk, lease_id=lease)
            case "force_error":
                conversations.refuse(duplicate_risk, "duplicate_risk", action)
                text = conversations.required(message, "message")
                return repair.force_error(caller, task, reason=reason, message=text, lease_id=lease)
        raise InvalidRequestError({"action": "must be 'requeue' or 'force_error'"})

    def send_result(self, result: ResultEnvelope) -> Result:
        """Post a result on behalf of the task's recipient; see `results.post_result`."""
        result = conversations.result_envelope(result)
        return results.post_result(Caller.local(lookup.recipient_of(result.task_id)), result)

    def send_results(self, results: Sequence[ResultEnvelope]) -> batches.Outcomes[Result]:
        """Post 1 to 100 results, each on behalf of its task's recipient; see `batches.post_results`."""
        read = [_read(lambda result=result: conversations.recipient_and_result(result)) for result in results]  # type: ignore[misc]
        named = [getattr(result, "task_id", None) for result in results]
        return batches.Outcomes(named, _decided(read, "results", batches.post_results))

    def recv_result(self, *, timeout: timedelta | None = None) -> Result:
        """Drain the oldest result of any agent, waiting if there is none. ``timeout`` None waits without limit.

        Raises `WaitTimeoutError`.
        """
        result = results.next_result(Caller.local(), wait=conversations.wait_timeout(timeout))
        if result is None:
            raise WaitTimeoutError
        return result

    def recv_results(
        self,
        most: int,
        *,
        peer: AgentRef | Agent | str | None = None,
        timeout: timedelta | None = None,
        attempt_id: UUID | str | None = None,
        ack: Sequence[UUID | str] = (),
    ) -> batches.Drained:
        """Acknowledge the results of the tasks ``ack``, then drain 1 to 100 results; see `batches.next_results`.

        The results are those of tasks that ``peer`` sent, or any agent if that is None. The call returns once there is
        a result, or without a result after ``timeout``, None for no limit. An id that is no UUID is an error of the
        call.
        """
        return batches.next_results(
            Caller.local(None if peer is None else conversations.agent(peer, "peer")),
            most=conversations.page_limit(most, "most", batches.MOST_DRAINED),
            attempt_id=conversations.uuid_or_none(attempt_id, "attempt_id"),
            ack=[conversations.uuid(one, f"ack.{place}") for place, one in enumerate(ack)],
            wait=conversations.wait_timeout(timeout),
        )

    def try_recv_result_for(self, peer: AgentRef | Agent | str) -> Result | None:
        """Drain the oldest result of a task that ``peer`` sent, without waiting; None if there is none."""
        drained = results.drain_results(Caller.local(conversations.agent(peer, "peer")))
        return drained[0] if drained else None

    def recent_results(self, limit: int) -> Sequence[Result]:
        """Return up to ``limit``, 1 to 1000, results that were not drained yet, oldest first."""
        return _first(
            conversations.page_limit(limit),
            lambda most, cursor: lists.recent_results(Caller.local(), limit=most, cursor=cursor),
        )

    def delivered_results_for(self, peer: AgentRef | Agent | str, limit: int) -> Sequence[Result]:
        """Return up to ``limit``, 1 to 1000, results that ``peer`` drained and did not acknowledge, earliest first."""
        caller = Caller.local(conversations.agent(peer, "peer"))
        return _first(
            conversations.page_limit(limit),
            lambda most, cursor: lists.delivered_results(caller, limit=most, cursor=cursor),
        )


def _read(read: Callable[[], Item]) -> Item | MailboxError:
    try:
        return read()
    except MailboxError as error:
        return error


def _decided(
    read: Sequence[tuple[Agent | None, Envelope] | MailboxError],
    path: str,
    decide: Callable[[Caller, Sequence[Envelope]], batches.Outcomes[Row]],
) -> list[Row | MailboxError]:
    """Decide the items of each agent together. Return the outcome of each item, in the order of the items."""
    if not read:
        raise InvalidRequestError({path: "must have at least 1 entries"})
    outcomes: list[Row | MailboxError] = [one if isinstance(one, MailboxError) else MailboxError() for one in read]
    places: dict[Agent | None, list[tuple[int, Envelope]]] = {}
    for place, one in enumerate(read):
        if not isinstance(one, MailboxError):
            places.setdefault(one[0], []).append((place, one[1]))
    for agent, items in places.items():
        decided = decide(Caller.local(agent), [envelope for _, envelope in items])
        for (place, _), outcome in zip(items, decided.of_each, strict=True):
            outcomes[place] = outcome
    return outcomes


def _first(limit: int, look: Callable[[int, str | None], paging.Page[Item]]) -> Sequence[Item]:
    """Return the first ``limit`` items of all pages: a page of large items has fewer."""
    return list(islice(paging.every(lambda cursor: look(limit, cursor)), limit))
