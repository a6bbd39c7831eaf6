"""A worker process of the proof: python -m tools.proof.handler threads|asyncio. Each task's result is its own id.

The tasks are idempotent, so a worker takes over those of a killed worker that has sent a heartbeat or an update.
"""

import asyncio
import logging
import sys
import time

from a2a_hub_client import AsyncHub, Hub, Task

HOW = {"concurrency": 4, "heartbeat": 0.5, "resume_after": 3.0, "grace": 20.0}


def work(task: Task) -> float:
    """Report, and return how long to work, in seconds: longer for some tasks, so that kills and freezes strike them."""
    task.say(f"attempt {task.attempt}")
    task.progress(0.5)
    if task.text.startswith("long"):
        return 4.0
    return (0.02, 0.02, 0.1, 0.8)[task.id.int % 4]


def on_threads() -> None:
    with Hub() as hub:

        @hub.worker(**HOW)  # type: ignore[arg-type]
        def handle(task: Task) -> str:
            time.sleep(work(task))
            return str(task.id)

        hub.run()


async def on_a_loop() -> None:
    async with AsyncHub() as hub:

        @hub.worker(**HOW)  # type: ignore[arg-type]
        async def handle(task: Task) -> str:
            await asyncio.sleep(work(task))
            return str(task.id)

        await hub.run()


if __name__ == "__main__":
    log = logging.getLogger("a2a_hub_client")
    log.addHandler(logging.StreamHandler())
    log.setLevel(logging.INFO)
    on_threads() if sys.argv[1] == "threads" else asyncio.run(on_a_loop())
