"""The checker names each fault that is planted into the requests of several items."""

import copy
from collections.abc import Mapping

import pytest

from tools.proof.history import History, Operation
from tools.proof.plants import Plant, Tables, first, named_with

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


def batches(history: History, verb: str, listed: str, least: int = 1) -> list[Operation]:
    """Return the acknowledged requests whose answer lists at least so many items under ``listed``."""
    several = (one for one in history.acknowledged(verb) if {"most", "results", "tasks"} & one.facts.keys())
    return [one for one in several if len(one.answer.get(listed, ())) >= least]


def place_of(operation: Operation, code: str) -> int | None:
    """Return the place of an item that was refused with this code."""
    return next((item["index"] for item in operation.answer["refused"] if item["code"] == code), None)


def conflict(history: History) -> tuple[Operation, int]:
    """Return a batch whose second result of one task was refused, and the place of that result."""
    found = ((one, place_of(one, "result_conflict")) for one in batches(history, "lease", "refused"))
    return next((one, place) for one, place in found if place is not None)


def take_more_under_one_attempt(tables: Tables, history: History) -> None:
    leases = [row for row in tables["leases"] if row["receive_attempt_id"]]
    taken = {name: leases[0][name] for name in ("holder__display", "receive_attempt_id")}
    leases[-1] |= {**taken, "receive_index": 7}


def deliver_more_under_one_attempt(tables: Tables, history: History) -> None:
    results = [row for row in tables["results"] if row["receive_attempt_id"]]
    taken = {name: results[0][name] for name in ("sender__display", "receive_attempt_id")}
    results[-1] |= {**taken, "receive_index": 7}


def take_in_two_steps(tables: Tables, history: History) -> None:
    request_id = batches(history, "lease", "leases", 2)[0].request_id
    first(tables["events"], kind="a2a_task_leased", request_id=request_id)["at"] = "later"


def deliver_in_two_steps(tables: Tables, history: History) -> None:
    request_id = batches(history, "drain", "results", 2)[0].request_id
    first(tables["events"], kind="a2a_result_delivered", request_id=request_id)["at"] = "later"


def lease_more_than_asked_for(tables: Tables, history: History) -> None:
    attempt = batches(history, "lease", "leases", 2)[0].facts["attempt_id"]
    for operation in history.of("lease"):
        if operation.facts["attempt_id"] == attempt:
            operation.facts["most"] = 1


def take_for_a_later_request(tables: Tables, history: History) -> None:
    """Let an earlier request of the attempt, which was answered with nothing, have requested more."""
    first, *others = batches(history, "lease", "leases", 2)
    earlier = copy.deepcopy(next(one for one in others if one.facts["results"] == []))
    earlier.facts |= {"attempt_id": first.facts["attempt_id"], "most": first.facts["most"]}
    earlier.actor = first.actor
    earlier.request_id, earlier.answer["leases"], first.facts["most"] = "earlier", [], 1
    history.operations.append(earlier)


def answer_a_lease_twice(tables: Tables, history: History) -> None:
    leases = batches(history, "lease", "leases")[0].answer["leases"]
    leases.append(leases[0])


def answer_a_result_twice(tables: Tables, history: History) -> None:
    results = batches(history, "drain", "results")[0].answer["results"]
    results.append(results[0])


def give_one_lease_of_a_batch_to_two(tables: Tables, history: History) -> None:
    one, other = batches(history, "lease", "leases")[:2]
    other.answer["leases"] = one.answer["leases"]


def give_one_result_of_a_batch_to_two(tables: Tables, history: History) -> None:
    one, other = batches(history, "drain", "results")[:2]
    other.answer["results"] += one.answer["results"]


def find_later(history: History, operation: Operation, one: str, route: str) -> None:
    """Let a look after the operation find a lease, or a delivered result."""
    look = next(look for look in history.acknowledged("look") if look.route == route)
    look.actor, look.began_at, look.facts["adopted"] = operation.actor, 1e9, [one]


def leave_a_lease_out(tables: Tables, history: History) -> None:
    operation = batches(history, "lease", "leases", 2)[0]
    left = operation.answer["leases"].pop()
    find_later(history, operation, left["lease"]["lease_id"], "GET /a2a/leases")


def leave_a_result_out(tables: Tables, history: History) -> None:
    operation = batches(history, "drain", "results", 2)[0]
    left = operation.answer["results"].pop()
    find_later(history, operation, left["task_id"], "GET /a2a/results/delivered")


def lease_to_nobody(tables: Tables, history: History) -> None:
    operation = batches(history, "lease", "leases")[0]
    history.note("stuck", lease_id=operation.answer["leases"].pop()["lease"]["lease_id"])


def deliver_to_nobody(tables: Tables, history: History) -> None:
    batches(history, "drain", "results")[0].answer["results"].pop()


def say_nothing_of_an_item(tables: Tables, history: History) -> None:
    batches(history, "lease", "posted")[0].answer["posted"].pop()


def say_nothing_of_a_task(tables: Tables, history: History) -> None:
    batches(history, "send", "posted")[0].answer["posted"].pop()


def say_nothing_of_an_acknowledgement(tables: Tables, history: History) -> None:
    batches(history, "drain", "acked")[0].answer["acked"].pop()


def refuse_an_item_that_was_done(tables: Tables, history: History) -> None:
    operation = next(one for one in batches(history, "post", "posted") if not one.answer["refused"])
    operation.answer["posted"].clear()
    places = range(len(operation.facts["results"]))
    operation.answer["refused"] = [{"index": place, "code": "lease_mismatch"} for place in places]


def refuse_an_item_without_a_reason(tables: Tables, history: History) -> None:
    batches(history, "lease", "refused")[0].answer["refused"][0]["code"] = "capability_missing"


def refuse_a_task(tables: Tables, history: History) -> None:
    operation = batches(history, "send", "posted")[0]
    refused = operation.answer["posted"].pop(0)
    operation.answer["refused"] = [{"index": 0, "code": "quota_exceeded"}]
    tables["events"].remove(first(tables["events"], kind="a2a_task_sent", task_id=refused))


def refuse_an_acknowledgement(tables: Tables, history: History) -> None:
    answer = batches(history, "drain", "acked")[0].answer
    answer["unknown"].append(answer["acked"].pop(0))


def claim_a_refused_item(tables: Tables, history: History) -> None:
    operation, place = conflict(history)
    refused = operation.answer["refused"]
    refused.remove(next(item for item in refused if item["index"] == place))


def acknowledge_before_the_commit(tables: Tables, history: History) -> None:
    acked = batches(history, "drain", "acked")[0].answer["acked"][0]
    tables["events"].remove(first(tables["events"], kind="a2a_result_acked", task_id=acked))


def ignore_the_fence(tables: Tables, history: History) -> None:
    operation = next(one for one in batches(history, "lease", "posted") if not one.answer["refused"])
    operation.facts["results"][0]["lease_id"] = "an-earlier-lease"


def post_twice_with_a_lease(tables: Tables, history: History) -> None:
    request_id = batches(history, "lease", "posted")[0].request_id
    posted = first(tables["events"], kind="a2a_result_posted", request_id=request_id)
    tables["events"].append({**posted, "seq": None})


def skip_the_check_of_an_item(tables: Tables, history: History) -> None:
    request_id = batches(history, "lease", "posted")[0].request_id
    tables["events"].remove(first(tables["events"], kind="capability_check", request_id=request_id))


PLANTED: Mapping[str, tuple[Plant, str]] = {
    plant.__name__: (plant, name)
    for plant, name in [
        (take_more_under_one_attempt, "attempt_took_twice"),
        (deliver_more_under_one_attempt, "attempt_took_twice"),
        (take_in_two_steps, "attempt_took_twice"),
        (deliver_in_two_steps, "attempt_took_twice"),
        (lease_more_than_asked_for, "more_than_asked_for"),
        (answer_a_lease_twice, "lease_answered_twice"),
        (answer_a_result_twice, "result_received_twice"),
        (give_one_lease_of_a_batch_to_two, "lease_answered_twice"),
        (give_one_result_of_a_batch_to_two, "result_received_twice"),
        (leave_a_lease_out, "left_out_of_an_answer"),
        (leave_a_result_out, "left_out_of_an_answer"),
        (lease_to_nobody, "leased_to_nobody"),
        (deliver_to_nobody, "delivered_to_nobody"),
        (say_nothing_of_an_item, "item_without_outcome"),
        (say_nothing_of_a_task, "item_without_outcome"),
        (say_nothing_of_an_acknowledgement, "item_without_outcome"),
        (refuse_an_item_that_was_done, "refused_but_done"),
        (refuse_an_item_without_a_reason, "unexpected_refusal"),
        (refuse_a_task, "unexpected_refusal"),
        (refuse_an_acknowledgement, "unexpected_refusal"),
        (claim_a_refused_item, "acknowledged_result_lost"),
        (acknowledge_before_the_commit, "acknowledged_but_not_done"),
        (ignore_the_fence, "fence_ignored"),
        (post_twice_with_a_lease, "request_decided_twice"),
        (skip_the_check_of_an_item, "decision_without_its_check"),
    ]
}


@pytest.mark.parametrize("plant", PLANTED)
def test_a_planted_fault_of_a_batch_is_named(run, plant):
    plant_it, name = PLANTED[plant]

    assert name in named_with(plant_it, run)


def test_an_attempt_may_bring_what_an_earlier_request_of_it_requested(run):
    assert named_with(take_for_a_later_request, run) == set()


def test_the_run_has_batches_of_every_kind(run):
    history, _ = run
    kinds = [("lease", "leases"), ("lease", "posted"), ("post", "posted"), ("drain", "results"), ("drain", "acked")]

    assert [kind for kind in kinds if not batches(history, *kind, least=2)] == []
    assert batches(history, "lease", "refused")
