"""Streams of the official protocol at a served hub: two processes, restarts, and kill -9 of each part."""

import signal
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from tests.load.cast import operator_of
from tests.load.official import kill, process_of, talk
from tests.support.a2a import message, short, state
from tests.support.hub import served, wait_until
from tests.support.own_client import client_of
from tests.support.workers import Desk
from tools.proof import servers

pytestmark = pytest.mark.processes

SUBSCRIBE = "SubscribeToTask"


@pytest.fixture
def parties(hub):
    """Return a caller and the worker that it calls."""
    with talk(hub) as both:
        yield both


def words_of(events):
    return [" ".join(short(result)) for _, result in events]


def test_a_broken_stream_goes_on_in_another_process_and_after_a_restart(database):
    def serve(port=0):
        return served(database.folder, migrates=True, database_url=database.url, workers=2, port=port)

    with serve() as hub, talk(hub) as (caller, holder):
        task = {"id": caller.send()["id"]}
        with caller.stream(SUBSCRIBE, task) as broken:
            first = process_of(hub, broken.port)
            holder.move_elsewhere(first)
            holder.take()
            holder.make("a")
            seen = broken.take(3)
        holder.make("b", append=True)
        with caller.stream_elsewhere(first, SUBSCRIBE, task, **{"Last-Event-ID": seen[-1][0]}) as later:
            seen += later.take(2)
            holder.make("c", append=True)
            seen += later.take(1)
        holder.make("d", append=True)
        assert hub.stop() == 0
    with serve(urlsplit(hub.url).port) as again, talk(again, caller.pair) as (caller, restarted):
        restarted.task, restarted.lease = holder.task, holder.lease
        with caller.stream(SUBSCRIBE, task, **{"Last-Event-ID": seen[-1][0]}) as last:
            seen += last.take(2)
            restarted.complete()
            seen += list(last)
        with caller.stream(SUBSCRIBE, task, **{"Last-Event-ID": "1"}) as whole:
            everything = list(whole)

    assert words_of(seen) == [
        "Task SUBMITTED",
        "WORKING",
        "report a",
        "Task WORKING",
        "report b",
        "report c",
        "Task WORKING",
        "report d",
        "COMPLETED",
    ]
    assert [one for one in seen[1:] if "task" not in one[1]] == everything[1:]


def test_nothing_is_lost_when_the_web_process_of_a_stream_is_killed(hub, parties):
    caller, holder = parties
    sent = caller.send()
    seen = []
    with caller.stream(SUBSCRIBE, {"id": sent["id"]}) as stream:
        holder.take()
        holder.make("a")
        seen += stream.take(3)
        kill(process_of(hub, stream.port))
        with pytest.raises(httpx.TransportError):
            seen += list(stream)
    holder.make("b", append=True)

    with (
        caller.stream(SUBSCRIBE, {"id": sent["id"]}) as fresh,
        caller.stream(SUBSCRIBE, {"id": sent["id"]}, **{"Last-Event-ID": seen[-1][0]}) as resumed,
    ):
        (_, now), (_, then) = next(fresh), next(resumed)
        holder.complete()
        after = [words_of(one) for one in (fresh, resumed)]

    assert words_of(seen) == ["Task SUBMITTED", "WORKING", "report a"]
    assert [part["text"] for part in now["task"]["artifacts"][0]["parts"]] == ["a", "b"]
    assert [part["text"] for part in then["task"]["artifacts"][0]["parts"]] == ["a"]
    assert after == [["COMPLETED"], ["report b", "COMPLETED"]]


def test_a_blocking_message_is_repeated_by_its_key_after_its_web_process_was_killed(hub, parties):
    caller, holder = parties
    body, key = {"message": message("once")}, {"Idempotency-Key": "k"}
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(caller.rpc, "SendMessage", body, **key)
        holder.take()
        for worker in hub.web_workers():
            worker.kill()
        with pytest.raises(httpx.TransportError):
            waiting.result()
        wait_until(hub.is_up)
        again = pool.submit(caller.rpc, "SendMessage", body, **key)
        holder.complete()
        answer = again.result()["task"]

    assert (answer["id"], state(answer)) == (holder.task, "COMPLETED")
    assert caller.rpc("ListTasks", {})["totalSize"] == 1


def test_the_task_of_a_killed_worker_is_requeued_and_completed_while_its_stream_is_open(hub, parties, database):
    caller, _ = parties
    pair = caller.pair
    desk = Desk(url=hub.url, key=pair.worker.key, var=database.folder)
    task = {"id": caller.send()["id"]}
    with caller.stream(SUBSCRIBE, task) as stream:
        seen = stream.take(1)
        with desk.process("sh", "-c", "echo begun; sleep 600", name=pair.worker.display) as worker:
            seen += stream.take(2)
            worker.process.send_signal(signal.SIGKILL)
            assert worker.code() == -signal.SIGKILL
        with client_of(hub.url, pair.worker.key) as client:
            (lease,) = client.leases()
        now = caller.rpc("GetTask", task)
        with operator_of(hub) as operator:
            operator.task(task["id"]).requeue("killed", duplicate_risk="operator_accepted")
        with desk.process("echo", "done", name=pair.worker.display):
            seen += list(stream)

    assert (str(lease.task.id), lease.attempt, state(now)) == (task["id"], 1, "WORKING")
    assert words_of(seen)[:5] == ["Task SUBMITTED", "WORKING", "WORKING begun", "SUBMITTED", "WORKING"]
    assert words_of(seen)[-1] == "COMPLETED"


def test_a_stop_ends_streams_between_two_events_and_answers_waiting_messages(hub, parties):
    caller, holder = parties
    with ThreadPoolExecutor() as pool, caller.stream("SendStreamingMessage", {"message": message()}) as stream:
        seen = stream.take(1)
        holder.take()
        seen += stream.take(1)
        waiting = pool.submit(caller.send, "go on", now=False, taskId=holder.task)
        wait_until(lambda: "go on" in str(caller.rpc("GetTask", {"id": holder.task})))
        hub.process.send_signal(signal.SIGTERM)
        seen += list(stream)
        answer = waiting.result()
        code = hub.stop()

    assert words_of(seen) == ["Task SUBMITTED", "WORKING"]
    assert (state(answer), code) == ("WORKING", 0)


@pytest.mark.one_database
def test_a_stream_goes_on_after_its_database_was_killed(tmp_path, postgresql):
    with servers.room() as room:
        server = room.server()
        with (
            served(tmp_path, migrates=True, database_url=server.url, workers=2) as hub,
            talk(hub) as (caller, holder),
        ):
            task = {"id": caller.send()["id"]}
            with caller.stream(SUBSCRIBE, task) as stream:
                holder.take()
                holder.make("a")
                seen = stream.take(3)
                server.kill()
                server.start()
                holder.make("b", append=True)
                holder.complete()
                seen += list(stream)

    assert words_of(seen) == ["Task SUBMITTED", "WORKING", "report a", "report b", "COMPLETED"]
