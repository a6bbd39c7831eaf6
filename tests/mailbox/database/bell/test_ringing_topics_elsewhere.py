"""A process sends only the rings that another process has announced, unless it cannot know the announcements."""

from __future__ import annotations

import pytest

from mailbox.database.bell import ringing, waiters

pytestmark = pytest.mark.one_database

AGENT, OTHER, TASK = ringing.agent(12), ringing.agent(13), "task " + "0" * 32
COUNTS = {AGENT: 2, OTHER: 1, TASK: 1, ringing.CALLBACKS: 1}


@pytest.fixture(autouse=True)
def _own_state(monkeypatch):
    monkeypatch.setattr(ringing, "_elsewhere", ringing._Elsewhere())


@pytest.fixture
def complete():
    """Return the time at which all processes have announced their topics, and none has any."""
    ringing.begin_elsewhere(100.0)
    now = 100.0 + ringing.COMPLETE_AFTER
    assert ringing.refresh(now) is None
    return now


def test_every_ring_is_sent_until_each_process_has_announced_its_topics():
    assert ringing.wanted(COUNTS) == COUNTS
    ringing.begin_elsewhere(100.0)
    ringing.note("a", [OTHER], 100.5, is_whole=True)
    assert ringing.wanted(COUNTS) == COUNTS
    assert ringing.refresh(100.5) == ringing.COMPLETE_AFTER - 0.5

    ringing.refresh(100.0 + ringing.COMPLETE_AFTER)

    assert ringing.wanted(COUNTS) == {OTHER: 1}
    assert not ringing.is_unknown()


def test_no_ring_is_sent_while_no_other_process_waits(complete):
    assert ringing.wanted(COUNTS) == {}
    assert ringing.is_nobody()


@pytest.mark.parametrize(
    ("announced", "wanted"),
    [
        ([AGENT], {AGENT: 2}),
        ([ringing.agent(None)], {AGENT: 2, OTHER: 1}),
        (["task *"], {TASK: 1}),
        ([ringing.CALLBACKS], {ringing.CALLBACKS: 1}),
        ([ringing.sender(12)], {}),
    ],
)
def test_a_ring_is_sent_if_an_announcement_covers_it(complete, announced, wanted):
    ringing.note("a", announced, complete, is_whole=True)

    assert ringing.wanted(COUNTS) == wanted
    assert not ringing.is_nobody()


def test_an_announcement_replaces_or_extends_the_earlier_one_of_its_process(complete):
    ringing.note("a", [AGENT], complete, is_whole=True)
    ringing.note("a", [TASK], complete, is_whole=False)
    ringing.note("b", [OTHER], complete, is_whole=True)
    assert ringing.wanted(COUNTS) == {AGENT: 2, OTHER: 1, TASK: 1}

    ringing.note("a", [], complete, is_whole=True)

    assert ringing.wanted(COUNTS) == {OTHER: 1}


def test_the_announcement_of_a_crashed_process_runs_out(complete):
    ringing.note("a", [AGENT], complete, is_whole=True)
    assert ringing.refresh(complete + 1) == ringing.LASTS - 1
    assert not ringing.is_nobody()

    assert ringing.refresh(complete + ringing.LASTS) is None

    assert ringing.is_nobody()


def test_many_topics_are_announced_by_their_kind():
    few = [ringing.agent(number) for number in range(ringing.MOST_NAMED - 1)]

    assert ringing.announcement([*few, TASK]) == {*few, "task *", ringing.ROUND}
    assert ringing.announcement([*few, TASK, ringing.CALLBACKS]) == {
        "agent *",
        "task *",
        ringing.CALLBACKS,
        ringing.ROUND,
    }
    assert ringing.announcement([]) == frozenset()


def test_a_ring_that_nobody_waits_for_ends_at_once(complete, monkeypatch):
    sent: list[object] = []
    monkeypatch.setattr(ringing, "ring_elsewhere", sent.append)
    monkeypatch.setattr(waiters, "wake", sent.append)

    ringing.ring([AGENT])

    assert sent == []
