"""The record of each timed job's newest passes, by which the health of the hub is judged."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.utils import timezone

from mailbox.database import write_turns
from mailbox.models import LastPass


@dataclass(slots=True)
class Pass:
    """A pass under way. Set ``failed`` when the pass, or a step of it, has failed."""

    failed: bool = False


@contextmanager
def recorded(job: str) -> Iterator[Pass]:
    """Record the start of a job's pass, and its end when the block ends. A block that raises is a failed pass.

    ``job`` is the job's dotted name. Writes the job's `LastPass` and journals nothing. Raises the block's error.
    """
    _write(LastPass(job=job, started_at=timezone.now()), "started_at")
    this = Pass()
    try:
        yield this
    except Exception:
        _record_end(job, failed=True)
        raise
    _record_end(job, failed=this.failed)


def _record_end(job: str, *, failed: bool) -> None:
    now = timezone.now()
    if failed:
        _write(LastPass(job=job, finished_at=now, failed_at=now), "finished_at", "failed_at")
    else:
        _write(LastPass(job=job, finished_at=now), "finished_at")


def _write(row: LastPass, *fields: str) -> None:
    """Write these fields of the job's row, and create the row if it is missing."""
    with write_turns.turn():
        LastPass.objects.bulk_create([row], update_conflicts=True, unique_fields=["job"], update_fields=fields)
