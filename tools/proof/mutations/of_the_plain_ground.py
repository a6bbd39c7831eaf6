"""Bugs of the ground: the bell, the writes of SQLite, the timetable, the carriers, and calls to other servers."""

from tools.proof.mutations.bug import Bug, Change

BELL, DATABASE = "mailbox/database/bell", "mailbox/database"
COURIER, DESTINATIONS = "mailbox/background/courier.py", "mailbox/outbound/destinations.py"
EXCHANGE = "mailbox/outbound/exchange.py"
TESTS = "tests/mailbox"

BUGS = (
    Bug(
        name="released-task-rings-nobody",
        does="A receive that waits does not learn of a task that returned to the queue.",
        changes=(
            Change(
                f"{BELL}/topics.py",
                "    Kind.TASK_RELEASED: (Ring.RECIPIENT, Ring.TASK),\n",
                "    Kind.TASK_RELEASED: (Ring.TASK,),\n",
            ),
        ),
        fails=f"{TESTS}/database/bell/test_topics.py"
        "::test_a_task_that_returns_to_the_queue_rings_its_recipient_and_its_readers",
    ),
    Bug(
        name="ring-during-a-look-is-lost",
        does="A ring during the look of a waiter is lost, until the watch finds the change.",
        changes=(
            Change(
                f"{BELL}/waiters.py",
                "        if value and was_chained:\n",
                "        with _here.lock:\n            _here.forget_rings(self)\n        if value and was_chained:\n",
            ),
        ),
        fails=f"{TESTS}/database/bell/test_waiters.py::test_a_ring_during_a_look_asks_for_another_look",
    ),
    Bug(
        name="ring-before-the-commit",
        does="It wakes those who wait for a change before the change is committed.",
        changes=(
            Change(
                "mailbox/access/audit.py",
                "            journal.write()\n        journal.committed()\n    except",
                "            journal.write()\n            journal.committed()\n    except",
            ),
        ),
        fails=f"{TESTS}/access/test_audit.py::test_the_bell_rings_after_the_transaction_of_a_decision",
    ),
    Bug(
        name="shared-write-keeps-a-failed-one",
        does="Writes that share a commit keep half of a write that failed.",
        changes=(
            Change(
                f"{DATABASE}/write_turns.py",
                '            cursor.execute("ROLLBACK TO one")\n',
                "",
            ),
        ),
        fails=f"{TESTS}/database/test_write_turns_shared_writes.py::test_an_error_undoes_its_own_write_alone",
    ),
    Bug(
        name="open-lock-files",
        does="Any user of the machine may read the files that order the writers.",
        changes=(
            Change(f"{DATABASE}/write_turns.py", "os.O_RDWR | os.O_CREAT, 0o600)", "os.O_RDWR | os.O_CREAT, 0o644)"),
        ),
        fails=f"{TESTS}/database/test_write_turns.py::test_only_its_owner_can_read_the_lock_files",
    ),
    Bug(
        name="next-run-stays-far-ahead",
        does="A job that was planned far ahead keeps that time although its interval is shorter now.",
        changes=(
            Change(
                f"{DATABASE}/timetable.py",
                "        row.next_run = min(row.next_run, now + timedelta(minutes=every))\n",
                "",
            ),
        ),
        fails=f"{TESTS}/background/test_jobs.py"
        "::test_registering_pulls_back_a_next_run_that_lies_ahead_of_its_interval",
    ),
    Bug(
        name="signature-without-its-time",
        does="The signature of a callback does not cover its time, so a recorded callback can be repeated.",
        changes=(
            Change(
                COURIER,
                'signed = f"{delivery_id}.{stamp}.".encode() + body',
                'signed = f"{delivery_id}.".encode() + body',
            ),
        ),
        fails=f"{TESTS}/background/test_courier_callbacks.py::test_a_signature_covers_the_id_the_time_and_the_body",
    ),
    Bug(
        name="impatience-with-receivers",
        does="It pauses a receiver after its third timeout, although it has answered in between.",
        changes=(
            Change(
                COURIER,
                "            self._timeouts.pop(key, None)\n            self._paused",
                "            self._paused",
            ),
        ),
        fails=f"{TESTS}/background/test_fair_callbacks.py::test_a_receiver_with_timeouts_in_a_row_is_paused",
    ),
    Bug(
        name="joined-chunks-lose-their-beginning",
        does="A webhook that gets several chunks of an artifact at once gets the last of them alone.",
        changes=(
            Change(
                COURIER,
                "        blocks, extra = [*before.blocks, *chunk.blocks], ",
                "        blocks, extra = [*chunk.blocks], ",
            ),
        ),
        fails=f"{TESTS}/background/test_courier_reads.py::test_chunks_are_joined_from_what_was_kept",
    ),
    Bug(
        name="only-the-first-address-is-judged",
        does="It calls a private address that a name has beside a public one.",
        changes=(
            Change(
                DESTINATIONS,
                "    for address in resolved:\n        if not (is_public",
                "    for address in resolved[:1]:\n        if not (is_public",
            ),
        ),
        fails=f"{TESTS}/outbound/test_destinations.py::test_one_private_address_among_several_is_refused",
    ),
    Bug(
        name="size-before-decompression",
        does="It reads an answer of a kilobyte that decompresses to a gigabyte.",
        changes=(Change(EXCHANGE, "        remaining -= len(data)\n", "        remaining -= len(raw)\n"),),
        fails=f"{TESTS}/outbound/test_exchange.py::test_the_size_limit_counts_decompressed_bytes",
    ),
    Bug(
        name="certificates-of-the-environment",
        does="It trusts certificates that the environment of its process names.",
        changes=(
            Change(
                EXCHANGE,
                "        certificates = httpx.create_ssl_context(trust_env=False)\n",
                "        certificates = httpx.create_ssl_context(trust_env=True)\n",
            ),
        ),
        fails=f"{TESTS}/outbound/test_tls.py"
        "::test_a_certificate_of_no_public_authority_is_refused_whatever_the_environment_trusts",
    ),
)
