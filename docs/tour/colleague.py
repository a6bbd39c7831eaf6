"""An agent of the tour, which works now and at a human pace.

Usage: A2A_URL=... A2A_API_KEY=... python colleague.py planner|hotels|writer|payments

The planner sends the others work and reads their results. The agent of the payments fails at most of its tasks.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from random import Random

import texts
from texts import Block, Trip, text

from a2a_hub_client import Answer, Hub, Task

PACE = {"hotels": (4.0, 9.0), "writer": (5.0, 11.0), "payments": (1.0, 3.0)}  # seconds of work on one task
PAUSE = (5.0, 11.0)  # seconds between two tasks of the planner
NOTES = {"hotels": "Compared three hotels", "writer": "Wrote two days", "payments": "Asked the card processor"}
PAYS = 0.25  # the share of payments that succeed
SHARES = {"hotels": 5, "writer": 3, "payments": 2}
WORK: Mapping[str, tuple[str, Callable[[Trip], str]]] = {
    "hotels": ("hold-rooms", texts.hold_rooms),
    "writer": ("write-itinerary", texts.write_itinerary),
    "payments": ("take-deposit", texts.take_deposit),
}
RESULTS: Mapping[str, Callable[[Trip, Random], list[Block]]] = {
    "hotels": texts.rooms,
    "writer": lambda trip, _: [text("".join(texts.itinerary(trip))), texts.calendar(trip)],
    "payments": lambda trip, _: [texts.receipt(trip)],
}
FIRST_TRIP = 2301
TRIP = re.compile(r"trip (\d{1,6})")


def work(hub: Hub, name: str, chance: Random) -> None:
    """Do the tasks that the agent holds already, and then each new one."""

    @hub.worker(grace=0.1, resume="all", resume_after=30)
    def do(task: Task) -> Answer:
        half = chance.uniform(*PACE[name]) / 2
        named = TRIP.search(task.text)
        if named is None:
            return task.reject("The task names no trip, such as: for trip 2301.")
        task.cancelled.wait(half)
        task.progress(0.5, NOTES[name])
        task.cancelled.wait(half)
        if name == "payments" and chance.random() > PAYS:
            return task.answer(status="error", error_message=chance.choice(texts.NO_PAYMENT))
        return task.answer(RESULTS[name](Trip.of(int(named[1])), chance))

    hub.run()


def plan(hub: Hub, chance: Random) -> None:
    """Send one task after the other, and acknowledge the results that come meanwhile."""
    number = FIRST_TRIP
    while True:
        (recipient,) = chance.choices(list(SHARES), list(SHARES.values()))
        kind, words = WORK[recipient]
        hub.send(recipient, words(Trip.of(number)), kind=kind, deadline=timedelta(hours=1))
        number += 1
        for _ in hub.results(wait=chance.uniform(*PAUSE)):
            pass


def main(name: str) -> None:
    """Be this agent until the program is stopped."""
    chance = Random()  # noqa: S311 (a day that varies, no secret)
    with Hub() as hub:
        if name == "planner":
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            plan(hub, chance)
        work(hub, name, chance)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        sys.exit(0)
