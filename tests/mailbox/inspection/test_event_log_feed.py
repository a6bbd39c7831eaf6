"""The feed of a task: one reader for all streams of a process."""

from contextlib import nullcontext

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from mailbox.inspection import event_log, task_events
from mailbox.words.a2a.fold import EventPosition
from tests.support import factories, talking

pytestmark = pytest.mark.django_db


@pytest.fixture
def task(alice, bob):
    return factories.leased_task(alice, bob).task


def positions(source):
    return [str(event.position) for event in source.events]


def test_streams_of_a_task_share_a_feed_and_the_last_one_drops_it(task):
    with event_log.following(task) as first, event_log.following(task) as second:
        assert first is second
    with event_log.following(task) as later:
        assert later is not first


def test_the_feed_reads_only_what_came_since(bob, task):
    with event_log.following(task) as source:
        source.catch_up()
        assert positions(source) == ["1", "2"]
        talking.told(bob, task, "reading")
        talking.made(bob, task, "x")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            source.catch_up()
        assert positions(source) == ["1", "2", "3", "4"]
        assert len(queries) <= 3
        with CaptureQueriesContext(connection) as queries:
            source.catch_up()
        assert len(queries) == 1


def test_each_event_is_rendered_once_in_each_form(task):
    rendered = []

    def render(event):
        rendered.append(event)
        return b"json"

    with event_log.following(task) as source:
        source.catch_up()
        assert [source.rendered(1, form, render) for form in ("a", "a", "b")] == [b"json"] * 3
    assert len(rendered) == 2


def test_a_stream_goes_on_after_its_position(bob, task):
    talking.told(bob, task, "reading")
    with event_log.following(task) as source:
        source.catch_up()
        found = {seq: source.index_after(EventPosition(seq)) for seq in range(5)}

    assert found == {0: 0, 1: 1, 2: 2, 3: 3, 4: 3}


def test_a_read_that_fails_leaves_the_rows_to_the_stream_that_waited_for_it(task, monkeypatch):
    read, failures = task_events.rows_after, [OperationalError("the server went away")]

    def rows_after(*asked):
        if failures:
            raise failures.pop()
        return read(*asked)

    class Turn(nullcontext[None]):
        """Before the first reader gets its turn, its neighbour has the turn and fails."""

        def __enter__(self):
            if failures and source._begun == 0:
                monkeypatch.setattr(source, "_reading", nullcontext())
                with pytest.raises(OperationalError):
                    source.catch_up()

    monkeypatch.setattr(task_events, "rows_after", rows_after)
    with event_log.following(task) as source:
        monkeypatch.setattr(source, "_reading", Turn())
        source.catch_up()
        assert positions(source) == ["1", "2"]
