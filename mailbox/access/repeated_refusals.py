"""Refusals that repeat: the journal has the first rows of a minute, and then one row with the number of the rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mailbox.access import actions
from mailbox.access.callers import Caller
from mailbox.journal import entries
from mailbox.journal.entries.quotas import RefusalsRepeatedData
from mailbox.words.kinds import Entry

MOST_ROWS = 20  # in a minute, of one actor, kind and action
MINUTE = 60.0  # seconds
MOST_REMEMBERED = 10_000

Refusal = tuple[str, str, str]  # actor, kind, action


@dataclass(slots=True)
class _Minute:
    caller: Caller
    begun: float
    rows: int = 0
    left_out: int = 0


class Repeats:
    """The refusals of this process, by actor, kind and action. Those not yet in the journal are lost when it ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._minutes: dict[Refusal, _Minute] = {}

    def admits(self, caller: Caller, entry: Entry[Any]) -> bool:
        """Whether the refusal gets a row of its own. If it does not, it is counted for a later row."""
        key = caller.name, str(entry.kind), _action(entry)
        now = time.monotonic()
        with self._lock:
            minute = self._minutes.setdefault(key, _Minute(caller, now))
            minute.rows += 1
            if minute.rows <= MOST_ROWS:
                return True
            minute.caller, minute.left_out = caller, minute.left_out + 1
            return False

    def due(self) -> Sequence[tuple[Caller, Entry[RefusalsRepeatedData]]]:
        """Return the rows of the minutes that have ended, each with its actor, and forget those minutes.

        The oldest minute ends early, if more than `MOST_REMEMBERED` are under way.
        """
        now = time.monotonic()
        with self._lock:
            ended = [key for key, minute in self._minutes.items() if now - minute.begun >= MINUTE]
            ended += list(self._minutes)[: max(0, len(self._minutes) - len(ended) - MOST_REMEMBERED)]
            minutes = [(key, self._minutes.pop(key)) for key in dict.fromkeys(ended)]
        return [
            (minute.caller, entries.refusals_repeated(kind, action, minute.left_out))
            for (_, kind, action), minute in minutes
            if minute.left_out
        ]

    def clear(self) -> None:
        with self._lock:
            self._minutes.clear()

    def __bool__(self) -> bool:
        return bool(self._minutes)


def _action(entry: Entry[Any]) -> str:
    """Return what was refused, without the agent that it was aimed at: callers may invent agents."""
    data = entry.data
    required = data.get("required_actions") or [data.get("action") or data.get("quota") or data.get("reason") or ""]
    action = str(required[0])
    return next((verb for verb in actions.TARGETED if action.startswith(f"{verb}.")), action)
