"""A process sends only the rings that another process has announced, unless it cannot know the announcements."""

import pytest

from mailbox.database.bell import ringing, topics, waiters

pytestmark = pytest.mark.one_database

AGENT, OTHER, TASK = topics.agent(12), topics.agent(13), "task " + "0" * 32
COUNTS = {AGENT: 2, OTHER: 1, TASK: 1, topics.CALLBACKS: 1}


@pytest.fixture(autouse=True)
def _own_state(monkeypatch):
    monkeypatch.setattr(topics, "_elsewhere", topics._Elsewhere())


@pytest.fixture
def complete():
    """Return the time at which all processes have announced their topics, and none has any."""
    topics.begin_elsewhere(100.0)
    now = 100.0 + topics.COMPLETE_AFTER
    assert topics.refresh(now) is None
    return now


def test_every_ring_is_sent_until_each_process_has_announced_its_topics():
    assert topics.wanted(COUNTS) == COUNTS
    topics.begin_elsewhere(100.0)
    topics.note("a", [OTHER], 100.5, is_whole=True)
    assert topics.wanted(COUNTS) == COUNTS
    assert topics.refresh(100.5) == topics.COMPLETE_AFTER - 0.5

    topics.refresh(100.0 + topics.COMPLETE_AFTER)

    assert topics.wanted(COUNTS) == {OTHER: 1}
    assert not topics.is_unknown()


def test_no_ring_is_sent_while_no_other_process_waits(complete):
    assert topics.wanted(COUNTS) == {}
    assert topics.is_nobody()


@pytest.mark.parametrize(
    ("announced", "wanted"),
    [
        ([AGENT], {AGENT: 2}),
        ([topics.agent(None)], {AGENT: 2, OTHER: 1}),
        (["task *"], {TASK: 1}),
        ([topics.CALLBACKS], {topics.CALLBACKS: 1}),
        ([topics.sender(12)], {}),
    ],
)
def test_a_ring_is_sent_if_an_announcement_covers_it(complete, announced, wanted):
    topics.note("a", announced, complete, is_whole=True)

    assert topics.wanted(COUNTS) == wanted
    assert not topics.is_nobody()


def test_an_announcement_replaces_or_extends_the_earlier_one_of_its_process(complete):
    topics.note("a", [AGENT], complete, is_whole=True)
    topics.note("a", [TASK], complete, is_whole=False)
    topics.note("b", [OTHER], complete, is_whole=True)
    assert topics.wanted(COUNTS) == {AGENT: 2, OTHER: 1, TASK: 1}

    topics.note("a", [], complete, is_whole=True)

    assert topics.wanted(COUNTS) == {OTHER: 1}


def test_the_announcement_of_a_crashed_process_runs_out(complete):
    topics.note("a", [AGENT], complete, is_whole=True)
    assert topics.refresh(complete + 1) == topics.LASTS - 1
    assert not topics.is_nobody()

    assert topics.refresh(complete + topics.LASTS) is None

    assert topics.is_nobody()


def test_many_topics_are_announced_by_their_kind():
    few = [topics.agent(number) for number in range(topics.MOST_NAMED - 1)]

    assert topics.announcement([*few, TASK]) == {*few, "task *", topics.ROUND}
    assert topics.announcement([*few, TASK, topics.CALLBACKS]) == {
        "agent *",
        "task *",
        topics.CALLBACKS,
        topics.ROUND,
    }
    assert topics.announcement([]) == frozenset()


def test_a_ring_that_nobody_waits_for_ends_at_once(complete, monkeypatch):
    sent: list[object] = []
    monkeypatch.setattr(ringing, "ring_elsewhere", sent.append)
    monkeypatch.setattr(waiters, "wake", sent.append)

    ringing.ring([AGENT])

    assert sent == []
