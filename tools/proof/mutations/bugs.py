"""The bugs, each with the test that catches it."""

from __future__ import annotations

from collections.abc import Sequence

from tools.proof.mutations import of_attempts, of_batches, of_conversations, of_promises, of_receipts
from tools.proof.mutations.bug import Bug

BUGS: Sequence[Bug] = (
    *(*of_attempts.BUGS, *of_receipts.BUGS, *of_batches.BUGS, *of_promises.BUGS, *of_conversations.BUGS),
)


def table() -> str:
    """Return the bugs as a table of Markdown."""
    rows = ["| Bug | The hub with this bug | Caught by | Named by the proof |", "|---|---|---|---|"]
    rows += [f"| `{bug.name}` | {bug.does} | {_test(bug)} | {bug.breaks and f'`{bug.breaks}`'} |" for bug in BUGS]
    return "\n".join(rows) + "\n"


def _test(bug: Bug) -> str:
    path, _, name = bug.fails.partition("::")
    on = " on PostgreSQL" if bug.database == "postgresql" else ""
    return f"`{name}` in `{path}`{on}"
