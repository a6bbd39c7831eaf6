"""Python functions that handle tasks, on a served hub: each in a thread or on an event loop."""

import asyncio
import logging
import threading
from typing import Any

import pytest

from a2a_hub_client import AsyncHub, Hub, WorkerFailedError
from a2a_hub_client.models.conversation import Progress
from mailbox.access.callers import Role
from tests.clients.python.worker.test_connections import Cutter
from tests.support import factories
from tests.support.cast import olga
from tests.support.hub import PATIENCE
from tests.support.own_client import client_of
from tests.support.workers import lease_of, messages_of, result_of, text_of

__all__ = ["olga"]


def in_both_ways(handle):
    """Return the handler as a plain function and as a coroutine function."""

    async def on_loop(task):
        await asyncio.sleep(0)
        return handle(task)

    return pytest.mark.parametrize("handler", [handle, on_loop], ids=["function", "coroutine"])


def talk(task):
    task.say("begun")
    task.progress(0.5, "half")
    task.artifact("page", "one ", append=False)
    task.artifact("page", "two", append=True, last_chunk=True)
    return f"{task.text} for {task.sender} by {task.kind}, attempt {task.attempt}, turn {task.turn}"


@in_both_ways(talk)
def test_a_handler_reports_and_returns_the_result(hub, alice, bob, handler):
    task = factories.sent_task(alice, bob, intent_text="paint", task_kind="art")
    hub.worker()(handler)

    hub.run(max_tasks=1)

    assert text_of(result_of(task)) == "paint for alice@local by art, attempt 1, turn 1"
    with hub_of(alice, hub) as sender:
        begun, half = list(sender.task(task.uuid).messages())[1:]
        (page,) = sender.task(task.uuid).artifacts()
    assert (begun.text, half.progress) == ("begun", Progress(fraction=0.5, note="half"))
    assert ([block["text"] for block in page.content], page.last_chunk) == (["one ", "two"], True)


def hub_of(caller, hub):
    return client_of(hub.url, factories.key_of(caller))


def fail(task):
    raise ZeroDivisionError("no colours left")


@in_both_ways(fail)
def test_an_exception_is_an_error_for_the_sender_and_a_traceback_for_the_log(hub, alice, bob, handler, caplog):
    task = factories.sent_task(alice, bob)
    hub.worker()(handler)

    hub.run(max_tasks=1)

    result = result_of(task)
    assert (result.status, result.error_message) == ("error", "ZeroDivisionError: no colours left")
    assert 'raise ZeroDivisionError("no colours left")' in caplog.text


def test_the_sender_gets_the_traceback_only_if_the_worker_says_so(hub, alice, bob):
    task = factories.sent_task(alice, bob)
    hub.worker(show_traceback=True)(fail)

    hub.run(max_tasks=1)

    message = str(result_of(task).error_message)
    assert message.startswith("Traceback")
    assert message.endswith("ZeroDivisionError: no colours left")


def paint(task):
    if task.turn == 1:
        return task.ask("Which colour?")
    *_, colour = task.messages
    return {"painted": colour.text, "asked": [one.text for one in task.messages if one.role == "agent"]}


@in_both_ways(paint)
def test_a_question_ends_the_lease_and_its_answer_brings_a_new_one(hub, alice, bob, handler):
    task = factories.sent_task(alice, bob)
    hub.worker()(handler)

    hub.run(max_tasks=1)
    assert lease_of(task) is None
    with hub_of(alice, hub) as sender:
        sender.task(task.uuid).say("green")
    hub.run(max_tasks=1)

    assert result_of(task).blocks == [{"type": "json", "value": {"painted": "green", "asked": ["Which colour?"]}}]
    assert [lease.end for lease in task.leases.order_by("attempt")] == ["asked", "result"]


def test_a_task_is_rejected_with_a_reason(hub, alice, bob):
    task = factories.sent_task(alice, bob)
    hub.worker()(lambda task: task.reject("not my work"))

    hub.run(max_tasks=1)

    assert result_of(task).error_message == "not my work"


def test_what_the_hub_refuses_of_a_handler_fails_the_task(hub, alice, bob):
    task = factories.sent_task(alice, bob)

    @hub.worker()
    def handle(task):
        task.progress(7)

    hub.run(max_tasks=1)

    assert result_of(task).status == "error"
    assert "the hub refused 1 update(s)" in str(result_of(task).error_message)


def test_as_many_tasks_are_handled_at_once_as_the_worker_says(hub, alice, bob):
    tasks = [factories.sent_task(alice, bob) for _ in range(3)]
    together = threading.Barrier(3)

    @hub.worker(concurrency=3)
    def handle(task):
        together.wait(PATIENCE)

    hub.run(max_tasks=3)

    assert [result_of(task).status for task in tasks] == ["ok"] * 3


def test_coroutines_are_handled_at_once_on_one_loop(hub, alice, bob):
    tasks = [factories.sent_task(alice, bob) for _ in range(3)]
    begun, loops, together = [], set(), asyncio.Event()

    @hub.worker(concurrency=3)
    async def handle(task):
        loops.add(asyncio.get_running_loop())
        begun.append(task.id)
        if len(begun) == 3:
            together.set()
        await together.wait()

    hub.run(max_tasks=3)

    assert [result_of(task).status for task in tasks] == ["ok"] * 3
    assert len(loops) == 1


def test_lost_answers_cost_no_lease_and_repeat_no_call_message_or_result(served_hub, desk, alice, bob):
    task = factories.sent_task(alice, bob, intent_text="once")
    calls = []
    with Cutter(served_hub.url, "/lease", "/updates", "/batch") as cutter:
        threading.Thread(target=cutter.serve_forever, daemon=True).start()
        with Hub(cutter.url, desk.key) as hub:

            @hub.worker()
            def handle(task):
                calls.append(task.id)
                task.say("once")
                return task.text

            hub.run(max_tasks=1)
        cutter.shutdown()

    task.refresh_from_db()
    assert not cutter.to_cut
    assert (calls, task.attempt, messages_of(task)) == ([task.uuid], 1, ["once"])
    assert text_of(result_of(task)) == "once"
    assert len(factories.journal("a2a_result_posted")) == 1


def test_a_handler_of_a_client_for_asyncio_runs_on_the_loop_of_its_caller(desk, alice, bob):
    task = factories.sent_task(alice, bob, intent_text="7")

    async def main():
        mine, seen = asyncio.get_running_loop(), []
        async with AsyncHub(desk.url, desk.key) as hub:

            @hub.worker()
            async def handle(task):
                seen.append(asyncio.get_running_loop() is mine)
                return str((await hub.me()).agent)

            await hub.run(max_tasks=1)
        return seen

    assert asyncio.run(main()) == [True]
    assert text_of(result_of(task)) == "bob@local"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("key", ["a2a_wrong", None])
def test_a_refused_key_and_that_of_a_person_end_the_run(desk, key, caplog):
    caplog.set_level(logging.INFO, "a2a_hub_client")
    with Hub(desk.url, key or factories.key_of(factories.person("olga", Role.OPERATOR))) as hub:
        hub.worker()(lambda task: None)

        with pytest.raises(WorkerFailedError):
            hub.run()

    assert "Stopping: " in caplog.text


@pytest.mark.parametrize(
    "settings", [{"concurrency": 0}, {"concurrency": 3, "batch": 2}, {"heartbeat": 0}, {"resume_after": 5}]
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Hub("http://hub.test", "key").worker(**settings)(lambda task: None)


def test_a_client_has_one_handler_and_runs_only_with_it():
    hub = Hub("http://hub.test", "key")
    with pytest.raises(ValueError, match="has no handler"):
        hub.run()
    hub.worker()(lambda task: None)
    with pytest.raises(ValueError, match="has a handler already"):
        hub.worker()
