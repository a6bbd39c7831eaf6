"""The checks of the scenarios detect what they are for."""

import dataclasses
import json
import uuid
from collections import Counter
from datetime import UTC, datetime

import pytest

from tools.proof.history import History, Operation, Try
from tools.proof.rows import Rows
from tools.proof.scenarios import (
    SCENARIOS,
    backup,
    carriage,
    client_package,
    failover,
    official_carriage,
    remote_outage,
    two_hubs,
)

pytestmark = pytest.mark.one_database

FIRST, SECOND = (str(uuid.UUID(int=number, version=4)) for number in (1, 2))


def rows(**tables):
    return Rows(**{field.name: tables.get(field.name, []) for field in dataclasses.fields(Rows)})


def result_of(task_id, text, status="ok"):
    content = json.dumps([{"type": "text", "text": text}])
    return {"task__uuid": task_id, "status": status, "content": content, "error_message": None}


def second(number):
    return datetime.fromtimestamp(number, UTC)


def acknowledged(history, verb, *, began, ended, **facts):
    operation = history.begin(
        Operation(verb=verb, actor="sender-1-0@proof", request_id=f"1.{began}", route="POST /x", dialect="mailbox")
    )
    operation.facts = facts
    operation.began_at = began
    operation.tries.append(Try(began_at=began, ended_at=ended, status=200, answer=dict(facts)))
    operation.ended_at = ended


def test_each_scenario_has_a_name_of_its_own():
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)


CARRIED = [
    ([result_of(FIRST, FIRST)], [result_of("a", FIRST)], []),
    ([result_of(FIRST, FIRST)], [result_of("a", FIRST), result_of("b", FIRST)], ["submitted_twice"]),
    ([], [result_of("a", FIRST)], ["result_missing"]),
    ([result_of(FIRST, "", "error")], [], ["carried_task_failed"]),
]


@pytest.mark.parametrize(("near", "far", "expected"), CARRIED)
def test_a_carried_task_has_one_result_and_no_more_submissions_than_leases(near, far, expected):
    leases = [{"task__uuid": FIRST}]

    found = carriage.broken([FIRST], rows(leases=leases, results=near), rows(results=far), [])

    assert [violation.name for violation in found] == expected


@pytest.mark.parametrize(
    ("leased_at", "ended_at", "expected"),
    [(9, 11, []), (10.5, 12, []), (9, None, []), (8, 9, ["carried_task_failed"]), (12, 13, ["carried_task_failed"])],
)
def test_a_submission_without_an_answer_is_a_violation_unless_a_kill_cut_it(leased_at, ended_at, expected):
    kill = two_hubs.Kill(began=second(10), ended=second(11))
    lease = {"task__uuid": FIRST, "leased_at": str(second(leased_at)), "ended_at": ended_at and str(second(ended_at))}
    result = result_of(FIRST, "", "error") | {"error_message": "A2A: no answer from far"}

    found = carriage.broken([FIRST], rows(leases=[lease], results=[result]), rows(), [kill])

    assert [violation.name for violation in found] == expected


def texted(*texts, task_id=FIRST):
    return [{"task__uuid": task_id, "content": json.dumps([{"type": "text", "text": text}])} for text in texts]


OFFICIAL = [
    ({}, [FIRST], []),
    ({}, [FIRST, FIRST], ["submitted_twice"]),
    ({"results": []}, [FIRST], ["result_missing"]),
    ({"results": [result_of(FIRST, "", "error")]}, [FIRST], ["carried_task_failed"]),
    ({"artifacts": texted(FIRST, FIRST)}, [FIRST], ["answer_changed"]),
    ({"artifacts": texted(SECOND)}, [FIRST], ["answer_changed"]),
    ({"messages": []}, [FIRST], ["answer_changed"]),
    ({"messages": texted(f"done: {FIRST}", f"done: {FIRST}")}, [FIRST], ["answer_changed"]),
    ({"events": [{"task_id": FIRST, "kind": official_carriage.POSTED}] * 2}, [FIRST], ["ended_twice"]),
]


@pytest.mark.parametrize(("changed", "far", "expected"), OFFICIAL)
def test_a_task_of_the_official_carriage_ends_once_with_the_whole_answer(changed, far, expected):
    whole = {
        "results": [result_of(FIRST, "")],
        "artifacts": texted(FIRST),
        "messages": texted(f"done: {FIRST}"),
        "events": [{"task_id": FIRST, "kind": official_carriage.POSTED}],
    }

    found = official_carriage.broken(
        [FIRST], rows(**whole | changed), rows(results=[result_of(f"far {text}", text) for text in far])
    )

    assert [violation.name for violation in found] == expected


ACCEPTED = [
    ({FIRST: 1}, [result_of(FIRST, FIRST)], []),
    ({FIRST: 2}, [result_of(FIRST, FIRST)], ["submitted_twice"]),
    ({FIRST: 1}, [], ["result_missing"]),
    ({FIRST: 1}, [result_of(FIRST, "", "error")], ["carried_task_failed"]),
]


@pytest.mark.parametrize(("accepted", "results", "expected"), ACCEPTED)
def test_a_task_that_a_remote_agent_accepted_in_an_outage_has_its_result(accepted, results, expected):
    found = remote_outage.broken([FIRST], accepted, rows(results=results))

    assert [violation.name for violation in found] == expected


ALONE = [(11, 12, ["acknowledged_alone"]), (9, 12, []), (11, 21, [])]


@pytest.mark.parametrize(("began", "ended", "expected"), ALONE)
def test_a_write_that_is_acknowledged_without_the_standby_is_a_violation(began, ended, expected):
    history = History(1)
    acknowledged(history, "send", began=began, ended=ended, task_id=FIRST)

    assert [violation.name for violation in failover.written_alone(history, 10, 20)] == expected


def test_a_restored_hub_lacks_a_task_that_was_acknowledged_before_the_backup():
    history = History(1)
    acknowledged(history, "send", began=1, ended=2, task_id=FIRST)
    acknowledged(history, "send", began=3, ended=6, task_id=SECOND)

    missed = {(violation.name, violation.subject) for violation in backup.missed(history, rows(), 5)}

    assert missed == {("acknowledged_task_lost", FIRST), ("task_not_journalled", FIRST)}


def test_a_restored_hub_may_have_a_task_of_the_official_protocol_that_was_sent_during_the_backup():
    history, sender = History(1), "sender-1-0@proof"
    acknowledged(history, "send", began=6, ended=7, task_ids=[FIRST])
    history.operations[0].dialect = "official"
    kinds = {"a2a_task_sent": {"sender": sender, "recipient": "w"}, "a2a_task_cancelled": {}}
    events = [
        {"pk": seq, "seq": seq, "kind": kind, "task_id": FIRST, "request_id": f"1.{7 - seq}", "data": json.dumps(data)}
        for seq, (kind, data) in enumerate(kinds.items(), 1)
    ]
    parties = {"sender__display": sender, "recipient__display": "w"}
    ended = {"uuid": FIRST, "state": "resolved", "outcome": "cancelled", "attempt": 0, "journal_seq": 2}
    result = {**result_of(FIRST, "", "error"), **parties, "delivery": "delivered"}
    restored = rows(tasks=[{**ended, **parties}], results=[result], events=events)

    assert [str(violation) for violation in backup.missed(history, restored, 5)] == []


def diary(task_id, **changes):
    """Return the diary of one task that went well, but for the changes."""
    steps = {step: Counter([task_id]) for step in ("sent", "done", "drained", "said")}
    return client_package.Diary(**{**steps, **changes})


DIARIES = [
    ({}, []),
    ({"drained": Counter()}, ["package_lost"]),
    ({"done": Counter()}, ["package_lost"]),
    ({"done": Counter([FIRST, FIRST])}, ["package_doubled"]),
    ({"drained": Counter([FIRST, FIRST])}, ["package_doubled"]),
    ({"said": Counter([FIRST, FIRST])}, ["package_doubled"]),
    ({"said": Counter([FIRST, SECOND])}, ["package_unexpected_task"]),
    ({"wrong": {FIRST}}, ["package_result_of_another"]),
    ({"held": {FIRST}}, ["package_left_something"]),
]


@pytest.mark.parametrize(("changes", "expected"), DIARIES)
def test_the_diary_of_the_client_package_shows_a_broken_promise(changes, expected):
    assert [violation.name for violation in client_package.broken(diary(FIRST, **changes))] == expected


NAMED = {name for table in (CARRIED, OFFICIAL, ACCEPTED, ALONE, DIARIES) for *_, names in table for name in names}
