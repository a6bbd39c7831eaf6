"""Bugs of receives, results and acknowledgements."""

from tools.proof.mutations.bug import Bug, Change

LEASING, RESULTS = "mailbox/life/leasing.py", "mailbox/life/results.py"
STATEMENTS, POSTGRESQL = "mailbox/life/fast_path/statements.py", "mailbox/life/fast_path/postgresql.py"
LIFE = "tests/mailbox/life"

BUGS = (
    Bug(
        name="no-fence-at-a-result",
        does="It takes a result under a lease that has ended, while another worker is at work.",
        changes=(
            Change(
                LEASING,
                "    if lease is None or (lease_id is not None and lease_id != actual):\n",
                "    if lease is None:\n",
            ),
            Change(
                STATEMENTS,
                "  AND (%(lease_id)s{uuid} IS NULL OR lease.lease_id = %(lease_id)s{uuid})\n",
                "  AND (%(lease_id)s{uuid} IS NULL OR true)\n",
            ),
        ),
        fails=f"{LIFE}/test_results_post.py::test_a_fenced_off_holder_cannot_resolve",
    ),
    Bug(
        name="receive-without-a-lock",
        does="Two receives at once read the same oldest task.",
        changes=(
            Change(
                LEASING,
                'waiting.select_for_update(skip_locked=True, no_key=True, of=("self",))',
                "waiting",
            ),
            Change(POSTGRESQL, "({statements.QUEUED} FOR NO KEY UPDATE SKIP LOCKED\n", "({statements.QUEUED}\n"),
        ),
        fails="tests/mailbox/test_locks.py::test_a_lease_skips_a_locked_task",
        database="postgresql",
    ),
    Bug(
        name="drain-without-a-lock",
        does="Two drains at once read the same oldest result.",
        changes=(
            Change(
                RESULTS,
                'pending.select_for_update(skip_locked=True, no_key=True, of=("task",))',
                "pending",
            ),
            Change(POSTGRESQL, " FOR NO KEY UPDATE OF task, result SKIP LOCKED\n", "\n"),
        ),
        fails="tests/mailbox/test_locks.py::test_a_drain_skips_a_locked_result",
        database="postgresql",
    ),
    Bug(
        name="result-to-the-wrong-sender",
        does="A drain gives out the results of other senders.",
        changes=(
            Change(
                "mailbox/models/result.py",
                "        return self if sender is None else self.filter(sender=sender)\n",
                "        return self\n",
            ),
            Change(
                STATEMENTS,
                "WHERE result.sender_id = %(sender)s AND result.delivery = {pending}",
                "WHERE result.delivery = {pending}",
            ),
        ),
        fails=f"{LIFE}/test_results_drain.py::test_only_the_sender_drains_a_result",
        breaks="result_to_another",
    ),
    Bug(
        name="task-to-the-wrong-recipient",
        does="A receive leases the tasks of other recipients.",
        changes=(
            Change(
                "mailbox/models/task.py",
                "        return self if recipient is None else self.filter(recipient=recipient)  # None",
                "        return self  # None",
            ),
            Change(
                STATEMENTS,
                "WHERE task.recipient_id = %(holder)s AND task.state = {queued}",
                "WHERE task.state = {queued}",
            ),
        ),
        fails=f"{LIFE}/test_leasing.py::test_only_the_recipient_leases_a_task",
        breaks="leased_to_another",
    ),
    Bug(
        name="drain-that-deletes",
        does="A drain deletes the result, so a lost answer loses it.",
        changes=(
            Change(
                "mailbox/life/results.py",
                "                delivered.append(result)\n",
                "                delivered.append(result)\n"
                "                Result.objects.filter(pk=result.pk).delete()\n",
            ),
            Change(
                STATEMENTS,
                "UPDATE mailbox_result SET delivery = {delivered}, delivered_at = %(at)s{moment},\n"
                "                          receive_attempt_id = %(attempt_id)s{uuid}, receive_index = 0\n"
                "WHERE id = (SELECT id FROM head) AND {key_is_live}\n",
                "DELETE FROM mailbox_result WHERE id = (SELECT id FROM head) AND {key_is_live}\n",
            ),
        ),
        fails=f"{LIFE}/test_results_drain.py::test_a_drained_result_is_delivered_and_stays_readable",
        breaks="result_missing",
    ),
    Bug(
        name="acknowledged-result-given-again",
        does="A drain gives out acknowledged results once more.",
        changes=(
            Change(
                "mailbox/models/result.py",
                "        return self.filter(delivery=Result.Delivery.PENDING)\n",
                "        return self.exclude(delivery=Result.Delivery.DELIVERED)\n",
            ),
            Change(
                STATEMENTS,
                "WHERE result.sender_id = %(sender)s AND result.delivery = {pending}",
                "WHERE result.sender_id = %(sender)s AND result.delivery <> {delivered}",
            ),
        ),
        fails=f"{LIFE}/test_results_drain.py::test_an_acked_result_is_never_given_out_again",
    ),
    Bug(
        name="acknowledgement-without-a-journal-row",
        does="It acknowledges a result and numbers the change, but journals nothing.",
        changes=(Change(RESULTS, "            journal.life(task, task_entries.ResultAckedEntry())\n", ""),),
        fails=f"{LIFE}/test_results_drain.py::test_a_drain_can_acknowledge_the_result_before",
        breaks="table_differs_from_journal",
    ),
    Bug(
        name="result-after-the-work-timeout",
        does="It takes a result after the work timeout of its task.",
        changes=(
            Change(RESULTS, "    if lease is not None and lease.has_timed_out(now):\n", "    if False:\n"),
            Change(RESULTS, "    due(caller, envelope.task_id)\n", ""),
            Change(
                STATEMENTS,
                "  AND (lease.times_out_at IS NULL OR lease.times_out_at > %(at)s{moment})",
                "  AND (lease.times_out_at IS NULL OR %(at)s{moment} IS NOT NULL)",
            ),
        ),
        fails=f"{LIFE}/test_expiry.py::test_a_result_after_the_work_timeout_is_refused_and_expires_the_task",
    ),
)
