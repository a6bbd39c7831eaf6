"""The switch interval of the interpreter grows with the requests under way."""

import sys
import threading

import pytest

from a2aproject.web import handler

pytestmark = pytest.mark.one_database


@pytest.fixture(autouse=True)
def usual_interval():
    usual = sys.getswitchinterval()
    yield
    sys.setswitchinterval(usual)


@pytest.mark.parametrize(
    ("others", "interval"), [(0, 0.0005), (3, 0.0005), (7, 0.001), (19, 0.0025), (39, 0.005), (5000, 0.005)]
)
def test_the_interval_grows_with_the_requests_under_way(monkeypatch, others, interval):
    monkeypatch.setattr(handler, "_answering", {-number for number in range(1, others + 1)})

    handler.begin_request()
    assert sys.getswitchinterval() == pytest.approx(interval)

    handler.end_request()
    assert len(handler._answering) == others


@pytest.mark.processes
def test_each_thread_counts_once_until_its_request_ends(monkeypatch):
    monkeypatch.setattr(handler, "_answering", set())
    may_end = threading.Event()
    begun = threading.Barrier(4)

    def answer():
        handler.begin_request()
        begun.wait(60)
        may_end.wait(60)
        handler.end_request()

    threads = [threading.Thread(target=answer) for _ in range(3)]
    for thread in threads:
        thread.start()
    begun.wait(60)

    assert len(handler._answering) == 3
    may_end.set()
    for thread in threads:
        thread.join(60)
    assert handler._answering == set()
