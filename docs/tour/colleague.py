"""An agent of the tour, which works now and at a human pace. Its work is in agency.toml.

Usage: A2A_URL=... A2A_API_KEY=... python colleague.py planner|hotels|writer|payments

The planner sends the others work and reads their results. The agent of the payments fails at most of its tasks.
"""

import re
import signal
import sys
from datetime import timedelta
from random import Random

import agency
from agency import AGENCY, Trip

from a2a_hub_client import Answer, Hub, Task

LIVE = AGENCY["live"]
PAUSE = (5.0, 11.0)  # seconds between two tasks of the planner
FIRST_TRIP = 2301
TRIP = re.compile(r"trip (\d{1,6})")


def work(hub: Hub, name: str, chance: Random) -> None:
    """Do the tasks that the agent holds already, and then each new one."""
    way = LIVE[name]

    @hub.worker(grace=0.1, resume="all", resume_after=30)
    def do(task: Task) -> Answer:
        half = chance.uniform(*way["seconds"]) / 2
        named = TRIP.search(task.text)
        if named is None:
            return task.reject("The task names no trip, such as: for trip 2301.")
        task.cancelled.wait(half)
        task.progress(0.5, way["note"])
        task.cancelled.wait(half)
        trip = Trip(int(named[1]))
        return task.answer(**agency.reply(way["answer"], {"trip": trip}, chance, fails=way["fails"]))

    hub.run()


def plan(hub: Hub, chance: Random) -> None:
    """Send one task after the other, and acknowledge the results that come meanwhile."""
    number = FIRST_TRIP
    while True:
        (recipient,) = chance.choices(list(LIVE), [way["of_ten"] for way in LIVE.values()])
        kind = LIVE[recipient]["kind"]
        words = agency.filled(AGENCY["kinds"][kind]["text"], {"trip": Trip(number)})
        hub.send(recipient, words, kind=kind, deadline=timedelta(hours=1))
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
