"""The client for threads is written from that for asyncio, so only the parts that differ are tested here."""

import asyncio

import pytest

from a2a_hub_client import Answer, NewTask, ResultTimeoutError, Update
from a2a_hub_client._async.hub import AsyncHub
from a2a_hub_client.refusals import UnknownTaskError


def run(world, play):
    """Let a coroutine play with clients of alice and bob."""

    async def with_clients():
        async with world.async_hub("alice") as alice, world.async_hub("bob") as bob:
            return await play(alice, bob)

    return asyncio.run(with_clients())


async def serve(bob: AsyncHub, number: int) -> int:
    """Receive so often, and answer each task; return how many these were."""
    answered = 0
    for _ in range(number):
        for leased in (await bob.receive(most=10)).leases:
            await bob.post_updates(leased.task.id, [Update.saying("begun")], lease_id=leased.lease.id)
            answer = Answer(task_id=leased.task.id, lease_id=leased.lease.id, content=leased.task.text.upper())
            await bob.post_result(answer)
            answered += 1
    return answered


def test_coroutines_wait_for_each_other(world):
    async def play(alice, bob):
        working = asyncio.create_task(serve(bob, 1))
        task = await alice.send("bob", "hello")
        result = await task.result()
        await working
        return result.text, [update.state async for update in task.updates()]

    assert run(world, play) == ("HELLO", ["resolved"])


@pytest.mark.usefixtures("time_of_waits")
def test_results_are_drained_by_a_loop(world):
    async def play(alice, bob):
        sent = await alice.send_many([NewTask(to="bob", text=str(number)) for number in range(5)])
        answered = 0
        while answered < len(sent):  # a receive leaves out tasks that the hub's own processes have locked
            answered += await serve(bob, 1)
        found = [result.task_id async for result in alice.results(wait=1, batch=2)]
        return sorted(found) == sorted(task.id for task in sent), [result async for result in alice.results(wait=0)]

    assert run(world, play) == (True, [])


def test_lists_are_loops(world):
    async def play(alice, bob):
        task = await alice.send("bob", "a")
        await bob.receive()
        return [held.task.text async for held in bob.leases()], [each.text async for each in task.messages()]

    assert run(world, play) == (["a"], ["a"])


def test_errors_are_those_of_threads(world):
    async def play(alice, bob):
        task = await alice.send("bob", "a")
        with pytest.raises(ResultTimeoutError):
            await task.result(timeout=0)
        with pytest.raises(UnknownTaskError):
            await bob.post_result(Answer(task_id="00000000-0000-4000-8000-000000000000", content="1"))

    run(world, play)


def test_a_cancelled_wait_ends_at_once(world):
    async def play(alice, bob):
        task = await alice.send("bob", "a")
        waiting = asyncio.create_task(task.result())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    run(world, play)
