"""Rules of the official protocol: streams and webhooks bring each event of a task, in order."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from tools.proof.evidence import Evidence, Violation
from tools.proof.history import Operation

Json = dict[str, Any]


def streams(evidence: Evidence) -> Iterator[Violation]:
    """A stream that is taken up after its last event brings each later event of the task once, in order.

    Each number of an event is that of a journal row of its task. A second stream of all events confirms them.
    """
    for follow in evidence.history.acknowledged("follow"):
        task_id, events = follow.facts["task_id"], [tuple(one) for one in follow.facts["events"]]
        numbers = [_number(event_id) for event_id, _ in events]
        if len(set(numbers)) < len(numbers):
            yield Violation("stream_event_twice", task_id, str([event_id for event_id, _ in events]))
        elif numbers != sorted(numbers):
            yield Violation("stream_out_of_order", task_id, str([event_id for event_id, _ in events]))
        lost = _rows_of(evidence, task_id) - {row for row, _ in numbers}
        words = () if task_id in evidence.erased else events  # an erasure changes the words of the second stream
        again = [tuple(one) for one in follow.facts["again"]]
        if lost or [one for one in again if words and one not in words]:
            yield Violation("stream_event_lost", task_id, f"rows {sorted(lost)} of {numbers}, {follow.request_id}")


def _number(event_id: str) -> tuple[int, float]:
    """Return the place of an event: 8.1 and 8.2 come before 8, which closes the row."""
    row, _, part = event_id.partition(".")
    return int(row), float(part or "inf")


def _rows_of(evidence: Evidence, task_id: str) -> set[int]:
    """Return the numbers of the journal rows that a stream shows: those from the first lease to the end."""
    life = evidence.lives.get(task_id)
    return set(range(2, int(life.result["seq"]) + 1)) if life and life.result else set()


def webhooks(evidence: Evidence) -> Iterator[Violation]:
    """A webhook gets each event of its task in order. A repeat has the same id and the same body.

    The events are those of the stream that another client has read. Chunks of an artifact may come together.
    """
    follows = {one.facts["task_id"]: one for one in evidence.history.acknowledged("follow")}
    for note in evidence.history.noted("webhook"):
        task_id, calls = note["task_id"], [tuple(call) for call in note["calls"]]
        bodies: dict[str, str] = {}
        for call_id, _, body in calls:
            if bodies.setdefault(call_id, body) != body:
                yield Violation("webhook_repeat_differs", task_id, call_id)
        runs = [call_id for call_id, _ in groupby(calls, key=lambda call: call[0])]
        if len(set(runs)) < len(runs):
            yield Violation("webhook_out_of_order", task_id, str(runs))
        if (follow := follows.get(task_id)) is not None:
            yield from _compared(task_id, follow, [json.loads(body) for body in bodies.values()])


def _compared(task_id: str, follow: Operation, told: Sequence[Json]) -> Iterator[Violation]:
    expected, found = merged([event for _, event in follow.facts["again"]]), merged(told)
    if [one for one in expected if one not in found]:
        yield Violation("webhook_event_lost", task_id, f"{len(found)} of {len(expected)}")
    elif expected != found:
        yield Violation("webhook_out_of_order", task_id, f"{found}"[:500])


def merged(events: Sequence[Json]) -> list[Any]:
    """Return what the events say: the state and the words of each status, and the whole content of each artifact."""
    said: list[Any] = []
    for event in events:
        if (update := event.get("artifactUpdate")) is not None:
            artifact = update["artifact"]
            parts, name = artifact["parts"], artifact["artifactId"]
            if update.get("append") and said and said[-1][0] == name:
                said[-1] = name, [*said[-1][1], *parts]
            else:
                said.append((name, parts))
        elif (status := event.get("statusUpdate", {}).get("status")) is not None:
            said.append((status["state"], status.get("message", {}).get("parts")))
    return said
