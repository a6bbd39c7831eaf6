"""The hub holds a request for at most A2A_LONGEST_WAIT_MS, also if the request names more."""

from datetime import timedelta
from uuid import uuid4

import pytest

from mailbox.database import waiting
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def spans(monkeypatch):
    """Return the list of the spans that requests would wait for. The requests look once instead."""
    spans = []

    def once(look, timeout, topics, **_):
        spans.append(timeout)
        return look()

    monkeypatch.setattr(waiting, "until", once)
    return spans


def ask(bob, path, wait_ms):
    wait = {} if wait_ms is None else {"wait_ms": wait_ms}
    if "{}" in path:
        task = factories.sent_task(factories.agent("carol", "a2a.send.*"), bob)
        wait |= {"after": 1} if path.endswith("/messages") else {}
        return Api(bob).get(path.format(task.uuid), **wait)
    if path.endswith("/next"):
        return Api(bob).get(path, **wait)
    return Api(bob).post(path, {"max": 1, "attempt_id": str(uuid4()), **wait})


PATHS = [
    *("/a2a/tasks/next", "/a2a/results/next", "/a2a/tasks/lease", "/a2a/results/drain"),
    *("/a2a/tasks/{}/messages", "/a2a/tasks/{}/result"),
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("wait_ms", "seconds"), [(None, 0), (0, 0), (1000, 1), (50_000, 50), (50_001, 50), (600_000, 50)]
)
def test_a_request_waits_as_long_as_it_names_and_at_most_50_seconds(bob, spans, path, wait_ms, seconds):
    assert ask(bob, path, wait_ms).status_code == 200

    assert set(spans) == {timedelta(seconds=seconds)}


@pytest.mark.parametrize("path", PATHS)
def test_an_operator_allows_longer_waits_by_a_setting(bob, spans, settings, path):
    settings.A2A_LONGEST_WAIT_MS = 300_000

    ask(bob, path, 600_000)

    assert set(spans) == {timedelta(minutes=5)}
