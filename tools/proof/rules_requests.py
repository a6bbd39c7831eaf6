"""Rules of requests: each is answered, decides once, and its answer is true."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from tools.proof.evidence import Evidence, Violation, of_kind, sent_ids
from tools.proof.history import Operation

# The journal row of the decision that each verb asks for.
DECIDES: Mapping[str, str] = {
    "send": "a2a_task_sent",
    "resend": "a2a_task_sent",
    "lease": "a2a_task_leased",
    "accept": "a2a_task_leased",
    "post": "a2a_result_posted",
    "release": "a2a_task_released",
    "cancel": "a2a_task_cancelled",
    "repair": "a2a_repair_applied",
    "ask": "a2a_task_asked",
    "say": "a2a_message_sent",
    "drain": "a2a_result_delivered",
}
CHECKED = ("a2a_task_sent", "a2a_result_posted", "a2a_repair_applied", "a2a_message_sent")
TAKES = ("lease", "accept", "drain")
# The refusals that a client may meet although it keeps its contract, by verb.
REFUSALS: Mapping[str, frozenset[str]] = {
    "post": frozenset({"lease_mismatch", "already_resolved", "result_conflict", "not_in_flight"}),
    "accept": frozenset({"lease_mismatch", "already_resolved", "not_in_flight"}),
    "release": frozenset({"lease_mismatch", "not_in_flight"}),
    "update": frozenset({"lease_mismatch", "not_in_flight"}),
    "ask": frozenset({"lease_mismatch", "not_in_flight", "not_askable"}),
    "say": frozenset({"already_resolved"}),
    "heartbeat": frozenset({"lease_mismatch", "not_in_flight"}),
    "cancel": frozenset({"already_resolved"}),
    "repair": frozenset({"lease_mismatch", "already_resolved", "not_in_flight", "duplicate_risk_mismatch"}),
}
FORGETS = (
    "read",
    "follow",
    "post",
    "accept",
    "release",
    "update",
    "ask",
    "say",
    "heartbeat",
    "cancel",
    "repair",
)  # 404 after compaction
REPEATABLE = ("send", "post", "release", "cancel", "ack", "lease", "drain", "ask", "say")


def answers(evidence: Evidence) -> Iterator[Violation]:
    """Each operation is answered. No answer is a failure of the hub, or unreadable."""
    for operation in evidence.history.operations:
        subject = f"{operation.request_id} {operation.route}"
        for tried in operation.tries:
            if tried.status is not None and tried.status >= 500 and tried.status != 503:
                yield Violation("server_error", subject, f"{tried.status} {tried.answer}"[:300])
            if tried.problem.startswith("unreadable"):
                yield Violation("unreadable_answer", subject, tried.problem)
        if operation.ended_at is None:
            yield Violation("never_answered", subject, f"{len(operation.tries)} tries")


def refusals(evidence: Evidence) -> Iterator[Violation]:
    """A client that keeps its contract is refused only where another decision came first."""
    for operation in evidence.history.operations:
        if operation.is_acknowledged and operation.verb == "ack" and operation.answer.get("unknown"):
            yield Violation("unexpected_refusal", operation.request_id, f"unknown: {operation.answer['unknown']}")
        if operation.status is None or operation.is_acknowledged:
            continue
        subject, rows = f"{operation.request_id} {operation.route}", evidence.by_request[operation.request_id]
        done = [
            *of_kind(
                rows, DECIDES.get(operation.verb, ""), *(("a2a_result_acked",) if "acked" in operation.facts else ())
            )
        ]
        was_forgotten = _was_forgotten(evidence, operation)
        if done and operation.verb in REPEATABLE and not (was_forgotten and operation.verb != "post"):
            yield Violation("refused_but_done", subject, f"{operation.status} {operation.answer}"[:300])
        elif not was_forgotten and not _is_expected(operation):
            yield Violation("unexpected_refusal", subject, f"{operation.status} {operation.answer}"[:300])


def _was_forgotten(evidence: Evidence, operation: Operation) -> bool:
    """Whether the task of the operation was compacted or erased before its answer."""
    if operation.dialect == "official" and operation.verb == "send":  # a key stays, and names no task any more
        made = {row["task_id"] for row in of_kind(evidence.by_request[operation.request_id], DECIDES["send"])}
        made |= {operation.facts["task"]["id"]} if "task" in operation.facts else set()
        return operation.status == 400 and any(map(evidence.is_gone, made))
    task_id = operation.facts.get("task_id", "")
    if operation.verb == "resend":  # the hub cannot compare it with an erased task
        return operation.status == 409 and task_id in evidence.erased
    return operation.status == 404 and operation.verb in FORGETS and evidence.is_gone(task_id)


def _is_expected(operation: Operation) -> bool:
    answer = operation.answer or {}  # of a stream only the events are kept
    if operation.dialect == "official":
        reasons = {one["reason"] for one in answer.get("error", {}).get("details", ())}
        return operation.verb == "cancel" and "TASK_NOT_CANCELABLE" in reasons
    if operation.dialect == "yeoman":  # its refusals have no codes
        return operation.status == 409 and operation.verb in ("cancel", "post")
    return answer.get("code") in REFUSALS.get(operation.verb, ())


def decisions(evidence: Evidence) -> Iterator[Violation]:
    """A request decides once, however often it was delivered, and each decision has its check of a capability."""
    for request_id, rows in evidence.by_request.items():
        operation = evidence.operations[request_id]
        kind = DECIDES.get(operation.verb)
        if kind is None:
            continue
        count, most = len([*of_kind(rows, kind)]), operation.facts.get("decisions", 1)
        if count > most and operation.facts.get("repeatable", True):
            yield Violation(
                "attempt_took_twice" if operation.verb in TAKES else "request_decided_twice",
                f"{request_id} {operation.route}",
                f"{count} rows {kind}, faults {operation.faults}",
            )
        if operation.verb in ("send", "post", "repair", "say"):
            checks, checked = len([*of_kind(rows, "capability_check")]), len([*of_kind(rows, *CHECKED)])
            if checks != checked:
                yield Violation("decision_without_its_check", request_id, f"{checks} checks, {checked} decisions")


def attempts(evidence: Evidence) -> Iterator[Violation]:
    """One attempt id takes once. A later take under the same id gets no task."""
    taken = Counter(
        (row["holder__display"], row["receive_attempt_id"], row["receive_index"])
        for row in evidence.leases
        if row["receive_attempt_id"]
    )
    taken.update(
        (row["sender__display"], row["receive_attempt_id"], row["receive_index"])
        for row in evidence.results.values()
        if row["receive_attempt_id"]
    )
    for (party, attempt, _), count in taken.items():
        if count > 1:
            yield Violation("attempt_took_twice", attempt, f"{party} took {count} times under it")
    moments = defaultdict(set)
    for row in evidence.leases:
        moments["lease", row["holder__display"], row["receive_attempt_id"]].add(row["leased_at"])
    for row in evidence.results.values():
        moments["result", row["sender__display"], row["receive_attempt_id"]].add(row["delivered_at"])
    for (_, party, attempt), found in moments.items():
        if attempt and len(found) > 1:
            yield Violation("attempt_took_twice", attempt, f"{party} took at {len(found)} moments under it")


def acknowledgements(evidence: Evidence) -> Iterator[Violation]:
    """Each acknowledged decision has its journal row."""
    for operation in evidence.history.acknowledged("release", "cancel", "repair", "ask", "say", "ack", "drain"):
        for task_id, done in _promised(operation):
            if done not in evidence.kinds.get(task_id, ()):
                yield Violation("acknowledged_but_not_done", task_id, f"{operation.request_id} has no row {done}")


def _promised(operation: Operation) -> Iterator[tuple[str, str]]:
    if operation.verb in ("ack", "drain"):
        yield from ((task_id, "a2a_result_acked") for task_id in operation.facts.get("acked", ()))
    else:
        yield operation.facts["task_id"], DECIDES[operation.verb]


def sends(evidence: Evidence) -> Iterator[Violation]:
    """Each acknowledged task is in the table or was compacted, and is in the journal. No other task was made."""
    for task_id, sent in evidence.sends.items():
        wanted = sent.facts.get("task", {}).get("id", task_id)
        if task_id != wanted:
            yield Violation("answer_names_another_task", task_id, f"{sent.request_id} sent {wanted}")
        if task_id not in evidence.tasks and task_id not in evidence.compacted:
            yield Violation("acknowledged_task_lost", task_id, sent.request_id)
        if task_id not in evidence.lives or evidence.lives[task_id].sent is None:
            yield Violation("task_not_journalled", task_id, sent.request_id)
    for task_id in evidence.tasks.keys() - evidence.lives.keys() - evidence.sends.keys():
        yield Violation("task_not_journalled", task_id)
    for task_id, life in evidence.lives.items():
        by = evidence.operations.get(life.sent["request_id"]) if life.sent else None
        if by is None or by.verb != "send" or not _may_make(by, task_id):
            yield Violation("unexpected_task", task_id, f"by {by.request_id if by else 'no request of this run'}")


def _may_make(sent: Operation, task_id: str) -> bool:
    """Whether the send may have made this task. A send without an id of its own may make one for each try."""
    if not sent.facts.get("repeatable", True):
        return True
    if (wanted := sent.facts.get("task", {}).get("id")) is not None:
        return bool(task_id == wanted)
    return not sent.is_acknowledged or task_id in sent_ids(sent)
