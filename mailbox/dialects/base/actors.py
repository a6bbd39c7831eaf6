"""The actors of the journal, as its readers see them."""

from __future__ import annotations

from mailbox.access.callers import Caller
from mailbox.models import AuditEvent
from mailbox.words.envelopes import DISPLAY

SOME_OPERATOR = "operator"  # stands for a person or the command line where an agent reads the journal


def shown(row: AuditEvent, caller: Caller) -> str:
    """Return the actor of a journal row. An agent sees other agents by name, also those that came by a public route.

    It sees people and the command line as `SOME_OPERATOR`.
    """
    if caller.agent is None:
        return row.actor
    display = row.actor.partition(" (route ")[0]
    return display if DISPLAY.fullmatch(display) else SOME_OPERATOR
