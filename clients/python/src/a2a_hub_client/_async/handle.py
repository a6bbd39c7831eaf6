"""One task, by its id."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal
from uuid import UUID, uuid4

from a2a_hub_client import _calls
from a2a_hub_client._async.connection import AsyncConnection
from a2a_hub_client._calls import Id, get, inner, nothing, of_task, post, whole
from a2a_hub_client.errors import ResultTimeoutError
from a2a_hub_client.models.administration import JournalEvent, RepairOutcome
from a2a_hub_client.models.conversation import Artifact, Message, MessageSent, TaskUpdate
from a2a_hub_client.models.tasks import Outcome, Result, TaskEntry, TreeNode
from a2a_hub_client.models.wire import ContentInput, blocks_of, filled
from a2a_hub_client.retry import Duration, Patience

FIRST = 1  # the number of the message that is the task's text


class AsyncTaskHandle:
    """A task at the hub. Making one sends no request.

    ``outcome`` is None, but for a repeat of a task that the hub has deleted since: then no result comes.
    """

    def __init__(self, connection: AsyncConnection, task_id: Id, *, outcome: Outcome | None = None) -> None:
        self.id = task_id if isinstance(task_id, UUID) else UUID(task_id)
        self.outcome = outcome
        self._connection = connection

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.id)!r})"

    async def result(self, timeout: Duration | None = None, *, ack: bool = True) -> Result:
        """Wait for the result and return it. Its status says whether the work was done.

        ``timeout`` None waits for ever; otherwise `ResultTimeoutError` is raised after it. ``ack`` acknowledges the
        result, so that no drain gets it; only the task's sender can. Raises `UnknownTaskError`.
        """
        patience = Patience(timeout)
        while True:
            wait = patience.left(most=_calls.LONGEST_POLL)
            call = _calls.result(self.id, wait=wait)
            result = await self._connection.perform(call, retry=patience.limit(self._connection.retry))
            if result is not None:
                break
            if patience.is_over:
                raise ResultTimeoutError(f"task {self.id} has no result yet")
        if ack:
            await self._connection.perform(_calls.ack([self.id]))
        return result

    async def entry(self) -> TaskEntry:
        """Return the task with its state and its lease."""
        return await self._connection.perform(get(of_task(self.id, "entry"), inner("entry", TaskEntry)))

    async def messages(self, *, after: int = 0) -> AsyncIterator[Message]:
        """Yield the messages so far whose number is more than ``after``. The first is the task's text."""
        position: int | None = after
        while position is not None:
            page = await self._connection.perform(_calls.messages(self.id, after=position))
            for message in page.messages:
                yield message
            position = page.next_after if page.messages else None

    async def updates(self, *, after: int = FIRST) -> AsyncIterator[TaskUpdate]:
        """Yield what happens to the task, and wait for more until the task is resolved.

        The last update has the state ``resolved``. An update with ``awaits`` is a question, which `say` answers.
        """
        while True:
            page = await self._connection.perform(_calls.messages(self.id, after=after, wait=_calls.LONGEST_POLL))
            is_last_page = page.next_after is None or not page.messages
            for message in page.messages:
                after = message.seq
                is_last = is_last_page and message is page.messages[-1]
                yield TaskUpdate(state=page.state, message=message, awaits=page.awaits if is_last else None)
            is_question = page.next_after is not None and not page.messages
            is_end = page.state == "resolved" and page.next_after is None
            if is_question or (is_end and not page.messages):
                yield TaskUpdate(state=page.state, awaits=page.awaits)
            if is_end:
                return
            after = page.next_after or after

    async def say(
        self,
        content: ContentInput,
        *,
        message_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        attempt_id: Id | None = None,
    ) -> MessageSent:
        """Send a further message to the agent, which answers its question if it has one.

        The same ``attempt_id`` with the same message stores it once; None makes one.
        """
        stored_once = {"attempt_id": attempt_id or uuid4(), "message_id": message_id, "metadata": metadata}
        fields = {"content": blocks_of(content), **stored_once}
        return await self._connection.perform(post(of_task(self.id, "messages"), fields, whole(MessageSent)))

    def artifacts(self) -> AsyncIterator[Artifact]:
        """Yield the artifacts. One with ``append`` continues the artifact of its id."""
        return self._connection.listed(of_task(self.id, "artifacts"), "artifacts", Artifact, limit=None)

    def timeline(self) -> AsyncIterator[JournalEvent]:
        """Yield the task's rows of the journal, oldest first."""
        return self._connection.listed(of_task(self.id, "timeline"), "events", JournalEvent, limit=None)

    def tree(self) -> AsyncIterator[TreeNode]:
        """Yield the task and all tasks below it, each after its parent."""
        return self._connection.listed(of_task(self.id, "tree"), "nodes", TreeNode, limit=None)

    async def cancel(self, reason: str = "") -> None:
        """Cancel the task, as its sender. Cancelling it twice changes nothing. Raises `AlreadyResolvedError`."""
        return await self._connection.perform(post(of_task(self.id, "cancel"), {"reason": reason}, nothing))

    async def release(self, reason: str, *, lease_id: Id | None = None) -> None:
        """Return the task to the queue, as its holder. Raises `LeaseMismatchError` unless ``lease_id`` is live."""
        fields = {"reason": reason, "lease_id": lease_id}
        call = post(of_task(self.id, "release"), fields, nothing, is_repeatable=lease_id is not None)
        return await self._connection.perform(call)

    async def requeue(
        self,
        reason: str,
        *,
        duplicate_risk: Literal["idempotent", "operator_accepted"],
        lease_id: Id | None = None,
    ) -> RepairOutcome:
        """Take the task from its holder and return it to the queue, as an operator.

        ``duplicate_risk`` says why doing the work twice is acceptable. Raises `LeaseMismatchError` unless ``lease_id``
        is live, and `NotInFlightError`.
        """
        return await self._repair(reason, lease_id, action="requeue", duplicate_risk=duplicate_risk)

    async def fail(self, message: str, *, reason: str, lease_id: Id | None = None) -> RepairOutcome:
        """Resolve a leased task as an error with ``message``, as an operator. Raises as `requeue` does."""
        return await self._repair(reason, lease_id, action="force_error", message=message)

    async def _repair(self, reason: str, lease_id: Id | None, **command: str) -> RepairOutcome:
        fields = {"task_id": self.id, "command": filled({**command, "lease_id": lease_id}), "reason": reason}
        is_repeatable = lease_id is not None
        call = post("/a2a/repair", fields, inner("outcome", RepairOutcome), is_repeatable=is_repeatable)
        return await self._connection.perform(call)
