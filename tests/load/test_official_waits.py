"""Waiting calls of the official protocol at a served hub: silent tasks, and more waiters than seats."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.load.official import talk
from tests.support.a2a import message, short, state
from tests.support.hub import served, wait_until

SILENCE = 8.0  # seconds, longer than the five after which a usual client gives up
USUAL_TIMEOUT = 5.0
BODY = {"message": message()}


@pytest.fixture
def serve(tmp_path, migrated_database):
    """Return a function that serves a hub with settings, and yields a caller and the worker that it calls."""
    with ExitStack() as kept:
        url = kept.enter_context(migrated_database())

        def begin(**how):
            hub = kept.enter_context(served(tmp_path, migrates=True, database_url=url, **how))
            return kept.enter_context(talk(hub))

        yield begin


def test_clients_that_wait_five_seconds_survive_a_silent_task_of_eight(serve):
    caller, holder = serve()
    impatient = caller.with_timeout(USUAL_TIMEOUT)
    with ThreadPoolExecutor() as pool, impatient.stream("SendStreamingMessage", BODY) as stream:
        first = next(stream)
        followed = pool.submit(list, stream)
        waiting = pool.submit(impatient.post, "SendMessage", BODY)
        began = time.monotonic()
        leases = []
        for _ in range(2):
            holder.take()
            leases.append((holder.task, holder.lease))
        wait_until(lambda: time.monotonic() - began > SILENCE, every=0.5)
        for holder.task, holder.lease in leases:
            holder.complete("done")
        answer, events = waiting.result(), [short(result) for _, result in [first, *followed.result()]]

    assert answer.text.startswith(" ")
    assert state(answer.json()["result"]["task"]) == "COMPLETED"
    assert events == [["Task SUBMITTED"], ["WORKING"], ["result", "done"], ["COMPLETED"]]
    assert stream.comments >= SILENCE / USUAL_TIMEOUT


def test_more_waiters_than_seats_leave_threads_for_short_calls(serve):
    caller, holder = serve(WEB_THREADS="4")  # two seats
    with (
        caller.stream("SendStreamingMessage", BODY) as first,
        caller.stream("SendStreamingMessage", BODY) as second,
    ):
        begun = [next(stream) for stream in (first, second)]
        refused = [caller.post("SendStreamingMessage", BODY) for _ in range(6)]
        sent = [caller.send(now=False) for _ in range(6)]
        listed = caller.rpc("ListTasks", {})["totalSize"]
        for _ in range(8):
            holder.take()
            holder.complete()
        ends = [short(list(stream)[-1][1]) for stream in (first, second)]
        gone = caller.post("SubscribeToTask", {"id": begun[0][1]["task"]["id"]})

    assert [(one.status_code, one.headers["Retry-After"]) for one in refused] == [(503, "1")] * 6
    assert [one.json()["error"]["code"] for one in refused] == [-32000] * 6
    assert [state(task) for task in sent] == ["SUBMITTED"] * 6
    assert (listed, ends) == (8, [["COMPLETED"]] * 2)
    assert gone.json()["error"]["code"] == -32004
