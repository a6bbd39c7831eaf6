"""The checker names each fault that is planted into the streams and the webhooks of the official protocol."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tools.proof.history import History, Operation
from tools.proof.plants import Plant, Tables, event, named_with

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


def follow(history: History) -> Operation:
    """Return a stream of at least three events."""
    return next(one for one in history.acknowledged("follow") if len(one.facts["events"]) > 2)


def stream_an_event_twice(tables: Tables, history: History) -> None:
    events = follow(history).facts["events"]
    events.append(events[-1])


def stream_in_another_order(tables: Tables, history: History) -> None:
    follow(history).facts["events"].reverse()


def lose_an_event_of_a_stream(tables: Tables, history: History) -> None:
    del follow(history).facts["events"][0]


def change_the_words_of_a_stream(tables: Tables, history: History) -> None:
    event_id, _ = follow(history).facts["events"][0]
    follow(history).facts["events"][0] = event_id, {"statusUpdate": {}}


def erase_what_a_stream_said(tables: Tables, history: History) -> None:
    change_the_words_of_a_stream(tables, history)
    erased = {**event(tables, "a2a_result_posted"), "kind": "a2a_erased", "seq": None, "request_id": "erasure"}
    subject = f"task:{follow(history).facts['task_id']}"
    tables["events"].append(erased | {"data": json.dumps({"subject": subject})})


def webhook_of(history: History) -> list[Any]:
    """Note a webhook that got the events of a stream; return its calls."""
    followed = follow(history)
    calls = [[event_id, 200, json.dumps(body)] for event_id, body in followed.facts["again"]]
    history.note("webhook", task_id=followed.facts["task_id"], calls=calls)
    return calls


def report_every_event(tables: Tables, history: History) -> None:
    webhook_of(history)


def report_in_another_order(tables: Tables, history: History) -> None:
    calls = webhook_of(history)
    calls.append(calls[0])


def report_other_words(tables: Tables, history: History) -> None:
    calls = webhook_of(history)
    calls.append([*calls[-1][:2], "{}"])


def report_no_end(tables: Tables, history: History) -> None:
    webhook_of(history).pop()


PLANTED: Mapping[str, tuple[Plant, str]] = {
    plant.__name__: (plant, name)
    for plant, name in [
        (stream_an_event_twice, "stream_event_twice"),
        (stream_in_another_order, "stream_out_of_order"),
        (lose_an_event_of_a_stream, "stream_event_lost"),
        (change_the_words_of_a_stream, "stream_event_lost"),
        (report_in_another_order, "webhook_out_of_order"),
        (report_other_words, "webhook_repeat_differs"),
        (report_no_end, "webhook_event_lost"),
    ]
}


@pytest.mark.parametrize("plant", PLANTED)
def test_a_planted_fault_of_a_stream_or_webhook_is_named(run, plant):
    plant_it, name = PLANTED[plant]

    assert name in named_with(plant_it, run)


def test_a_webhook_that_got_every_event_breaks_no_promise(run):
    assert named_with(report_every_event, run) == set()


def test_two_streams_of_a_task_that_was_erased_between_them_have_other_words(run):
    assert "stream_event_lost" not in named_with(erase_what_a_stream_said, run)
