"""The command line that does the same as a form: people copy it, and learn to automate."""

from __future__ import annotations

import shlex
from uuid import UUID

from mailbox.verbs.repairs.repair import DuplicateRisk

UNSAID = "…"


def requeue(task_id: UUID, lease_id: UUID, *, risk: str, reason: str) -> str:
    """Return the command; whatever is not chosen yet is the cautious choice or an ellipsis."""
    chosen = (risk or DuplicateRisk.OPERATOR_ACCEPTED).replace("_", "-")
    return _command("requeue", task_id, lease_id, "--duplicate-risk", chosen, "--reason", reason or UNSAID)


def force_error(task_id: UUID, lease_id: UUID, *, message: str, reason: str) -> str:
    """Return the command; without a message the sender reads the reason."""
    told = message or reason or UNSAID
    return _command("force-error", task_id, lease_id, "--message", told, "--reason", reason or UNSAID)


def _command(verb: str, task_id: UUID, lease_id: UUID, *options: str) -> str:
    words = ["a2a", verb, str(task_id), "--lease-id", str(lease_id), *options]
    return f"manage.py {' '.join(word if word == UNSAID else shlex.quote(word) for word in words)}"
