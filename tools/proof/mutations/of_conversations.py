"""Bugs of questions, messages and artifacts."""

from tools.proof.mutations.bug import Bug, Change

UPDATES, TASK = "mailbox/life/updates.py", "mailbox/models/task.py"
LIFE = "tests/mailbox/life"

BUGS = (
    Bug(
        name="question-keeps-its-lease",
        does="A question leaves the lease of its holder live, on an interrupted task.",
        changes=(Change(UPDATES, "        lease.finish(Lease.End.ASKED, journal.now)\n", ""),),
        fails=f"{LIFE}/test_questions.py::test_a_question_ends_the_lease_and_interrupts_the_task",
    ),
    Bug(
        name="uncounted-turn",
        does="An answer of the sender adds no turn, so the holder does not see that there is more to read.",
        changes=(Change(TASK, '{"turn": self.turn + 1, "size"', '{"turn": self.turn, "size"'),),
        fails=f"{LIFE}/test_conversation.py::test_an_answer_queues_an_interrupted_task_again_at_the_back",
        breaks="turns_not_counted",
    ),
    Bug(
        name="artifact-begins-with-a-chunk",
        does="It stores each artifact as a chunk, so an artifact has no begin and is never replaced.",
        changes=(Change(UPDATES, "        append=update.append,\n", "        append=True,\n"),),
        fails=f"{LIFE}/test_artifacts.py::test_the_journal_names_an_artifact_and_holds_nothing_of_it",
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
        fails=f"{LIFE}/test_artifacts.py::test_a_chunk_needs_its_artifact",
    ),
)
