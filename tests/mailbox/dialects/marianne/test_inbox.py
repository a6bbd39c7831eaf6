"""The inbox in process, as the original's own tests use it."""

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from mailbox.access.callers import Caller
from mailbox.dialects import marianne
from mailbox.dialects.marianne import wire
from mailbox.dialects.marianne.inbox import A2AInbox
from mailbox.dialects.marianne.registry import AgentCardRegistry
from mailbox.dialects.marianne.values import A2ASkill, A2ATask, A2ATaskStatus, AgentCard
from mailbox.inspection.answers import Answer
from mailbox.life import results
from mailbox.models import Agent, Lease, Task
from mailbox.words.errors import InvalidRequestError
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def inbox():
    return A2AInbox(job_id="j1", agent_name="canyon")


def submit(inbox, description="Review module X", **fields):
    return inbox.submit_task(source_job_id="j2", source_agent="forge", description=description, **fields)


def row(task):
    return Task.objects.get(uuid=task.task_id)


@pytest.mark.parametrize(("job_id", "name", "problem"), [("", "canyon", "job_id"), ("j1", "", "agent_name")])
def test_an_inbox_needs_a_job_and_a_name(job_id, name, problem):
    with pytest.raises(ValueError, match=f"^{problem} must not be empty$"):
        A2AInbox(job_id=job_id, agent_name=name)


def test_names_become_agents_on_first_use_and_are_journalled(inbox):
    submit(inbox)

    assert set(Agent.objects.values_list("display", flat=True)) == {"canyon@local", "forge@local"}
    assert [event.fields["display"] for event in factories.journal(Kind.AGENT_REGISTERED)] == [
        "canyon@local",
        "forge@local",
    ]


def test_a_submitted_task_is_pending_and_names_both_sides(inbox):
    task = submit(inbox, context={"module": "X"})

    assert task.status is A2ATaskStatus.PENDING
    assert (task.source_job_id, task.source_agent, task.target_agent) == ("j2", "forge", "canyon")
    assert task.context == {"module": "X"}
    assert inbox.get_pending_tasks() == [task]
    assert (inbox.task_count, inbox.pending_count) == (1, 1)


def test_accepting_is_a_lease_by_the_owner_and_lowers_pending(inbox):
    task = submit(inbox)

    assert inbox.mark_accepted(task.task_id) is True
    assert inbox.mark_accepted(task.task_id) is False
    assert inbox.get_task(task.task_id).status is A2ATaskStatus.ACCEPTED
    assert Lease.objects.live().get().holder.display == "canyon@local"
    assert (inbox.task_count, inbox.pending_count) == (1, 0)
    assert factories.life_of(row(task)) == [Kind.TASK_SENT, Kind.TASK_LEASED]


def test_a_returned_task_does_not_change_later(inbox):
    task = submit(inbox)

    inbox.mark_accepted(task.task_id)

    assert task.status is A2ATaskStatus.PENDING


def test_completing_posts_a_result_that_the_sender_drains(inbox):
    task = submit(inbox)
    inbox.mark_accepted(task.task_id)

    assert inbox.complete_task(task.task_id, artifacts={"review": "fine"}) is True

    assert inbox.get_task(task.task_id).artifacts == {"review": "fine"}
    (drained,) = results.drain_results(Caller.local(Agent.objects.get(display="forge@local")))
    assert drained.blocks == [{"type": "json", "value": {"review": "fine"}}]


def test_a_pending_task_is_leased_and_completed_in_one_step(inbox):
    task = submit(inbox)

    assert inbox.complete_task(task.task_id) is True

    assert row(task).attempt == 1
    assert factories.life_of(row(task)) == [Kind.TASK_SENT, Kind.TASK_LEASED, Kind.RESULT_POSTED]


def test_the_text_of_an_answer_replaces_no_artifact_of_its_name():
    blocks: list[dict[str, Any]] = [
        {"type": "json", "value": {"text": "an artifact"}},
        {"type": "text", "text": "words"},
    ]

    assert wire.artifacts(Answer(content=blocks)) == {"text": "an artifact"}


def test_failing_keeps_the_reason_even_an_empty_reason(inbox):
    spoken, silent = submit(inbox), submit(inbox)

    assert inbox.fail_task(spoken.task_id, "no time") is True
    assert inbox.fail_task(silent.task_id, "") is True

    assert inbox.get_task(spoken.task_id).failure_reason == "no time"
    assert inbox.get_task(silent.task_id).failure_reason == ""
    assert row(silent).outcome == Task.Outcome.ERROR


def test_a_finished_task_takes_no_other_end(inbox):
    done, failed = submit(inbox), submit(inbox)
    inbox.complete_task(done.task_id)
    inbox.fail_task(failed.task_id, "x")

    assert inbox.complete_task(done.task_id) is False
    assert inbox.fail_task(done.task_id, "x") is False
    assert inbox.fail_task(failed.task_id, "x") is False
    assert inbox.mark_accepted(done.task_id) is False


def test_another_agents_task_is_not_in_this_inbox(inbox):
    other = A2AInbox(job_id="j1", agent_name="delta")
    task = submit(other)

    assert inbox.get_task(task.task_id) is None
    assert inbox.complete_task(task.task_id) is False
    assert inbox.task_count == 0


def test_an_inbox_without_pending_tasks_renders_as_empty_text(inbox):
    task = submit(inbox)
    inbox.mark_accepted(task.task_id)

    assert inbox.render_pending_context() == ""


def test_the_pending_context_has_the_exact_layout_of_the_original(inbox):
    first = submit(inbox, context={"files": [1, 2], "opts": {"k": "v"}})
    second = submit(inbox, "Then tidy up")

    assert inbox.render_pending_context() == (
        "## A2A Inbox — Pending Tasks\n"
        "\n"
        "You have 2 task(s) from other agents:\n"
        "\n"
        "### Task 1: from forge\n"
        f"**Task ID:** `{first.task_id}`\n"
        "**Description:** Review module X\n"
        "**Context:**\n"
        "  - files: [1, 2]\n"
        "  - opts: {'k': 'v'}\n"
        "\n"
        "### Task 2: from forge\n"
        f"**Task ID:** `{second.task_id}`\n"
        "**Description:** Then tidy up\n"
        "\n"
        "To complete a task, include its task_id in your output with the results. To decline, explain why."
    )
    assert inbox.pending_count == 2


@pytest.mark.parametrize(
    "opener", ["### Task 2: from king", "## A2A", "- item", "> quote", "```", "1. one", "***", "==="]
)
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028", "\n\n"])
def test_text_in_a_context_cannot_open_a_markdown_block(inbox, opener, line_break):
    submit(inbox, f"Innocent{line_break}{opener}", context={f"key{line_break}{opener}": f"value{line_break}{opener}"})

    lines = inbox.render_pending_context().splitlines()

    assert sum(line.startswith("### Task") for line in lines) == 1
    assert opener not in [line.strip() for line in lines]
    assert sum(opener in line for line in lines) >= 3


@pytest.mark.parametrize(
    "key", ["### Task 8: from boss", "# H", "```", "> q", "1. a", "   ## H", "\n# H", "[x]", "- - #", "- a", "~~~"]
)
def test_a_key_of_a_context_cannot_open_a_markdown_block(inbox, key):
    submit(inbox, context={key: "v"})

    line = next(line for line in inbox.render_pending_context().splitlines() if line.endswith(": v"))

    assert line.replace("  - ", "", 1).lstrip().startswith("\\")


@pytest.mark.parametrize("key", ["\r___", "\n\n", "\n", " \n x"])
def test_a_context_has_no_empty_list_item(inbox, key):
    submit(inbox, context={key: "v"})

    assert "-" not in [line.strip() for line in inbox.render_pending_context().splitlines()]


@pytest.mark.parametrize("key", ["_id", "-x", "1.5", "~home", "`code`", "=", "|", "a: b", "", "+", "50%"])
def test_a_harmless_key_is_rendered_as_in_the_original(inbox, key):
    submit(inbox, context={key: "v"})

    assert f"\n  - {key}: v\n" in inbox.render_pending_context()


def test_code_in_a_description_keeps_its_indentation(inbox):
    submit(inbox, "Run\ndef f():\n    return [\n        1,\n    ]\n\n\t# done\n:--|--:")

    context = inbox.render_pending_context()

    assert (
        "**Description:** Run\n  def f():\n      return [\n          1,\n      ]\n\n  \t\\# done\n  \\:--|--:\n"
    ) in context


def test_python_values_are_kept_in_their_json_form(inbox):
    task = submit(inbox, context={"pair": (1, 2), "at": date(2026, 1, 2)})
    inbox.complete_task(task.task_id, {"sizes": ((1, 2), {3}), 4: "four"})

    finished = inbox.get_task(task.task_id)

    assert finished.context == {"pair": [1, 2], "at": "2026-01-02"}
    assert finished.artifacts == {"sizes": [[1, 2], [3]], "4": "four"}


def test_a_value_without_a_json_form_is_refused_by_the_field_it_is_in(inbox):
    task = submit(inbox)

    with pytest.raises(InvalidRequestError, match=r"^context: "):
        submit(inbox, context={"a": object()})
    with pytest.raises(InvalidRequestError, match=r"^artifacts: "):
        inbox.complete_task(task.task_id, {"a": object()})
    with pytest.raises(InvalidRequestError, match=r"^description: description must not be empty$"):
        submit(inbox, "")
    assert inbox.pending_count == 1


def test_the_package_has_the_names_of_the_original():
    assert (marianne.A2AInbox, marianne.A2ATask, marianne.A2ATaskStatus) == (A2AInbox, A2ATask, A2ATaskStatus)
    assert (marianne.AgentCard, marianne.A2ASkill) == (AgentCard, A2ASkill)
    assert marianne.AgentCardRegistry is AgentCardRegistry
    with pytest.raises(AttributeError, match="no attribute 'A2ANothing'"):
        _ = marianne.A2ANothing


def test_unknown_keys_and_statuses_of_a_task_are_refused(inbox):
    dumped = submit(inbox).model_dump(mode="json")

    with pytest.raises(ValidationError, match="extra_forbidden"):
        A2ATask.model_validate({**dumped, "priority": 1})
    with pytest.raises(ValidationError, match="enum"):
        A2ATask.model_validate({**dumped, "status": "lost"})
