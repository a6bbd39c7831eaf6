"""Bugs of the verbs of a task's life: its deadline, its parties, its callbacks, its duplicates and its bounds."""

from tools.proof.mutations.bug import Bug, Change

LEASING, SENDING = "mailbox/life/leasing.py", "mailbox/life/sending.py"
BATCHES, REPLAY = "mailbox/life/batches.py", "mailbox/life/replay.py"
OUTBOX = "mailbox/life/outbox.py"
STATEMENTS = "mailbox/life/fast_path/statements.py"
ACCESS, HOT, LIFE = "tests/mailbox/access", "tests/mailbox/life/fast_path", "tests/mailbox/life"

BUGS = (
    Bug(
        name="cancelled-by-a-stranger",
        does="An agent cancels the tasks of another sender.",
        changes=(Change(SENDING, "own = Task.objects.filter(sender=caller.agent)", "own = Task.objects.all()"),),
        fails=f"{LIFE}/test_cancel.py::test_only_the_sender_can_cancel_a_task",
    ),
    Bug(
        name="heartbeat-of-another",
        does="The sender of a task keeps the lease of its holder alive.",
        changes=(Change(LEASING, "    if lease.holder != caller.agent:\n", "    if lease.holder is None:\n"),),
        fails=f"{LIFE}/test_leasing.py::test_the_sender_does_not_hold_the_lease",
    ),
    Bug(
        name="release-of-a-newer-lease",
        does="A worker that lost its lease releases the lease of the next worker.",
        changes=(
            Change(
                LEASING,
                "task, lease = own_lease(caller, task_id, lease_id, journal.now)\n        except",
                "task, lease = own_lease(caller, task_id, None, journal.now)\n        except",
            ),
        ),
        fails=f"{LIFE}/test_leasing.py::test_a_stale_lease_id_changes_nothing",
    ),
    Bug(
        name="leased-at-its-deadline",
        does="It leases a task in the millisecond of its deadline.",
        changes=(
            Change(STATEMENTS, "deadline_ms > %(now_ms)s", "deadline_ms >= %(now_ms)s"),
            Change("mailbox/models/task.py", "self.deadline_ms <= epoch_ms(now)", "self.deadline_ms < epoch_ms(now)"),
        ),
        fails=f"{LIFE}/test_leasing.py::test_a_task_is_not_leased_at_its_deadline",
    ),
    Bug(
        name="paused-agent-leases",
        does="A paused agent leases tasks.",
        changes=(
            Change(LEASING, "Task.objects.leasable().filter(recipient__paused_at=None)", "Task.objects.leasable()"),
            Change(STATEMENTS, "WHERE id = %(holder)s AND paused_at IS NULL)", "WHERE id = %(holder)s)"),
        ),
        fails="tests/mailbox/access/agents/test_pausing.py::test_a_paused_agent_leases_nothing_until_it_is_resumed",
    ),
    Bug(
        name="revoked-key-leases",
        does="A waiting receive leases a task although its key was revoked meanwhile.",
        changes=(Change(STATEMENTS, "deadline_ms > %(now_ms)s) AND {key_is_live}\n", "deadline_ms > %(now_ms)s)\n"),),
        fails=f"{ACCESS}/limits/test_waits.py::test_a_key_that_ended_since_it_was_presented_takes_no_task",
    ),
    Bug(
        name="result-of-a-changed-task",
        does="A result resolves a task that has changed since it was read.",
        changes=(
            Change(STATEMENTS, "WHERE id = %(task_id)s AND journal_seq = %(journal_seq)s", "WHERE id = %(task_id)s"),
        ),
        fails=f"{HOT}/test_plain.py::test_a_task_that_changed_since_it_was_read_keeps_its_state",
    ),
    Bug(
        name="one-task-beyond-the-quota",
        does="A sender queues one task more than its quota.",
        changes=(
            Change(
                STATEMENTS,
                "CASE WHEN mailbox_senderstock.queued < COALESCE(",
                "CASE WHEN mailbox_senderstock.queued <= COALESCE(",
            ),
        ),
        fails=f"{LIFE}/test_quotas.py::test_a_sender_queues_up_to_its_quota_over_all_recipients",
    ),
    Bug(
        name="revoked-grant-admits-a-batch",
        does="A grant that is revoked within a batch admits the rest of its results.",
        changes=(
            Change(
                BATCHES,
                "    return replace(caller, grants=None) if caller.credential or caller.nonce else caller\n",
                "    return caller\n",
            ),
        ),
        fails=f"{LIFE}/test_batches.py::test_a_grant_that_is_revoked_within_a_batch_admits_no_later_result",
    ),
    Bug(
        name="batch-beyond-its-bytes",
        does="An answer to a lease of several tasks has any size.",
        changes=(
            Change(LEASING, "            if leases and task.size > budget:\n                return leases\n", ""),
            Change(
                "mailbox/life/fast_path/batches/work.py",
                "        budget=BUDGET,\n",
                "        budget=BUDGET * 1000,\n",
            ),
        ),
        fails=f"{LIFE}/test_batch_bytes.py::test_a_lease_ends_before_the_task_that_exceeds_the_budget",
    ),
    Bug(
        name="end-without-a-callback",
        does="A task with a callback ends, and its sender is not called.",
        changes=(Change("mailbox/life/resolution.py", "    outbox.enqueue(task, result, journal.now)\n", ""),),
        fails=f"{LIFE}/test_callbacks.py::test_a_callback_is_stored_when_its_task_ends_and_not_before",
    ),
    Bug(
        name="webhook-stays-at-its-position",
        does="A webhook gets an event again that its receiver has.",
        changes=(
            Change(
                OUTBOX,
                "        config.told_seq, config.told_part = row.seq or 0, row.part or PushConfig.WHOLE_ROW\n",
                "",
            ),
        ),
        fails="tests/mailbox/background/test_courier_reads.py::test_a_courier_goes_on_where_another_process_stopped",
    ),
    Bug(
        name="failure-is-cached",
        does="It answers duplicates with the error of the first task.",
        changes=(
            Change(
                REPLAY,
                "    if result.posted_by is None or result.status not in settings.A2A_REPLAY_STATUSES:\n",
                "    if result.posted_by is None:\n",
            ),
        ),
        fails=f"{LIFE}/test_replay.py::test_only_ok_results_are_cached",
    ),
    Bug(
        name="waiter-sleeps-on",
        does="A duplicate whose leader failed waits for ever.",
        changes=(Change(REPLAY, "    elif waiters:\n        _wake(waiters, task, journal)\n", ""),),
        fails=f"{LIFE}/test_waiting_duplicates.py::test_the_oldest_waiter_becomes_leasable_when_the_first_ends_otherwise",
    ),
)
