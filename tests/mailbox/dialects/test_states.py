"""Each dialect has a word for every state and outcome of a task, for every role of a message and every journal kind."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
import time_machine
from django.utils import timezone

from dashboard.templatetags.ops import STATES as PILLS
from dashboard.wording.journal import in_words
from mailbox.access.callers import Caller
from mailbox.dialects.corvid import wire as corvid
from mailbox.dialects.covenant import journal_wire
from mailbox.dialects.covenant import wire as covenant
from mailbox.dialects.marianne import wire as marianne
from mailbox.dialects.marianne.values import A2ATaskStatus
from mailbox.dialects.yeoman import wire
from mailbox.inspection import official_tasks, task_events
from mailbox.inspection.answers import Answer
from mailbox.inspection.official_tasks import TaskFilter
from mailbox.inspection.tasks import QueueEntry
from mailbox.life import expiry, leasing, results, sending, updates
from mailbox.models import Agent, AuditEvent, Lease, Message, Result, Task
from mailbox.words import times
from mailbox.words.a2a import v0_3, v1_0
from mailbox.words.a2a.states import TaskState
from mailbox.words.conversation import Update, UpdateStatus
from mailbox.words.kinds import Kind
from tests.support import factories

NOW = datetime(2035, 1, 1, tzinfo=UTC)
ALICE = Agent(pk=1, display="alice@local", pubkey="a" * 44)
BOB = Agent(pk=2, display="bob@local", pubkey="b" * 44)

# The words of corvid, YEOMAN and Marianne for each state, and for each outcome of a resolved task.
STATES = {
    "queued": ("submitted", "pending", "pending"),
    "in_flight": ("working", "running", "accepted"),
    "interrupted": ("working", "running", "accepted"),
}
OUTCOMES = {
    "ok": ("completed", "completed", "completed"),
    "partial": ("completed", "completed", "completed"),
    "error": ("failed", "failed", "failed"),
    "cancelled": ("failed", "cancelled", "failed"),
    "rejected": ("failed", "failed", "failed"),
    "expired": ("failed", "failed", "failed"),
}
# The words of the official protocol in 1.0 and in 0.3, whose state also tells what a task waits for.
OFFICIAL = {
    ("queued", None): ("TASK_STATE_SUBMITTED", "submitted"),
    ("in_flight", None): ("TASK_STATE_WORKING", "working"),
    ("interrupted", "input"): ("TASK_STATE_INPUT_REQUIRED", "input-required"),
    ("interrupted", "authorization"): ("TASK_STATE_AUTH_REQUIRED", "auth-required"),
    ("resolved", "ok"): ("TASK_STATE_COMPLETED", "completed"),
    ("resolved", "partial"): ("TASK_STATE_COMPLETED", "completed"),
    ("resolved", "error"): ("TASK_STATE_FAILED", "failed"),
    ("resolved", "cancelled"): ("TASK_STATE_CANCELED", "canceled"),
    ("resolved", "rejected"): ("TASK_STATE_REJECTED", "rejected"),
    ("resolved", "expired"): ("TASK_STATE_FAILED", "failed"),
}


def task(state="resolved", outcome=None, awaits=None):
    return Task(
        uuid=UUID(int=7),
        sender=ALICE,
        recipient=BOB,
        intent_text="do it",
        state=state,
        outcome=outcome,
        awaits=awaits,
        attempt=0 if state == "queued" else 1,
        sent_at=NOW,
        queued_at=NOW,
        status_at=NOW,
        resolved_at=NOW if outcome else None,
    )


def result_of(row):
    if row.outcome is None:
        return None
    status = Result.Status.of(Task.Outcome(row.outcome))
    return Result(task=row, status=status, content="[]", error_message="why", posted_at=NOW)


def words_of(row):
    result = result_of(row)
    answer = Answer(content=result.blocks) if result else None
    return (
        corvid.task(row, lease=None, messages=(), is_all=True, result=result)["state"],
        wire.task_status(row, result, answer, None)["status"],
        marianne.task(row, result, answer).status.value,
    )


def test_the_tables_have_every_state_and_every_outcome():
    assert {*STATES, "resolved"} == set(Task.State.values)
    assert set(OUTCOMES) == set(Task.Outcome.values)


@pytest.mark.parametrize("awaits", Task.Awaits.values)
@pytest.mark.parametrize("state", STATES)
def test_every_state_has_a_word_in_each_dialect(state, awaits):
    row = task(state, awaits=awaits if state == "interrupted" else None)

    assert words_of(row) == STATES[state]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_has_a_word_in_each_dialect(outcome):
    assert words_of(task(outcome=outcome)) == OUTCOMES[outcome]


def test_the_official_table_has_every_state_question_and_outcome():
    questions = {("interrupted", str(awaits)) for awaits in Task.Awaits}
    outcomes = {("resolved", str(outcome)) for outcome in Task.Outcome}

    assert set(OFFICIAL) == {("queued", None), ("in_flight", None), *questions, *outcomes}
    assert {state for state, _ in OFFICIAL} == set(Task.State.values)


@pytest.mark.django_db
@pytest.mark.parametrize(("state", "why"), OFFICIAL)
def test_every_state_question_and_outcome_has_a_word_in_the_official_protocol(alice, bob, state, why):
    row = in_the_state(alice, bob, state, why)
    assert (row.state, row.awaits or row.outcome) == (state, why)

    shown = v1_0.task(task_events.view_of(row))

    assert (shown["status"]["state"], v0_3.task_out(shown)["status"]["state"]) == OFFICIAL[state, why]
    wanted = TaskFilter(state=TaskState(shown["status"]["state"]))
    assert official_tasks.listing(alice.agent, bob.agent, wanted, limit=9).tasks == [row]


def in_the_state(alice, bob, state, why):
    """Bring a task of the official protocol into the state by the verbs; return it as it is then."""
    soon = times.epoch_ms(timezone.now() + timedelta(minutes=1))
    task_id = factories.sent_task(alice, bob, dialect="a2a", reads_result=True, deadline_ms=soon).uuid
    if state != "queued" and why not in ("cancelled", "expired"):
        leasing.lease_tasks(bob)
    if state == "interrupted":
        asks = UpdateStatus.INPUT_REQUIRED if why == "input" else UpdateStatus.AUTH_REQUIRED
        updates.post_updates(bob, task_id, [Update(status=asks, message=factories.text("which?"))])
    elif why == "cancelled":
        sending.cancel(alice, task_id)
    elif why == "expired":
        with time_machine.travel(timezone.now() + timedelta(minutes=2)):
            expiry.current(alice, task_id)
    elif state == "resolved":
        results.post_result(bob, factories.result_envelope(Task.objects.get(), status=why, error_message="why"))
    return official_tasks.find(alice.agent, bob.agent, str(task_id))


@pytest.mark.parametrize("status", A2ATaskStatus)
def test_a_status_of_marianne_narrows_to_all_states_and_outcomes_that_read_so(status):
    states, outcomes = marianne.meant_by(status)

    assert states == ([state for state, words in STATES.items() if words[2] == status] or ["resolved"])
    assert outcomes == [outcome for outcome, words in OUTCOMES.items() if words[2] == status]


@pytest.mark.parametrize("state", Task.State.values)
def test_an_entry_of_the_mailbox_names_the_state_and_what_it_awaits(state):
    row = task(state, outcome="ok" if state == "resolved" else None, awaits="input" if state == "interrupted" else None)

    entry = covenant.task_entry(QueueEntry(task=row), None)

    assert entry["state"] == state
    assert entry.get("awaits", "nothing") == ("input" if state == "interrupted" else "nothing")


def test_a_question_moves_the_time_that_yeomans_pollers_read():
    row = task("interrupted", awaits="input")
    row.status_at = NOW + timedelta(minutes=3)

    assert wire.task_status(row, None, None, None)["updated_at"].startswith("2035-01-01T00:03:00")


def said(seq, role, *blocks):
    text = "".join(['[{"type":"text","text":"', '"},{"type":"text","text":"'.join(blocks), '"}]']) if blocks else "[]"
    return Message(task=task("in_flight"), seq=seq, role=role, content=text, said_at=NOW)


def test_corvid_shows_each_side_of_a_conversation_as_itself():
    talk = [said(2, "agent", "which city?"), said(3, "user", "Lisbon"), said(4, "agent"), said(5, "user", "thanks")]

    shown = corvid.task(task("interrupted", awaits="input"), lease=None, messages=talk, is_all=True, result=None)

    assert {message.role for message in talk} == set(Message.Role.values)
    assert [(one["role"], one["parts"][0]["text"]) for one in shown["messages"]] == [
        ("user", "do it"),
        ("agent", "which city?"),
        ("user", "Lisbon"),
        ("user", "thanks"),
    ]


def test_corvid_never_shows_the_senders_words_or_progress_as_the_answer():
    progress = said(4, "agent")
    progress.content = '[{"type":"progress","value":1,"note":"done"}]'
    row = task(outcome="ok")
    empty = Result(task=row, status="ok", content="[]", posted_at=NOW)
    talk = [said(2, "agent", "booked"), said(3, "user", "thanks"), progress]

    shown = corvid.task(row, lease=None, messages=talk, is_all=True, result=empty)

    of_agent = [one["parts"][0]["text"] for one in shown["messages"] if one["role"] == "agent"]
    assert of_agent == ["booked"]


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_of_journal_row_is_shown_by_the_mailbox_and_has_words(kind):
    row = AuditEvent(kind=kind, actor="alice@local", data="{}", at=NOW, source="api", task_id=UUID(int=7), seq=2)

    event = journal_wire.event(row, Caller(name="bob@local", source=AuditEvent.Source.API, agent=BOB))

    assert event["kind"] == kind
    assert in_words(row).what not in ("", kind)


@pytest.mark.parametrize("end", Lease.End)
def test_every_end_of_a_lease_has_a_pill(end):
    assert end in PILLS
