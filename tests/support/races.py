"""Real threads that start at one barrier, each with its own database connection."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connections

from mailbox.words.errors import MailboxError

PATIENCE = 60.0
# Who wins differs from time to time; `make soak` looks longer.
ROUNDS = range(25 if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one contender got: its return value, or the refusal that it met."""

    value: Any = None
    refusal: MailboxError | None = None

    @property
    def code(self) -> str | None:
        return self.refusal.code if self.refusal else None


def race(*contenders: Callable[[], Any]) -> Sequence[Outcome]:
    """Run the contenders at once; return their outcomes in order. Only refusals are allowed to be raised."""
    outcomes: list[Outcome | BaseException | None] = [None] * len(contenders)
    barrier = threading.Barrier(len(contenders))

    def run(number: int, contender: Callable[[], Any]) -> None:
        try:
            barrier.wait(PATIENCE)
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
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads), "a contender never came back"
    failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if failures:
        raise failures[0]
    return [outcome for outcome in outcomes if isinstance(outcome, Outcome)]
