# Written by clients/python/write_sync.py from _async. Change that folder.
"""The methods for the queue, the journal, repairs, cached results and callbacks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from a2a_hub_client._calls import upkeep
from a2a_hub_client._calls.call import Id
from a2a_hub_client._sync.connection import Connection
from a2a_hub_client.models.tasks import QueueEntry, State, Task, TaskEntry
from a2a_hub_client.models.upkeep import Delivery, HubStatus, JournalEvent, ReplayEntry, RetryReport, Verification
from a2a_hub_client.retry import Duration


class Upkeep(Connection):
    """Reads and repairs the hub. An agent sees its own tasks, an operator sees all."""

    def tasks(self) -> Iterator[TaskEntry]:
        """Yield the tasks in any state, the newest first."""
        return self.listed(upkeep.tasks)

    def queued_tasks(self) -> Iterator[Task]:
        """Yield the queued tasks, without leasing them."""
        return self.listed(upkeep.queued_tasks)

    def queue(
        self,
        *,
        state: State | None = None,
        min_lease_age: Duration | None = None,
        deadline_within: Duration | None = None,
    ) -> Iterator[QueueEntry]:
        """Yield the tasks that are not resolved, with their leases.

        ``state`` keeps those of one state, ``min_lease_age`` those that have been leased for so long, and
        ``deadline_within`` those whose deadline comes so soon.
        """
        return self.listed(
            lambda cursor: upkeep.queue(
                cursor, state=state, min_lease_age=min_lease_age, deadline_within=deadline_within
            )
        )

    def status(self, *, limit: int = 10) -> HubStatus:
        """Return the newest unresolved tasks and the newest pending results, ``limit`` of each."""
        return self.perform(upkeep.status(limit))

    def journal(self, *, since: datetime | None = None) -> Iterator[JournalEvent]:
        """Yield the rows of the journal since a time, the newest first."""
        return self.listed(lambda cursor: upkeep.journal(cursor, since=since))

    def verify_journal(
        self,
        *,
        from_row: int = 1,
        to_row: int | None = None,
        after: int | None = None,
        blocks: int = 10,
        head: str | None = None,
    ) -> Verification:
        """Check up to ``blocks`` sealed blocks. ``after`` is the ``next_after`` of the verification before.

        ``head`` is a hash that was recorded elsewhere.
        """
        call = upkeep.verify_journal(from_row=from_row, to_row=to_row, after=after, blocks=blocks, head=head)
        return self.perform(call)

    def retry_stale(
        self,
        *,
        enabled: bool = False,
        min_lease_age: Duration | None = None,
        max_attempts: int | None = None,
        max_requeues: int | None = None,
        scan_limit: int | None = None,
    ) -> RetryReport:
        """Requeue stale leases of idempotent tasks, within limits. Without ``enabled`` it is a dry run."""
        call = upkeep.retry_stale(
            enabled=enabled,
            min_lease_age=min_lease_age,
            max_attempts=max_attempts,
            max_requeues=max_requeues,
            scan_limit=scan_limit,
        )
        return self.perform(call)

    def compact(self) -> int:
        """Delete the finished tasks that the hub's settings no longer keep; return their number."""
        return self.perform(upkeep.compact())

    def replay_entries(self) -> Iterator[ReplayEntry]:
        """Yield the cached results of idempotent tasks."""
        return self.listed(upkeep.replay_entries)

    def drop_replay_entry(self, entry_id: int, *, reason: str, source_task_id: Id | None = None) -> None:
        """Drop a cached result. With ``source_task_id`` a newer result in its place stays."""
        self.perform(upkeep.drop_replay_entry(entry_id, reason, source_task_id))

    def deliveries(self) -> Iterator[Delivery]:
        """Yield callbacks with their attempts."""
        return self.listed(upkeep.deliveries)

    def resend_delivery(self, delivery_id: Id, *, reason: str) -> None:
        """Send a callback again."""
        self.perform(upkeep.resend_delivery(delivery_id, reason))
