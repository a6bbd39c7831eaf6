"""Real threads that start at one barrier, each with its own database connection."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, connections

from mailbox.models import Task
from mailbox.words.errors import MailboxError
from tests.support import factories

# The winner differs from race to race. `make soak` runs more rounds.
ROUNDS = range(25 if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else 3)
LOCK_AWAITED = """
SELECT 1 FROM pg_locks waited JOIN pg_stat_activity waiter ON waiter.pid = waited.pid
WHERE NOT waited.granted AND waiter.datname = current_database() LIMIT 1"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The return value of one contender, or its refusal."""

    value: Any = None
    refusal: MailboxError | None = None

    @property
    def code(self) -> str | None:
        return self.refusal.code if self.refusal else None

    @property
    def answer(self) -> Any:
        """The refusal, or else the value."""
        return self.refusal or self.value


def race(*contenders: Callable[[], Any]) -> Sequence[Outcome]:
    """Run the contenders at once; return their outcomes in order. Exceptions other than `MailboxError` are raised."""
    outcomes: list[Outcome | BaseException | None] = [None] * len(contenders)
    barrier = threading.Barrier(len(contenders))

    def run(number: int, contender: Callable[[], Any]) -> None:
        try:
            connection.ensure_connection()
            barrier.wait()
            outcomes[number] = Outcome(value=contender())
        except MailboxError as refusal:
            outcomes[number] = Outcome(refusal=refusal)
        except BaseException as failure:  # noqa: BLE001 it is raised again below
            outcomes[number] = failure
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=run, args=(number, contender), daemon=True)
        for number, contender in enumerate(contenders)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if failures:
        raise failures[0]
    return [outcome for outcome in outcomes if isinstance(outcome, Outcome)]


def answers(*contenders: Callable[[], Any]) -> Sequence[Any]:
    """Run the contenders as `race` does; return what each returned, or its refusal."""
    return [outcome.answer for outcome in race(*contenders)]


def assert_journal_is_whole() -> None:
    """Check that each task's numbers run from 1 without a gap, up to the number in the task's row."""
    for task in Task.objects.all():
        assert len(factories.life_of(task)) == task.journal_seq


def is_lock_awaited() -> bool:
    """Return whether a connection to this test's database waits for a lock. PostgreSQL alone."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK_AWAITED)
        return cursor.fetchone() is not None
