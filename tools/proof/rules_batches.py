"""Rules of batches: each item has its own outcome, which is true, and a receive of several takes them at once."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from tools.proof.evidence import Evidence, Violation, of_kind, refused_items
from tools.proof.history import Operation
from tools.proof.rules_requests import DECIDES, REFUSALS
from tools.proof.world import leases_of, results_of


def items(evidence: Evidence) -> Iterator[Violation]:
    """Each item of an answered batch is either done or refused, and the answer keeps the order of the batch."""
    for operation in evidence.history.acknowledged("send", "post", "lease", "drain"):
        if (given := _given(operation)) is None:
            continue
        answer = operation.answer
        if operation.verb == "drain":
            done, rest = answer["acked"], [one for one in given if one not in answer["unknown"]]
            for task_id in answer["unknown"]:
                yield Violation("unexpected_refusal", operation.request_id, f"unknown: {task_id}")
        else:
            refused = refused_items(operation)
            done, rest = answer["posted"], [one for place, one in enumerate(given) if place not in refused]
            yield from _refusals(evidence, operation, given)
        if done != rest:
            yield Violation("item_without_outcome", operation.request_id, f"done: {done}, not refused: {rest}"[:300])


def _given(operation: Operation) -> Sequence[str] | None:
    """Return the tasks that the items of a batch name; None for a request of one item."""
    facts = operation.facts
    if operation.verb == "drain":
        return facts["acked"] if "most" in facts else None
    found = [item["id" if "tasks" in facts else "task_id"] for item in facts.get("results", facts.get("tasks", ()))]
    return found if found or "most" in facts else None


def _refusals(evidence: Evidence, operation: Operation, given: Sequence[str]) -> Iterator[Violation]:
    """An item is refused only where another decision came first, and nothing of it is done then."""
    kind = DECIDES["send" if operation.verb == "send" else "post"]
    done = {row["task_id"] for row in of_kind(evidence.by_request[operation.request_id], kind)}
    expected = REFUSALS["post"] if operation.verb != "send" else frozenset()
    for place, code in refused_items(operation).items():
        task_id = given[place]
        subject, detail = f"{operation.request_id} item {place}", f"{task_id} {code}"
        if task_id in done and task_id not in operation.answer["posted"]:
            yield Violation("refused_but_done", subject, detail)
        elif code not in expected and not (code == "unknown_task" and evidence.is_gone(task_id)):
            yield Violation("unexpected_refusal", subject, detail)


def posted_with_a_lease(evidence: Evidence) -> Iterator[Violation]:
    """Results that come with a receive are decided once, each with its check of a capability."""
    for operation in evidence.history.of("post", "lease"):
        if "results" not in operation.facts:
            continue
        rows = evidence.by_request[operation.request_id]
        posted = Counter(row["task_id"] for row in of_kind(rows, DECIDES["post"]))
        for task_id, count in posted.items():
            if count > 1:
                yield Violation("request_decided_twice", operation.request_id, f"{count} results of {task_id}")
        checks = len([*of_kind(rows, "capability_check")])
        if operation.verb == "lease" and checks != posted.total():
            yield Violation("decision_without_its_check", operation.request_id, f"{checks} checks, {posted}")


def receives(evidence: Evidence) -> Iterator[Violation]:
    """A receive takes at one moment. Its answer has at most as many items as requested, and each item once.

    An earlier request of the same attempt may have taken what this one is answered with, and have requested more.
    """
    several = [one for one in evidence.history.of("lease", "drain") if "most" in one.facts]
    requested: dict[tuple[str, str, str], int] = defaultdict(int)
    for operation in several:
        requested[_attempt(operation)] = max(requested[_attempt(operation)], operation.facts["most"])
    for operation in several:
        rows = of_kind(evidence.by_request[operation.request_id], DECIDES[operation.verb])
        if len(moments := {row["at"] for row in rows}) > 1:
            subject = f"{operation.request_id} {operation.route}"
            yield Violation("attempt_took_twice", subject, f"at {len(moments)} moments, faults {operation.faults}")
        ids = _taken(operation) if operation.is_acknowledged else []
        if len(ids) > (most := requested[_attempt(operation)]):
            yield Violation("more_than_asked_for", operation.request_id, f"{len(ids)} of {most}")
        if len(ids) > len(set(ids)):
            yield Violation(
                "lease_answered_twice" if operation.verb == "lease" else "result_received_twice",
                operation.request_id,
                str(ids),
            )


def whole_answers(evidence: Evidence) -> Iterator[Violation]:
    """A receive that was answered with some leases or results was answered with all that its attempt had.

    A lease that a later look found was live before, and a result was not acknowledged. So the answer had to name it.
    """
    answered: dict[tuple[str, str, str], tuple[float, set[str]]] = {}
    for operation in evidence.history.acknowledged("lease", "drain"):
        if (ids := set(_taken(operation))) and operation.facts.get("attempt_id"):
            answered[_attempt(operation)] = operation.ended_at or 0.0, ids
    attempts = {("lease", row["lease_id"]): row["receive_attempt_id"] for row in evidence.leases}
    attempts |= {("drain", task_id): row["receive_attempt_id"] for task_id, row in evidence.results.items()}
    for look in evidence.history.acknowledged("look"):
        verb = "lease" if look.route == "GET /a2a/leases" else "drain"
        for one in look.facts.get("adopted", ()):
            ended_at, ids = answered.get((verb, look.actor, attempts.get((verb, one), "")), (look.began_at, {one}))
            if ended_at < look.began_at and one not in ids:
                yield Violation("left_out_of_an_answer", one, f"{look.request_id} found it")


def _attempt(operation: Operation) -> tuple[str, str, str]:
    """Return the verb, the agent and the id of an attempt. Without an id, a request is an attempt of its own."""
    return operation.verb, operation.actor, operation.facts["attempt_id"] or operation.request_id


def _taken(operation: Operation) -> list[str]:
    """Return the leases, or the tasks of the results, of an answer to a receive."""
    if operation.verb == "lease":
        return [held.lease_id for held, _ in leases_of(operation.answer)]
    return [result["task_id"] for result in results_of(operation.answer)]
