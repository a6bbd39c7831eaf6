"""Bugs of repeated requests, and of the process tree."""

from tools.proof.mutations.bug import Bug, Change

STATEMENTS = "mailbox/life/fast_path/statements.py"
MIGRATION = "mailbox/migrations/0001_squashed_0044_sums_of_all_minutes.py"
LIFE = "tests/mailbox/life"

BUGS = (
    Bug(
        name="forgetful-receive",
        does="A receive that its client gave up takes the next task, once its first lease has ended.",
        changes=(
            Change(
                "mailbox/models/lease.py",
                "        leases = self.filter(receive_attempt_id=attempt_id)",
                "        leases = self.live().filter(receive_attempt_id=attempt_id)",
            ),
            Change(
                STATEMENTS,
                "    WHERE holder_id = %(holder)s AND receive_attempt_id = %(attempt_id)s{uuid})\n",
                "    WHERE holder_id = %(holder)s AND receive_attempt_id = %(attempt_id)s{uuid}\n"
                "      AND ended_at IS NULL)\n",
            ),
            Change(
                MIGRATION,
                '("receive_attempt_id__isnull", False)), fields=("holder"',
                '("receive_attempt_id__isnull", False), ("ended_at", None)), fields=("holder"',
            ),
        ),
        fails=f"{LIFE}/test_receive_attempts.py::test_an_attempt_whose_lease_ended_is_spent",
    ),
    Bug(
        name="forgetful-drain",
        does="A drain that its client gave up takes the next result, once its first result was acknowledged.",
        changes=(
            Change(
                "mailbox/models/result.py",
                "filter(receive_attempt_id=attempt_id).order_by(",
                'filter(receive_attempt_id=attempt_id, delivery="delivered").order_by(',
            ),
            Change(
                STATEMENTS,
                "    WHERE sender_id = %(sender)s AND receive_attempt_id = %(attempt_id)s{uuid})\n",
                "    WHERE sender_id = %(sender)s AND receive_attempt_id = %(attempt_id)s{uuid}\n"
                "      AND delivery = {delivered})\n",
            ),
            Change(
                MIGRATION,
                '("receive_attempt_id__isnull", False)), fields=("sender"',
                '("receive_attempt_id__isnull", False), ("delivery", "delivered")), fields=("sender"',
            ),
        ),
        fails=f"{LIFE}/test_receive_attempts.py::test_the_same_attempt_gets_the_same_result_until_it_is_acked",
    ),
    Bug(
        name="compaction-forgets-attempts",
        does="Compaction deletes the rows of a receive that may still come again.",
        changes=(Change("mailbox/upkeep/compaction.py", "    since = now - SPENT_IDS_KEPT\n", "    since = now\n"),),
        fails="tests/mailbox/upkeep/test_compaction_attempts.py::test_a_spent_attempt_id_outlives_compaction",
    ),
    Bug(
        name="acknowledgement-forgotten-by-compaction",
        does="An acknowledgement that is repeated after compaction is refused.",
        changes=(
            Change(
                "mailbox/life/results.py",
                "        known.update(AuditEvent.objects.received_among(gone, caller.agent))\n",
                "        known.update(gone[:0])\n",
            ),
        ),
        fails=f"{LIFE}/test_acks_after_compaction.py::test_the_result_of_a_compacted_task_is_acknowledged_again",
    ),
    Bug(
        name="no-lifeline",
        does="The programs of the hub go on after its supervisor was killed.",
        changes=(
            Change(
                "a2aproject/serving/stopping.py",
                "    _kill_group_after(read, stop=lambda: signal.pthread_kill(main, signal.SIGTERM))\n"
                "    os.register_at_fork(after_in_child=lambda: _kill_group_after(read))\n",
                "    _ = main\n",
            ),
        ),
        fails="tests/a2aproject/serving/test_stopping_lifeline.py::test_nothing_outlives_a_killed_supervisor",
        in_gate=False,
    ),
)
