"""Bugs of leases, repairs, the cache, the journal and durability."""

from tools.proof.mutations.bug import Bug, Change

AUDIT, LEASING = "mailbox/access/audit.py", "mailbox/life/leasing.py"
COMPACTION, REPAIR = "mailbox/upkeep/compaction.py", "mailbox/repairs/repair.py"
DATABASE = "a2aproject/settings/database.py"
LIFE, REPAIRS = "tests/mailbox/life", "tests/mailbox/repairs"

BUGS = (
    Bug(
        name="answer-before-the-commit",
        does="It takes decisions within the transaction of its caller, so it answers before they are durable.",
        changes=(
            Change(
                AUDIT,
                "transaction.atomic(durable=True):\n            journal, session = Journal(caller)",
                "transaction.atomic():\n            journal, session = Journal(caller)",
            ),
        ),
        fails="tests/mailbox/access/test_audit.py::test_a_decision_inside_another_transaction_is_refused",
    ),
    Bug(
        name="sqlite-does-not-sync",
        does="It acknowledges writes that a power cut can take back.",
        changes=(Change(DATABASE, "PRAGMA synchronous=FULL;", "PRAGMA synchronous=OFF;"),),
        fails="tests/load/test_durability.py::test_a_connection_to_sqlite_syncs_its_log_at_each_commit",
    ),
    Bug(
        name="postgresql-commits-asynchronously",
        does="It acknowledges writes that a crash of PostgreSQL can take back.",
        changes=(Change(DATABASE, '"synchronous_commit": "on"', '"synchronous_commit": "off"'),),
        fails="tests/load/test_durability.py::test_a_connection_to_postgresql_waits_for_its_log_at_each_commit",
        database="postgresql",
    ),
    Bug(
        name="sqlite-reads-before-it-locks",
        does="A transaction reads, and then fails to write because another has written since.",
        changes=(Change(DATABASE, '"transaction_mode": "IMMEDIATE"', '"transaction_mode": "DEFERRED"'),),
        fails="tests/a2aproject/test_checks.py::test_the_hub_s_own_settings_pass_the_checks",
    ),
    Bug(
        name="lease-that-expires",
        does="It takes a lease of half an hour back and gives the task to the next receive.",
        changes=(
            Change(
                LEASING,
                "    leases = plain.lease_task(caller, attempt_id) if limit == 1 else None\n",
                "    with audit.decision(caller) as journal:\n"
                "        for lease in Lease.objects.stale(journal.now, timedelta(minutes=30)).with_task():\n"
                "            lease.task.return_to_queue(lease, Lease.End.REQUEUE, journal.now)\n"
                "    leases = plain.lease_task(caller, attempt_id) if limit == 1 else None\n",
            ),
        ),
        fails=f"{LIFE}/test_leasing.py::test_leases_have_no_expiry",
    ),
    Bug(
        name="requeue-forgets-the-attempts",
        does="A task that returns to the queue begins again with attempt 1.",
        changes=(
            Change(
                "mailbox/models/task.py",
                "        self.change(state=Task.State.QUEUED, queued_at=now, status_at=now)\n",
                "        self.change(state=Task.State.QUEUED, queued_at=now, status_at=now, attempt=0)\n",
            ),
        ),
        fails=f"{REPAIRS}/test_repair.py::test_a_requeued_task_keeps_its_id_and_attempt_and_goes_to_the_back",
    ),
    Bug(
        name="requeue-without-a-journal-row",
        does="It requeues a task and journals nothing.",
        changes=(
            Change(
                REPAIR,
                '    journal.life(task, applied(task, "requeue", reason, lease_id, duplicate_risk))\n',
                "",
            ),
        ),
        fails=f"{REPAIRS}/test_repair.py::test_a_requeue_is_journalled_with_its_reason_and_risk",
        breaks="journal_gap",
    ),
    Bug(
        name="stale-lease-guard-ignored",
        does="It repairs a newer lease than the request names.",
        changes=(
            Change(
                REPAIR,
                "    return require_lease(task, lease, lease_id)\n",
                "    return require_lease(task, lease, None)\n",
            ),
        ),
        fails=f"{REPAIRS}/test_repair.py::test_a_stale_lease_id_changes_nothing_and_names_both_leases",
    ),
    Bug(
        name="retry-gate-requeues-unsafe-work",
        does="The retry gate gives out work a second time that must not be done twice.",
        changes=(
            Change(
                "mailbox/repairs/retry.py",
                "    if not task.is_idempotent:\n        return SkipReason.UNSAFE_DUPLICATE_SAFETY\n",
                "",
            ),
        ),
        fails=f"{REPAIRS}/test_retry.py::test_unsafe_work_is_requeued_under_no_bound",
    ),
    Bug(
        name="duplicate-not-held",
        does="Two tasks with the same key are at work at once.",
        changes=(
            Change(
                "mailbox/life/sending.py",
                "        task.waits_on = None if entry else leader\n",
                "        task.cache_key = None if leader else task.cache_key\n",
            ),
        ),
        fails=f"{LIFE}/test_waiting_duplicates.py::test_a_duplicate_of_running_work_waits_on_it_and_is_never_leased",
        breaks="two_leaders",
    ),
    Bug(
        name="replay-across-senders",
        does="It answers a sender with the cached result of another sender.",
        changes=(
            Change(
                "mailbox/life/replay.py",
                "    parts = [task.sender.pubkey, task.recipient.pubkey, ",
                "    parts = [task.recipient.pubkey, ",
            ),
        ),
        fails=f"{LIFE}/test_replay.py::test_a_replay_never_crosses_senders",
    ),
    Bug(
        name="compaction-of-pending-results",
        does="Compaction deletes tasks whose result no sender has drained.",
        changes=(
            Change(
                COMPACTION,
                "        result__delivery=models.Result.Delivery.DELIVERED, "
                "result__delivered_at__lte=now - retention.delivered\n",
                "        result__delivery=models.Result.Delivery.PENDING\n",
            ),
            Change(
                COMPACTION,
                "    delivered = models.Result.objects.delivered_until(now - retention.delivered)\n",
                "    delivered = models.Result.objects.pending()\n",
            ),
        ),
        fails="tests/mailbox/upkeep/test_compaction.py::test_unfinished_and_undelivered_work_is_kept_at_any_retention",
    ),
    Bug(
        name="journal-that-can-be-edited",
        does="The database accepts changes of journal rows.",
        changes=(
            Change(
                "mailbox/migrations/0001_squashed_0044_sums_of_all_minutes.py",
                "    ), 0)\n    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END",
                "    ), 0)\n    BEGIN SELECT 1; END",
            ),
        ),
        fails="tests/mailbox/access/test_audit.py::test_the_journal_refuses_to_be_edited",
    ),
)
