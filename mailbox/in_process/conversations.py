"""Conversations for Python code in this process. Source: A2A, messages, artifacts and task states."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from mailbox.access.callers import Caller
from mailbox.database import paging
from mailbox.in_process import arguments
from mailbox.inspection import conversation, lookup
from mailbox.inspection.conversation import Reading
from mailbox.life import expiry, leasing, updates
from mailbox.life.conversation import Sent, say
from mailbox.life.updates import Posted
from mailbox.models import Lease
from mailbox.models.artifact import WholeArtifact, whole
from mailbox.words.conversation import ArtifactUpdate, Update, Words
from mailbox.words.errors import InvalidRequestError


class Conversations:
    """The part of `Mailbox` that talks about one task, by its id."""

    def lease_task(self, task_id: UUID | str, *, attempt_id: UUID | str | None = None) -> Lease:
        """Lease one task, queued or interrupted, on behalf of its recipient; see `leasing.lease_task`."""
        task = arguments.uuid(task_id, "task_id")
        attempt = arguments.uuid_or_none(attempt_id, "attempt_id")
        return leasing.lease_task(Caller.local(lookup.recipient_of(task)), task, attempt_id=attempt)

    def say(self, task_id: UUID | str, said: Words, *, attempt_id: UUID | str | None = None) -> Sent:
        """Send a further message on behalf of the task's sender; see `conversation.say`."""
        if not isinstance(said, Words):
            raise InvalidRequestError({"said": "must be a Words"})
        task = arguments.uuid(task_id, "task_id")
        attempt = arguments.uuid_or_none(attempt_id, "attempt_id")
        return say(Caller.local(lookup.sender_of(task)), task, said, attempt_id=attempt)

    def post_updates(
        self,
        task_id: UUID | str,
        posted: Sequence[Update | ArtifactUpdate],
        *,
        lease_id: UUID | str | None = None,
        attempt_id: UUID | str | None = None,
    ) -> Posted:
        """Post updates on behalf of the task's holder; see `updates.post_updates`."""
        arguments.check_updates(posted)
        task = arguments.uuid(task_id, "task_id")
        return updates.post_updates(
            Caller.local(lookup.recipient_of(task)),
            task,
            posted,
            lease_id=arguments.uuid_or_none(lease_id, "lease_id"),
            attempt_id=arguments.uuid_or_none(attempt_id, "attempt_id"),
        )

    def messages(
        self, task_id: UUID | str, *, after: int = 0, limit: int = 100, timeout: timedelta | None = timedelta(0)
    ) -> Reading:
        """Return messages of both parties, waiting up to ``timeout`` for the first; see `conversation.read`.

        ``timeout`` None waits without limit. A wait also ends when the task is resolved, or its agent asks without
        words. The ``next_after`` of the answer then leads past the question. A task past its deadline or work timeout
        is expired first, and a task that becomes due during the wait is expired then.
        """
        task = arguments.uuid(task_id, "task_id")
        most, least = arguments.limit(limit), arguments.whole_number(after, "after")
        return expiry.read(
            Caller.local(),
            task,
            lambda _: conversation.read(Caller.local(), task, after=least, limit=most),
            wait=arguments.timeout(timeout),
        )

    def artifacts(self, task_id: UUID | str) -> Sequence[WholeArtifact]:
        """Return the artifacts of a task in the order of their placement. Raises `UnknownTaskError`."""
        task = arguments.uuid(task_id, "task_id")
        most = arguments.MOST_LISTED
        rows = paging.every(lambda cursor: conversation.artifacts(Caller.local(), task, limit=most, cursor=cursor))
        return whole(rows)
