"""The lives of tasks that a reader returns to often, kept in its memory, so that it reads each row once."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from uuid import UUID

from mailbox.inspection.event_log import GrowingLife
from mailbox.models import Task

MOST_BYTES = 64 * 2**20  # of all kept lives; the life that was used last stays at any size
BYTES_OF_A_ROW = 1024  # that an event takes beside its texts
LONGEST_REST = 60.0  # seconds that an unused life is kept


@dataclass(frozen=True, slots=True)
class _KeptLife:
    life: GrowingLife
    size: int  # of the task, by its row
    used_at: float

    @property
    def weight(self) -> int:
        return self.size + BYTES_OF_A_ROW * (1 + self.life.seq)


class KeptLives:
    """The lives that were used last, within `MOST_BYTES`. A life that was dropped is read again from its first row.

    One thread uses it.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[UUID, _KeptLife] = OrderedDict()  # the one used last is at the end
        self._weight = 0

    def of(self, task: Task) -> GrowingLife:
        """Return the life of a task with all rows that ``task`` counts. Only rows that it lacks are read.

        A task whose payload was erased is read again from its first row.
        """
        now = time.monotonic()
        while self._kept and next(iter(self._kept.values())).used_at < now - LONGEST_REST:
            self._drop(next(iter(self._kept)))
        kept = self._drop(task.uuid)
        life = GrowingLife(task) if kept is None or task.size < kept.size else kept.life
        if life.seq < task.journal_seq:
            life.catch_up()
        self._keep(task.uuid, _KeptLife(life, task.size, now))
        return life

    def _keep(self, task_id: UUID, kept: _KeptLife) -> None:
        self._kept[task_id] = kept
        self._weight += kept.weight
        while self._weight > MOST_BYTES and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def _drop(self, task_id: UUID) -> _KeptLife | None:
        kept = self._kept.pop(task_id, None)
        if kept is not None:
            self._weight -= kept.weight
        return kept
