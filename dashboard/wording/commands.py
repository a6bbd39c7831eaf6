"""The equivalent commands of pages. People copy them and learn to automate."""

import json
import shlex
from datetime import timedelta
from uuid import UUID

from django.conf import settings

from mailbox.repairs.repair import DuplicateRisk
from mailbox.repairs.retry import RetryPolicy

UNSAID = "…"
AUTHORIZATION = '-H "Authorization: Bearer $A2A_API_KEY"'


def requeue(task_id: UUID, lease_id: UUID, *, risk: str, reason: str) -> str:
    """Return the shell command that requeues a task. Its risk is by default ``operator_accepted``, its reason "…"."""
    chosen = risk or DuplicateRisk.OPERATOR_ACCEPTED
    return _of_lease("requeue", task_id, lease_id, "--duplicate-risk", chosen, "--reason", reason or UNSAID)


def force_error(task_id: UUID, lease_id: UUID | None, *, message: str, reason: str) -> str:
    """Return the shell command that forces an error. Without a message, the sender receives the reason.

    ``lease_id`` is the live lease, None for an interrupted task.
    """
    sent = message or reason or UNSAID
    return _of_lease("fail", task_id, lease_id, "--message", sent, "--reason", reason or UNSAID)


def retry_stale(policy: RetryPolicy) -> str:
    """Return the command for a pass of the retry gate within the bounds of ``policy``, on the hub's machine."""
    bounds = {
        "--min-lease-age-ms": policy.min_lease_age // timedelta(milliseconds=1),
        "--max-attempts": policy.max_attempts,
        "--max-requeues": policy.max_requeues,
        "--scan-limit": policy.scan_limit,
    }
    words = [str(word) for bound in bounds.items() for word in bound]
    return f"manage.py {_a2a('retry-stale', '--enable', *words)}"


def resend(delivery_id: UUID) -> str:
    """Return the shell command that sends a callback again, for the reason "…"."""
    return _a2a("delivery", "resend", str(delivery_id), "--reason", UNSAID)


def get(path: str) -> str:
    """Return a GET of ``path`` as a call of curl."""
    return f"curl {settings.PUBLIC_URL}{path} {AUTHORIZATION}"


def post(path: str, **fields: object) -> str:
    """Return a POST of ``fields`` to ``path`` as a call of curl."""
    body = json.dumps(fields, ensure_ascii=False)
    url = f"{settings.PUBLIC_URL}{path}"
    return f"""curl -X POST {url} {AUTHORIZATION} -H "Content-Type: application/json" -d '{body}'"""


def _of_lease(verb: str, task_id: UUID, lease_id: UUID | None, *options: str) -> str:
    guard = [] if lease_id is None else ["--lease-id", str(lease_id)]
    return _a2a("task", verb, str(task_id), *guard, *options)


def _a2a(*words: str) -> str:
    return f"a2a {' '.join(word if word == UNSAID else shlex.quote(word) for word in words)}"
