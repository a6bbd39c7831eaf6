"""Bugs of the looks, of the mailbox in the process, of the agents' cards, of the dashboard and of the client."""

from tools.proof.mutations.bug import Bug, Change

CLIENT, IN_PROCESS = "clients/python/src/a2a_hub_client", "mailbox/in_process"
LISTS, AGENT_CARDS = "mailbox/inspection/lists.py", "agentcards"
LOOKS, DASHBOARD, OF_CLIENT = "tests/mailbox/inspection", "tests/dashboard", "tests/clients/python"

BUGS = (
    Bug(
        name="pending-results-of-others",
        does="The list of pending results shows those of other senders.",
        changes=(
            Change(
                LISTS,
                "Result.objects.addressed_to(caller.party).pending().with_task_id()",
                "Result.objects.all().pending().with_task_id()",
            ),
        ),
        fails=f"{LOOKS}/test_lists.py::test_only_the_sender_lists_a_pending_result",
    ),
    Bug(
        name="deadline-filter-forgets-leases",
        does="The filter of urgent tasks shows every lease.",
        changes=(
            Change(
                LISTS,
                "    if wanted.deadline_within is not None:\n        live =",
                "    if wanted.deadline_within is not None and wanted.min_lease_age is not None:\n        live =",
            ),
        ),
        fails=f"{LOOKS}/test_lists.py::test_a_deadline_filter_keeps_urgent_leased_tasks",
    ),
    Bug(
        name="replaced-artifact-is-read",
        does="A reader of artifacts gets the rows of an artifact that was replaced.",
        changes=(
            Change(
                "mailbox/inspection/conversation.py",
                "    current = iter(sorted(row.seq for rows in fold(later).values() for row in rows))\n",
                "    current = iter(sorted(row.seq for row in later))\n",
            ),
        ),
        fails=f"{LOOKS}/test_conversation.py::test_the_rows_of_an_artifact_that_was_replaced_are_left_out",
    ),
    Bug(
        name="outcomes-by-sender",
        does="A batch in the process answers by its senders, and not in the order of its items.",
        changes=(
            Change(
                f"{IN_PROCESS}/__init__.py",
                "        for (place, _), outcome in zip(items, decided.of_each, strict=True):\n",
                "        for place, outcome in enumerate(decided.of_each):\n",
            ),
        ),
        fails="tests/mailbox/in_process/test_batches.py::test_each_task_is_sent_as_its_sender_and_has_its_own_outcome",
    ),
    Bug(
        name="agent-routes-tasks-to-itself",
        does="An agent decides by its own profile which tasks reach it.",
        changes=(
            Change(
                f"{AGENT_CARDS}/profiles.py",
                "        if caller.agent != agent or not OWN_FIELDS.issuperset(changed):\n",
                "        if caller.agent != agent:\n",
            ),
        ),
        fails="tests/agentcards/test_profiles.py::test_an_agent_may_not_decide_which_tasks_reach_it",
    ),
    Bug(
        name="secret-left-under-the-old-key",
        does="A rotation of SECRET_KEY leaves the tokens of webhooks under the former key.",
        changes=(Change(f"{AGENT_CARDS}/secrets.py", '    (PushConfig, "sealed_token"),\n', ""),),
        fails="tests/agentcards/test_secrets_resealing.py::test_every_encrypted_column_is_encrypted_again",
    ),
    Bug(
        name="idempotent-by-choice",
        does="The form of a repair takes a task as idempotent that does not declare it.",
        changes=(
            Change(
                "dashboard/leases.py",
                "        if posture is DuplicateRisk.IDEMPOTENT and not self.task.is_idempotent:\n",
                "        if posture is None:\n",
            ),
        ),
        fails=f"{DASHBOARD}/test_leases_repair.py::test_the_idempotent_choice_needs_a_task_that_declares_it",
    ),
    Bug(
        name="formula-in-a-cell",
        does="A spreadsheet runs text of an agent as a formula.",
        changes=(
            Change(
                "dashboard/base/export.py",
                '    return f"\'{text}" if isinstance(value, str) and text.startswith(FORMULA) else text\n',
                "    return text\n",
            ),
        ),
        fails=f"{DASHBOARD}/tasks/test_views_list.py::test_a_csv_download_escapes_formulas",
    ),
    Bug(
        name="form-acts-twice",
        does="A form of the dashboard that is sent twice acts twice.",
        changes=(
            Change("dashboard/base/act.py", "            if is_first:\n", "            if is_first is not None:\n"),
        ),
        fails=f"{DASHBOARD}/test_idempotency.py::test_a_form_sent_twice_drops_the_result_once",
    ),
    Bug(
        name="client-repeats-unsafe-requests",
        does="The client repeats a request that may have arrived, and that may do its work twice.",
        changes=(
            Change(
                f"{CLIENT}/retry.py",
                "not isinstance(error, NotNowError) or not (is_repeatable or not error.may_have_arrived):",
                "not isinstance(error, NotNowError):",
            ),
        ),
        fails=f"{OF_CLIENT}/test_retry.py::test_only_safe_requests_are_repeated",
    ),
    Bug(
        name="client-is-impatient",
        does="The client repeats a request sooner than the hub asks.",
        changes=(
            Change(f"{CLIENT}/retry.py", "min(retry_after or 0.0, longest))", "min(retry_after or 0.0, self._next))"),
        ),
        fails=f"{OF_CLIENT}/test_retry.py::test_a_pause_is_as_long_as_the_hub_asks",
    ),
    Bug(
        name="wait-rounded-to-none",
        does="The client rounds a short wait down to no wait.",
        changes=(
            Change(
                f"{CLIENT}/models/wire.py",
                "    return -int(-seconds(duration) * 1000 // 1)\n",
                "    return int(seconds(duration) * 1000)\n",
            ),
        ),
        fails=f"{OF_CLIENT}/test_models.py::test_no_wait_is_rounded_to_none",
    ),
    Bug(
        name="client-acknowledges-too-early",
        does="A consumer that crashes twice loses the result that it was about to handle.",
        changes=(
            Change(
                f"{CLIENT}/_async/hub.py",
                "                    yield earlier\n                    await self.ack([earlier.task_id])\n",
                "                    await self.ack([earlier.task_id])\n                    yield earlier\n",
            ),
        ),
        fails=f"{OF_CLIENT}/contract/test_results.py::test_a_consumer_that_crashes_again_loses_nothing",
    ),
)
