"""An agent of the tour, which works now and at a human pace.

Usage: A2A_URL=... A2A_API_KEY=... python colleague.py planner|hotels|writer|payments

The planner sends the others work and reads their results. The agent of the payments fails at most of its tasks.
"""

from __future__ import annotations

import re
import signal
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import texts
from hub_client import HubClient, RefusedError
from texts import Trip, text

Result = Mapping[str, Any]

NO_LONGER_MINE = ("lease_mismatch", "already_resolved", "result_conflict")
PACE = {"hotels": (4.0, 9.0), "writer": (5.0, 11.0), "payments": (1.0, 3.0)}  # seconds of work on one task
PAUSE = (5.0, 11.0)  # seconds between two tasks of the planner
NOTES = {
    "hotels": "Compared three hotels",
    "writer": "Wrote the first two days",
    "payments": "Asked the card processor",
}
PAYS = 0.25  # the share of payments that succeed
SHARES = {"hotels": 5, "writer": 3, "payments": 2}
WORK: Mapping[str, tuple[str, Callable[[Trip], str]]] = {
    "hotels": ("hold-rooms", texts.hold_rooms),
    "writer": ("write-itinerary", texts.write_itinerary),
    "payments": ("take-deposit", texts.take_deposit),
}
FIRST_TRIP = 2301
TRIP = re.compile(r"trip (\d{1,6})")
NO_TRIP: Result = {"status": "error", "error_message": "The task names no trip, such as: for trip 2301."}


def work(hub: HubClient, name: str, chance: Random) -> None:
    """Do the tasks that the agent holds already, and then each new one."""
    for held in hub.get("/a2a/leases", limit=100)["leases"]:
        do(hub, name, held["task"], held["lease_id"], chance)
    while True:
        if (leased := hub.next_task()) is not None:
            do(hub, name, *leased, chance)


def do(hub: HubClient, name: str, task: Mapping[str, Any], lease_id: str, chance: Random) -> None:
    """Work on a task for a while, and post its result."""
    seconds = chance.uniform(*PACE[name])
    named = TRIP.search(task["intent_text"])
    result = RESULTS[name](Trip.of(int(named[1])), chance) if named else NO_TRIP
    try:
        time.sleep(seconds / 2)
        progress = {"fraction": 0.5, "note": NOTES[name]}
        hub.post(f"/a2a/tasks/{task['id']}/updates", lease_id=lease_id, updates=[{"progress": progress}])
        time.sleep(seconds / 2)
        hub.post("/a2a/results", task_id=task["id"], lease_id=lease_id, **result)
    except RefusedError as refusal:
        if refusal.code not in NO_LONGER_MINE:
            raise


def rooms(trip: Trip, chance: Random) -> Result:
    return {"status": "ok", "content": texts.rooms(trip, chance)}


def pages(trip: Trip, _: Random) -> Result:
    return {"status": "ok", "content": [text("".join(texts.itinerary(trip))), texts.calendar(trip)]}


def payment(trip: Trip, chance: Random) -> Result:
    if chance.random() > PAYS:
        return {"status": "error", "error_message": chance.choice(texts.NO_PAYMENT)}
    return {"status": "ok", "content": [texts.receipt(trip)]}


RESULTS: Mapping[str, Callable[[Trip, Random], Result]] = {"hotels": rooms, "writer": pages, "payments": payment}


def plan(hub: HubClient, chance: Random) -> None:
    """Send one task after the other, and acknowledge the results that have come."""
    number, last = FIRST_TRIP, None
    while True:
        send(hub, Trip.of(number), chance)
        number += 1
        due_at = time.monotonic() + chance.uniform(*PAUSE)
        while time.monotonic() < due_at:
            result = hub.next_result(ack=last)
            last = None if result is None else result["task_id"]


def send(hub: HubClient, trip: Trip, chance: Random) -> None:
    (recipient,) = chance.choices(list(SHARES), list(SHARES.values()))
    kind, words = WORK[recipient]
    deadline = datetime.now(UTC) + timedelta(hours=1)
    hub.post(
        "/a2a/tasks",
        id=str(uuid.uuid4()),
        recipient=f"{recipient}@local",
        task_kind=kind,
        intent_text=words(trip),
        deadline_ms=round(deadline.timestamp() * 1000),
    )


def main(name: str) -> None:
    """Be this agent until the program is stopped."""
    chance = Random()  # noqa: S311 (a day that varies, no secret)
    with HubClient.from_environment() as hub:
        if name == "planner":
            plan(hub, chance)
        work(hub, name, chance)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        sys.exit(0)
