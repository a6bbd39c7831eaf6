"""Bugs of questions, messages and artifacts."""

from __future__ import annotations

from tools.proof.mutations.bug import Bug, Change

UPDATES, TASK = "mailbox/verbs/life/updates.py", "mailbox/models/task.py"
LIFECYCLE = "tests/mailbox/verbs/test_lifecycle.py::test_the_rules_reach_every_passage"

BUGS = (
    Bug(
        name="question-keeps-its-lease",
        does="A question leaves the lease of its holder live, on an interrupted task.",
        changes=(Change(UPDATES, "        lease.finish(Lease.End.ASKED, journal.now)\n", ""),),
        fails=LIFECYCLE,
    ),
    Bug(
        name="uncounted-turn",
        does="An answer of the sender adds no turn, so the holder does not see that there is more to read.",
        changes=(Change(TASK, '{"turn": self.turn + 1, "size"', '{"turn": self.turn, "size"'),),
        fails=LIFECYCLE,
        breaks="turns_not_counted",
    ),
    Bug(
        name="artifact-begins-with-a-chunk",
        does="It stores each artifact as a chunk, so an artifact has no begin and is never replaced.",
        changes=(Change(UPDATES, "        append=update.append,\n", "        append=True,\n"),),
        fails=LIFECYCLE,
        breaks="chunk_without_its_artifact",
    ),
    Bug(
        name="chunk-of-no-artifact",
        does="It takes a chunk for an artifact that the task does not have.",
        changes=(
            Change(
                UPDATES,
                "    if missing := dict(_chunks_of_nothing(task, updates)):\n",
                "    if missing := dict[str, str]():\n",
            ),
        ),
        fails=LIFECYCLE,
    ),
)
