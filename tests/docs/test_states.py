"""The page of states leaves out no end of a lease, no outcome, no delivery and no kind of journal row of a task."""

import re

import pytest

from mailbox.models import Lease, Result, Task
from mailbox.words.kinds import Kind
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

PAGE = (ROOT / "docs" / "reference" / "states.md").read_text()
CHANGES = re.findall(r"^\| (.*) \|$", PAGE.partition("<!-- changes -->")[2], re.MULTILINE)[2:]
STARTS = ("a2a_task", "a2a_result", "a2a_message")
OF_ONE_TASK = {kind for kind in Kind if kind.startswith(STARTS)} - {Kind.RESULT_REJECTED}


def named(column):
    """Return all code words in one column of the table of changes."""
    return {word for row in CHANGES for word in re.findall(r"`(\w+)`", row.split(" | ")[column])}


def test_every_end_of_a_lease_is_reached():
    assert named(3) == set(Lease.End.values)


def test_every_outcome_that_a_verb_gives_is_reached():
    assert named(4) == set(Task.Outcome.values)


def test_every_kind_of_row_in_the_life_of_a_task_is_reached():
    assert named(5) == OF_ONE_TASK | {Kind.REPAIR_APPLIED}


def test_every_state_of_a_task_and_of_its_result_is_reached():
    states = {word for row in CHANGES for cell in row.split(" | ")[:3:2] for word in cell.replace(",", "").split()}

    assert {*Task.State.values, *Result.Delivery.values} <= states
