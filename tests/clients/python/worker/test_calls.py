"""Calls of handlers without a hub: how they end, and what a stop does to them."""

import asyncio
import logging
import sys
import threading

import pytest

from a2a_hub_client.worker.functions import LONGEST_COMPLAINT, CoroutineCall, FunctionSettings, OwnLoop, ThreadCall
from a2a_hub_client.worker.job import Stop
from tests.clients.python.worker.test_closings import leased_task
from tests.support.hub import PATIENCE

pytestmark = pytest.mark.one_database


@pytest.fixture
def begun():
    """Return a function that begins a call of a handler, on a loop if it is a coroutine function."""
    own = OwnLoop()

    def begin(handler, *, grace=PATIENCE):
        settings = FunctionSettings(handler=handler, grace=grace)
        call = (
            CoroutineCall(leased_task(), settings, own.loop)
            if asyncio.iscoroutinefunction(handler)
            else ThreadCall(leased_task(), settings)
        )
        call.start([{"role": "user", "content": []}])
        return call

    yield begin
    own.end()


@pytest.mark.processes
def test_what_a_stopped_handler_returns_within_its_grace_counts(begun):
    running = threading.Semaphore(0)

    def obey(task):
        running.release()
        assert task.cancelled.wait()
        return "half done"

    async def obey_on_loop(task):
        running.release()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "half done"

    for handler in (obey, obey_on_loop):
        call = begun(handler)
        assert running.acquire()
        call.stop(Stop.WORKER_STOPPED)

        assert call.wait(None)
        assert (call.has_concluded, call.stopped) == (True, Stop.WORKER_STOPPED)
        assert call.closing.spoken == {"status": "ok", "content": [{"type": "text", "text": "half done"}]}


@pytest.mark.processes
@pytest.mark.parametrize("why", [Stop.LEASE_ENDED, Stop.TIMED_OUT, Stop.FAULTY])
def test_for_any_other_reason_a_handler_is_given_up_at_once(begun, why):
    call = begun(lambda task: task.cancelled.wait())

    call.stop(why)

    assert call.wait(0)
    assert not call.has_concluded
    call.await_end()


def test_a_coroutine_that_is_stopped_before_it_begins_never_goes_on(begun):
    async def run(task):
        await asyncio.Event().wait()

    call = begun(run)
    call.stop(Stop.LEASE_ENDED)

    call.await_end()
    assert not call.has_concluded


def test_a_handler_cannot_end_its_worker(begun):
    async def leave(task):
        sys.exit("enough")

    for handler, error in (
        (lambda task: sys.exit("enough"), "SystemExit: enough"),
        (leave, "RuntimeError: the handler"),
    ):
        call = begun(handler)

        call.await_end()
        assert call.closing.error_message.startswith(error)


def test_the_text_of_an_exception_is_cut_and_can_be_stored(begun, caplog):
    caplog.set_level(logging.CRITICAL, logger="a2a_hub_client")  # a report of a test cannot hold this text

    def fail(task):
        raise ValueError("\0\ud800" + "x" * 2 * LONGEST_COMPLAINT)

    def fail_without_words(task):
        raise KeyError

    long, short = begun(fail), begun(fail_without_words)
    long.await_end()
    short.await_end()

    assert len(long.closing.error_message) == LONGEST_COMPLAINT + 3
    assert short.closing.error_message == "KeyError"
