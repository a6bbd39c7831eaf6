"""Handlers whose worker stops, or whose lease or time ends."""

import asyncio
import threading
from datetime import timedelta

import pytest

from a2a_hub_client import AsyncHub, LeaseEndedError
from mailbox.models import Task
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from tests.support import factories
from tests.support.cast import olga
from tests.support.hub import PATIENCE, wait_until
from tests.support.workers import await_message, lease_of, messages_of, result_of, text_of

__all__ = ["olga"]


def test_a_handler_learns_that_its_lease_ended_and_its_result_is_not_posted(hub, alice, bob, olga):
    task = factories.sent_task(alice, bob)
    begun, heard = threading.Event(), []

    @hub.worker(heartbeat=0.1)
    def handle(leased):
        begun.set()
        assert leased.cancelled.wait(PATIENCE)
        with pytest.raises(LeaseEndedError) as ended:
            leased.say("late")
        heard.append(str(ended.value))
        return "late"

    worker = threading.Thread(target=hub.run, kwargs={"max_tasks": 1})
    worker.start()
    wait_until(begun.is_set)
    repair.requeue(olga, task.uuid, reason="stale", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED)
    worker.join(PATIENCE)
    wait_until(lambda: heard)

    task.refresh_from_db()
    assert heard == [f"task {task.uuid} is no longer this handler's"]
    assert (task.state, messages_of(task)) == (Task.State.QUEUED, [])
    assert not factories.journal("a2a_result_rejected")


def test_a_coroutine_whose_time_is_over_is_cancelled_and_the_task_fails(hub, alice, bob):
    task = factories.sent_task(alice, bob, work_timeout=timedelta(seconds=2))
    ends = []

    @hub.worker()
    async def handle(task):
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    hub.run(max_tasks=1)

    assert (result_of(task).error_message, ends) == ("Task timed out", ["cancelled"])


@pytest.mark.parametrize(("grace", "times"), [(0.1, 1), (PATIENCE, 2)])
def test_a_cancelled_run_releases_its_task_before_it_ends(desk, alice, bob, grace, times):
    task = factories.sent_task(alice, bob)

    async def main():
        async with AsyncHub(desk.url, desk.key) as hub:
            begun = asyncio.Event()

            @hub.worker(grace=grace)
            async def handle(task):
                begun.set()
                await asyncio.Event().wait()

            running = asyncio.create_task(hub.run())
            await asyncio.wait_for(begun.wait(), PATIENCE)
            for _ in range(times):
                running.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await running

    asyncio.run(main())

    task.refresh_from_db()
    assert (task.state, lease_of(task)) == (Task.State.QUEUED, None)


def stopped_at(hub, task, *, handler, grace, calls=1):
    """Run the handler in a thread, stop the worker once it has spoken, and wait for the end."""
    hub.worker(grace=grace)(handler)
    worker = threading.Thread(target=hub.run)
    worker.start()
    await_message(task)
    for _ in range(calls):
        hub.stop()
    worker.join(PATIENCE)
    assert not worker.is_alive()


def test_a_stopping_worker_lets_its_handler_finish(hub, alice, bob):
    task = factories.sent_task(alice, bob)

    def handle(task):
        task.say("begun")
        wait_until(lambda: hub._running._worker._stopping.is_set())
        return "done"

    stopped_at(hub, task, handler=handle, grace=PATIENCE)

    assert text_of(result_of(task)) == "done"


def test_a_handler_that_obeys_after_the_grace_leaves_a_released_task(hub, alice, bob):
    task = factories.sent_task(alice, bob)

    def handle(task):
        task.say("begun")
        assert task.cancelled.wait(PATIENCE)
        raise InterruptedError("stopped")

    stopped_at(hub, task, handler=handle, grace=0.1)

    task.refresh_from_db()
    (released,) = factories.journal("a2a_task_released")
    assert released.fields["reason"] == "the worker was stopped before the task was done"
    assert task.state == Task.State.QUEUED


@pytest.mark.parametrize(("grace", "calls"), [(0.1, 1), (PATIENCE, 2)])
def test_a_handler_that_never_ends_is_given_up_and_its_late_result_is_dropped(hub, alice, bob, grace, calls, caplog):
    task = factories.sent_task(alice, bob)
    gate, ended = threading.Event(), threading.Event()

    def handle(task):
        task.say("begun")
        gate.wait(PATIENCE)
        ended.set()
        return "late"

    stopped_at(hub, task, handler=handle, grace=grace, calls=calls)
    gate.set()
    wait_until(lambda: "its result is dropped" in caplog.text)

    task.refresh_from_db()
    assert (task.state, lease_of(task)) == (Task.State.QUEUED, None)
    assert not factories.journal("a2a_result_posted")


@pytest.mark.parametrize("batch", [1, 3])
def test_a_handler_that_was_given_up_keeps_its_place(hub, alice, bob, olga, batch):
    first, second = factories.sent_task(alice, bob), factories.sent_task(alice, bob)
    gate, seen = threading.Event(), []

    @hub.worker(heartbeat=0.05, batch=batch)
    def handle(task):
        if task.id == first.uuid and task.attempt == 1:
            seen.append("begun")
            gate.wait(PATIENCE)
            seen.append("ended")
        else:
            seen.append("next")

    worker = threading.Thread(target=hub.run, kwargs={"max_tasks": 3})
    worker.start()
    wait_until(lambda: seen)
    repair.requeue(olga, first.uuid, reason="stale", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED)
    engine = hub._running._worker
    held = (str(first.uuid), 1)
    wait_until(lambda: held not in [(one.leased.id, one.leased.attempt) for one in tuple(engine._attempts)])
    assert engine._most() < batch
    gate.set()
    worker.join(PATIENCE)

    assert seen == ["begun", "ended", "next", "next"]
    assert result_of(second).status == "ok"
