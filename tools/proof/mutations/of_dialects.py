"""Bugs of the dialects: what each of them translates in its own way."""

from tools.proof.mutations.bug import Bug, Change

COVENANT, MCP = "mailbox/dialects/covenant", "mailbox/dialects/mcp"
TESTS = "tests/mailbox/dialects"

BUGS = (
    Bug(
        name="work-timeout-from-the-heartbeat",
        does="Covenant: a lease shows a shorter work timeout after each heartbeat.",
        changes=(
            Change(
                f"{COVENANT}/conversation_wire.py",
                "row.times_out_at - row.leased_at\n",
                "row.times_out_at - row.last_seen_at\n",
            ),
        ),
        fails=f"{TESTS}/test_work_timeout.py::test_a_lease_is_shown_with_its_work_timeout_by_every_route",
    ),
    Bug(
        name="request-ids-of-others",
        does="Covenant: an agent reads the ids of the requests of other agents.",
        changes=(
            Change(
                f"{COVENANT}/journal_wire.py",
                "    is_own = caller.agent is None or caller.agent.pubkey == row.actor_pubkey\n",
                "    is_own = caller.agent is None or row.task_id is not None\n",
            ),
        ),
        fails=f"{TESTS}/covenant/test_task_routes.py"
        "::test_a_timeline_shows_agents_neither_people_nor_requests_of_others_nor_row_numbers",
    ),
    Bug(
        name="back-to-submitted",
        does="corvid-agent: a task that was requeued reads as submitted again.",
        changes=(
            Change(
                "mailbox/dialects/corvid/wire.py",
                "task.state == Task.State.QUEUED and task.attempt == 0 else",
                "task.state == Task.State.QUEUED else",
            ),
        ),
        fails=f"{TESTS}/corvid/test_lifecycle.py::test_invariant_1_a_requeued_task_never_goes_back_to_submitted",
    ),
    Bug(
        name="text-replaces-an-artifact",
        does="Marianne: the text of an answer replaces the artifact of the name text.",
        changes=(
            Change(
                "mailbox/dialects/marianne/wire.py",
                '        merged.setdefault("text", text)\n',
                '        merged["text"] = text\n',
            ),
        ),
        fails=f"{TESTS}/marianne/test_inbox.py::test_the_text_of_an_answer_replaces_no_artifact_of_its_name",
    ),
    Bug(
        name="message-ids-of-all-callers",
        does="YEOMAN: two callers with the same message id have one task.",
        changes=(
            Change(
                "mailbox/dialects/yeoman/tasks.py",
                'f"{caller.agent.pubkey}\\n{message_id}"',
                'f"\\n{message_id}"',
            ),
        ),
        fails=f"{TESTS}/yeoman/test_delegate.py::test_the_same_id_from_another_caller_is_another_task",
    ),
    Bug(
        name="partial-result-has-failed",
        does="YEOMAN: a poller reads a partial result as a failure.",
        changes=(
            Change(
                "mailbox/dialects/yeoman/wire.py",
                '    Task.Outcome.PARTIAL: "completed",\n',
                '    Task.Outcome.PARTIAL: "failed",\n',
            ),
        ),
        fails=f"{TESTS}/yeoman/test_tasks.py::test_every_outcome_has_a_final_status_for_pollers",
    ),
    Bug(
        name="message-of-another-context",
        does="A2A: a message goes to a task of another context than it names.",
        changes=(
            Change(
                "mailbox/dialects/a2a/sending.py",
                "    if context_id is not None and context_id != task.context_id:\n",
                "    if context_id is None and task.context_id is None:\n",
            ),
        ),
        fails=f"{TESTS}/a2a/test_operations.py::test_a_message_must_name_the_context_of_its_task_if_any",
    ),
    Bug(
        name="generation-is-not-compared",
        does="A2A: a message that depends on a generation is stored after it has changed.",
        changes=(
            Change(
                "mailbox/dialects/a2a/sending.py",
                "generation_now := task_events.view_of(task).generation) != wanted:",
                "generation_now := task_events.view_of(task).generation) < wanted:",
            ),
        ),
        fails=f"{TESTS}/a2a/test_generations.py::test_a_message_can_depend_on_the_generation",
    ),
    Bug(
        name="stream-without-a-final-event",
        does="A2A 0.3: a question ends a stream, and no event of it is final.",
        changes=(
            Change(
                "mailbox/words/a2a/v0_3.py",
                '    final = ends_stream or status["state"] in _FINAL\n',
                '    final = status["state"] in _FINAL\n',
            ),
        ),
        fails="tests/mailbox/words/a2a/test_v0_3.py"
        "::test_a_status_update_is_final_with_a_terminal_state_or_at_the_end_of_the_stream",
    ),
    Bug(
        name="released-task-keeps-working",
        does="A2A: a task that returned to the queue reads as working.",
        changes=(Change("mailbox/words/a2a/states.py", "    Kind.TASK_RELEASED: Change.QUEUED,\n", ""),),
        fails="tests/mailbox/words/a2a/test_fold.py"
        "::test_a_task_that_returns_to_the_queue_is_submitted_and_keeps_its_artifacts",
    ),
    Bug(
        name="batch-that-waits",
        does="MCP: a call of a batch waits, and holds up the calls behind it.",
        changes=(
            Change(
                f"{MCP}/messages.py",
                "    if seen or not wait_ms or not call.may_wait:\n",
                "    if seen or not wait_ms:\n",
            ),
        ),
        fails=f"{TESTS}/mcp/test_messages.py::test_a_call_of_a_batch_does_not_wait",
    ),
    Bug(
        name="cut-text-looks-whole",
        does="MCP: nothing shows a model that the text of a task was cut.",
        changes=(
            Change(
                f"{MCP}/wire.py",
                '        "is_cut": len(text) < len(row.intent_text) or None,\n',
                "",
            ),
        ),
        fails=f"{TESTS}/mcp/test_tools.py::test_a_text_or_content_that_is_too_long_is_cut",
    ),
    Bug(
        name="cache-outlives-a-public-route",
        does="Every dialect: a cache answers under a public route after the route was revoked.",
        changes=(
            Change(
                "mailbox/dialects/base/view.py",
                "        for name, value in HEADERS.items():\n            response[name] = value\n",
                "",
            ),
        ),
        fails=f"{TESTS}/conformance/test_routes.py::test_a_public_route_leads_to_the_open_methods_alone",
    ),
)
