"""Python workers in processes of their own, which are killed or get signals."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from mailbox.models import Task
from tests.support import factories
from tests.support.hub import PATIENCE, ROOT, wait_until
from tests.support.workers import await_message, lease_of, result_of, text_of

FUNCTION = """
def handle(task):
    task.say(f"attempt {task.attempt}")
    while not pathlib.Path(sys.argv[1]).exists():
        time.sleep(0.02)
    return f"done in attempt {task.attempt}"
"""
COROUTINE = FUNCTION.replace("def handle", "async def handle").replace("time.sleep", "await asyncio.sleep")
FOR_THREADS = """
import asyncio, logging, pathlib, sys, time
from a2a_hub_client import AsyncHub, Hub

logging.basicConfig(level=logging.INFO)
hub = Hub()
{handle}
hub.worker(heartbeat=0.2, resume="all", resume_after=0.6, grace=60)(handle)
hub.run()
"""
FOR_ASYNCIO = FOR_THREADS.replace("hub = Hub()", "hub = AsyncHub()").replace("hub.run()", "asyncio.run(hub.run())")
WORKERS = {
    "function": FOR_THREADS.format(handle=FUNCTION),
    "coroutine": FOR_THREADS.format(handle=COROUTINE),
    "asyncio": FOR_ASYNCIO.format(handle=COROUTINE),
}
each_way = pytest.mark.parametrize("program", WORKERS.values(), ids=WORKERS)


@contextlib.contextmanager
def worker(desk, program, gate):
    """Run a worker whose handler waits for a file ``gate``; kill it when the block ends."""
    log = desk.var / "worker.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(gate)],
            cwd=ROOT,
            env=os.environ | {"A2A_URL": desk.url, "A2A_API_KEY": desk.key},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def log_of(desk):
    return (desk.var / "worker.log").read_text()


@each_way
def test_a_killed_worker_s_task_is_done_once_by_the_next_worker(desk, alice, bob, tmp_path, program):
    task, gate = factories.sent_task(alice, bob), tmp_path / "gate"
    with worker(desk, program, gate):
        await_message(task)
    lease = lease_of(task)
    assert lease is not None

    with worker(desk, program, gate):
        assert await_message(task, 2) == ["attempt 1", "attempt 2"]
        gate.touch()
        result = result_of(task)

    assert text_of(result) == "done in attempt 2"
    assert [one.end for one in task.leases.order_by("attempt")] == ["release", "result"]
    assert len(factories.journal("a2a_result_posted")) == 1


@each_way
def test_a_signal_lets_the_handler_finish_and_takes_no_more(desk, alice, bob, tmp_path, program):
    first, second = factories.sent_task(alice, bob), factories.sent_task(alice, bob)
    gate = tmp_path / "gate"
    with worker(desk, program, gate) as process:
        await_message(first)
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: "Stopping: " in log_of(desk))
        gate.touch()
        assert process.wait(PATIENCE) == 0

    second.refresh_from_db()
    assert text_of(result_of(first)) == "done in attempt 1"
    assert (second.state, second.attempt) == (Task.State.QUEUED, 0)


@each_way
def test_a_second_signal_releases_the_task_at_once(desk, alice, bob, tmp_path, program):
    task = factories.sent_task(alice, bob)
    with worker(desk, program, tmp_path / "gate") as process:
        await_message(task)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: "Stopping: " in log_of(desk))
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0

    task.refresh_from_db()
    assert (task.state, lease_of(task)) == (Task.State.QUEUED, None)
    assert "Traceback" not in log_of(desk)
