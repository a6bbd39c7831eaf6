"""The states of the official protocol: total tables, both ways."""

import pytest

from mailbox.database.bell.topics import RINGS, Ring
from mailbox.models import Task
from mailbox.words.a2a import states
from mailbox.words.a2a.states import Change, TaskState
from mailbox.words.kinds import Kind

CHANGES = {
    Kind.TASK_SENT: Change.SENT,
    Kind.TASK_LEASED: Change.LEASED,
    Kind.TASK_RELEASED: Change.QUEUED,
    Kind.TASK_CANCELLED: Change.ENDED,
    Kind.TASK_EXPIRED: Change.ENDED,
    Kind.TASK_UPDATED: Change.UPDATED,
    Kind.TASK_ASKED: Change.INTERRUPTED,
    Kind.MESSAGE_SENT: Change.HEARD,
    Kind.RESULT_POSTED: Change.ENDED,
    Kind.RESULT_REPLAYED: Change.ENDED,
    Kind.REPAIR_APPLIED: Change.REPAIRED,
}


@pytest.mark.parametrize("kind", Kind)
def test_each_kind_of_journal_row_has_a_meaning(kind):
    assert states.change_of(kind) == CHANGES.get(kind, Change.NOTHING)


def test_the_bell_rings_for_each_kind_that_makes_an_event():
    ringing = {kind for kind in Kind if Ring.TASK in RINGS[kind]}

    assert ringing - set(CHANGES) == {Kind.TASK_WOKEN}
    assert set(CHANGES) - ringing == {Kind.TASK_SENT}


@pytest.mark.parametrize("state", Task.State)
def test_each_state_of_a_task_has_a_state_of_the_protocol(state):
    awaits = list(Task.Awaits) if state == Task.State.INTERRUPTED else [None]
    outcomes = list(Task.Outcome) if state == Task.State.RESOLVED else [None]
    found = {states.of_task(state, why, outcome) for why in awaits for outcome in outcomes}

    assert (
        found
        == {
            Task.State.QUEUED: {TaskState.SUBMITTED},
            Task.State.IN_FLIGHT: {TaskState.WORKING},
            Task.State.INTERRUPTED: {TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED},
            Task.State.RESOLVED: {TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED},
        }[state]
    )


def test_the_conditions_of_a_state_hold_for_no_task_of_another_state():
    rows: list[tuple[str, str | None, str | None]] = [
        ("queued", None, None),
        ("in_flight", None, None),
        ("interrupted", "input", None),
    ]
    rows += [("interrupted", "authorization", None), *(("resolved", None, str(outcome)) for outcome in Task.Outcome)]

    for wanted in TaskState:
        columns = states.columns_of(wanted)
        fitting = [row for row in rows if fits(columns, *row)]
        assert fitting == [row for row in rows if states.of_task(*row) == wanted]


def fits(columns, state, awaits, outcome):
    values = {"state": state, "awaits": awaits, "outcome": outcome}
    return all(
        values["outcome"] in wanted if name == "outcome__in" else values[name] == wanted
        for name, wanted in columns.items()
    )
