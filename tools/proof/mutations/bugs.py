"""The bugs, each with the test that catches it."""

from collections.abc import Sequence

from tools.proof.mutations import (
    of_attempts,
    of_batches,
    of_conversations,
    of_dialects,
    of_life,
    of_promises,
    of_receipts,
    of_the_edges,
    of_the_gate,
    of_the_plain_ground,
    of_upkeep,
)
from tools.proof.mutations.bug import Bug

BUGS: Sequence[Bug] = (
    *(*of_attempts.BUGS, *of_receipts.BUGS, *of_batches.BUGS, *of_promises.BUGS, *of_conversations.BUGS),
    *(*of_life.BUGS, *of_upkeep.BUGS, *of_the_gate.BUGS, *of_the_plain_ground.BUGS),
    *(*of_dialects.BUGS, *of_the_edges.BUGS),
)


def table() -> str:
    """Return the bugs as a table of Markdown."""
    columns = ("Bug", "The hub with this bug", "Caught by", "Caught by `make test`", "Named by the proof")
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    rows += [_row(bug) for bug in BUGS]
    return "\n".join(rows) + "\n"


def _row(bug: Bug) -> str:
    tier = "yes" if bug.in_gate else "`make test-all`"
    return f"| `{bug.name}` | {bug.does} | {_test(bug)} | {tier} | {bug.breaks and f'`{bug.breaks}`'} |"


def _test(bug: Bug) -> str:
    path, _, name = bug.fails.partition("::")
    on = " on PostgreSQL" if bug.database == "postgresql" else ""
    return f"`{name}` in `{path}`{on}"
