"""Bugs of batches."""

from tools.proof.mutations.bug import Bug, Change

STATEMENTS, WORK = "mailbox/life/fast_path/batches/statements.py", "mailbox/life/fast_path/batches/work.py"
LEASING, RESULTS = "mailbox/life/leasing.py", "mailbox/life/results.py"
BATCHES = "tests/mailbox/life/test_batches.py"

BUGS = (
    Bug(
        name="batch-forgets-its-acknowledgements",
        does="A drain answers that it has acknowledged results, and the same attempt gets them again.",
        changes=(
            Change(
                STATEMENTS,
                "WHERE task_id IN (SELECT id FROM named) AND delivery <> {acked} RETURNING task_id",
                "WHERE task_id IN (SELECT id FROM named) AND delivery = {pending} RETURNING task_id",
            ),
        ),
        fails=f"{BATCHES}::test_a_drain_acknowledges_the_last_batch_and_delivers_the_next",
        breaks="acknowledged_but_not_done",
    ),
    Bug(
        name="acknowledged-batch-given-again",
        does="A repeated drain gives out the results of its attempt, also those that were acknowledged since.",
        changes=(
            Change(
                RESULTS,
                "return [result for result in earlier if result.delivery == Result.Delivery.DELIVERED]",
                "return earlier",
            ),
        ),
        fails=f"{BATCHES}::test_a_repeated_drain_returns_the_same_results_until_they_are_acknowledged",
    ),
    Bug(
        name="batch-fills-up",
        does="A lease of several tasks that is repeated takes further tasks, up to the number that it requests.",
        changes=(
            Change(
                LEASING,
                "            return [lease for lease in earlier if lease.ended_at is None]\n",
                "            more = begin_in_turn(caller, journal, limit=limit - len(earlier))\n"
                "            return [lease for lease in earlier if lease.ended_at is None] + more\n",
            ),
        ),
        fails=f"{BATCHES}::test_a_repeat_of_the_whole_call_answers_the_same_and_takes_nothing_more",
        breaks="attempt_took_twice",
    ),
    Bug(
        name="batch-names-one-lease",
        does="A lease of several tasks is answered with the first of them.",
        changes=(Change(WORK, "for row in taken]\n", "for row in taken[:1]]\n"),),
        fails=f"{BATCHES}::test_one_call_answers_the_last_batch_and_leases_the_next",
        breaks="left_out_of_an_answer",
    ),
    Bug(
        name="batch-claims-every-result",
        does="It answers that each result of a batch was posted, also those that it refused.",
        changes=(
            Change(
                "mailbox/dialects/covenant/batch_views.py",
                '    refused = _refused("results", "task_id", items, outcomes)\n'
                '    return {"kind": "a2a_results_posted", "posted": _posted(outcomes), "refused": refused}\n',
                '    ids = [UUID(item["task_id"]) for item in items]\n'
                '    return {"kind": "a2a_results_posted", "posted": ids, "refused": []}\n',
            ),
        ),
        fails="tests/mailbox/dialects/covenant/test_batches.py::test_each_result_of_a_batch_has_its_own_outcome",
        breaks="acknowledged_result_lost",
    ),
)
