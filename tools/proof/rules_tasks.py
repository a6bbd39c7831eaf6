"""Rules of tasks and leases: the tables are what the journal tells, and each lease is known to its holder."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from tools.proof.evidence import Evidence, Violation, data_of, of_kind
from tools.proof.rows import Row

# The outcomes that other dialects show by one word.
ENDS: Mapping[str, set[str]] = {
    "completed": {"ok", "partial"},
    "failed": {"error", "rejected", "expired", "cancelled"},
    "cancelled": {"cancelled"},
    "TASK_STATE_COMPLETED": {"ok", "partial"},
    "TASK_STATE_FAILED": {"error", "expired"},
    "TASK_STATE_CANCELED": {"cancelled"},
    "TASK_STATE_REJECTED": {"rejected"},
}


def journal(evidence: Evidence) -> Iterator[Violation]:
    """The rows of a task are numbered from 1 without gaps, and each follows from those before it."""
    for task_id, life in evidence.lives.items():
        for problem in life.problems:
            yield Violation(
                "journal_gap" if problem.startswith("gap") else "journal_contradicts_itself", task_id, problem
            )


def states(evidence: Evidence) -> Iterator[Violation]:
    """The journal leads to the state of the table."""
    for task_id, row in evidence.tasks.items():
        if (life := evidence.lives.get(task_id)) is None:
            continue
        replayed = (life.state, life.outcome, life.attempt, life.seq)
        if replayed != (row["state"], row["outcome"], row["attempt"], row["journal_seq"]):
            detail = f"the journal leads to {replayed}, the table has {row['state']} {row['outcome']} {row['attempt']}"
            yield Violation("table_differs_from_journal", task_id, f"{detail} {row['journal_seq']}")


def lease_rows(evidence: Evidence) -> Iterator[Violation]:
    """Each lease of the table is journalled with its begin and its end, and each of the journal is in the table."""
    by_task: dict[str, list[Row]] = defaultdict(list)
    for row in evidence.leases:
        by_task[row["task__uuid"]].append(row)
    for task_id, task in evidence.tasks.items():
        rows, life = by_task[task_id], evidence.lives.get(task_id)
        if life is not None and {row["lease_id"]: row["end"] for row in rows} != life.ends:
            detail = f"the journal has {life.ends}, the table {[(row['lease_id'], row['end']) for row in rows]}"
            yield Violation("lease_differs_from_journal", task_id, detail)
        yield from _leases_of(task, sorted(rows, key=lambda row: int(row["attempt"])))


def _leases_of(task: Row, rows: list[Row]) -> Iterator[Violation]:
    """The attempts of a task are numbered from 1, and a task in flight has one live lease."""
    task_id, live = task["uuid"], [row for row in rows if row["ended_at"] is None]
    if [row["attempt"] for row in rows] != list(range(1, len(rows) + 1)):
        yield Violation("attempts_not_counted", task_id, str([row["attempt"] for row in rows]))
    if len(live) > 1:
        yield Violation("two_live_leases", task_id, str([row["lease_id"] for row in live]))
    if (task["state"] == "in_flight") != bool(live):
        yield Violation("state_without_its_lease", task_id, f"{task['state']} with {len(live)} live leases")


def lease_answers(evidence: Evidence) -> Iterator[Violation]:
    """An answered lease is the journal's, and no other receive was answered with it."""
    answered: dict[str, str] = {}
    for operation, held, attempt in evidence.leased:
        life = evidence.lives.get(held.task_id)
        if life is None or life.attempts.get(held.lease_id) != attempt:
            yield Violation("lease_answer_is_false", held.lease_id, f"task {held.task_id}, attempt {attempt}")
        elif life.sent is not None and data_of(life.sent)["recipient"] != operation.actor:
            yield Violation("leased_to_another", held.task_id, f"{operation.actor} got it by {operation.request_id}")
        first = answered.setdefault(held.lease_id, operation.request_id)
        if first != operation.request_id:
            yield Violation("lease_answered_twice", held.lease_id, f"to {first} and {operation.request_id}")
    for operation in evidence.history.of("lease", "accept"):
        for row in of_kind(evidence.by_request[operation.request_id], "a2a_task_leased"):
            lease_id, life = data_of(row)["lease_id"], evidence.lives.get(row["task_id"])
            is_left = life is None or life.ends.get(lease_id) is None or lease_id in evidence.stuck
            if is_left and lease_id not in evidence.known_leases and operation.ended_at is not None:
                yield Violation("leased_to_nobody", lease_id, f"{operation.request_id} took it, {operation.faults}")


def leaders(evidence: Evidence) -> Iterator[Violation]:
    """Of the tasks that ask for the same work, one at a time is leased."""
    spans: dict[tuple[str, ...], list[tuple[int, float, str]]] = defaultdict(list)
    for task_id, life in evidence.lives.items():
        key = _same_work(evidence, task_id)
        if key is not None:
            spans[key] += [(*span, task_id) for span in life.spans.values()]
    for found in spans.values():
        found.sort()
        for (_, ended, first), (began, _, second) in pairwise(found):
            if began < ended and first != second:
                yield Violation("two_leaders", second, f"it was leased beside {first}")


def _same_work(evidence: Evidence, task_id: str) -> tuple[str, ...] | None:
    """Return what tasks with the same work have in common; None for a task that may run beside any other."""
    sent = evidence.sends.get(task_id)
    task: Mapping[str, object] = sent.facts.get("task", {}) if sent else {}
    given = task.get("idempotency")
    if sent is None or not isinstance(given, dict) or given["duplicate_safety"] != "idempotent":
        return None
    return sent.actor, str(task["recipient"]), str(task.get("task_kind") or task["intent_text"]), given["key"]


def replays(evidence: Evidence) -> Iterator[Violation]:
    """A cached result answers only a task for the same work, of the same sender and recipient, and is the source's."""
    for task_id, life in evidence.lives.items():
        if life.result is None or life.result["kind"] != "a2a_result_replayed":
            continue
        source = data_of(life.result)["source_task_id"]
        mine, its = _same_work(evidence, task_id), _same_work(evidence, source)
        if task_id in evidence.sends and source in evidence.sends and (mine is None or mine != its):
            yield Violation("replay_of_other_work", task_id, f"{mine} got the result of {source}: {its}")
        row, original = evidence.results.get(task_id), evidence.results.get(source)
        if {task_id, source} & evidence.erased:
            continue
        if row and original and (row["status"], row["content"]) != (original["status"], original["content"]):
            yield Violation("replay_differs", task_id, f"from {source}")


def requeues(evidence: Evidence) -> Iterator[Violation]:
    """The retry gate requeues only tasks that may be done twice."""
    for task_id, life in evidence.lives.items():
        if "auto_requeue" in life.ends.values() and task_id in evidence.sends and _same_work(evidence, task_id) is None:
            yield Violation("unsafe_task_requeued", task_id)


def plans(evidence: Evidence) -> Iterator[Violation]:
    """Each lease that a plan repaired has the journal row of that plan, and each such row is of a repaired lease."""
    for row in evidence.plan_rows:
        life = evidence.lives[row["task_id"]]
        ended_by = life.ended_by.get(row["lease_id"])
        by_plan = ended_by is not None and ended_by["request_id"] == f"plan:{row['plan_id']}"
        if by_plan != (row["outcome"] == "done"):
            yield Violation("plan_differs_from_journal", row["lease_id"], f"plan {row['plan_id']}: {row['outcome']}")


def expiries(evidence: Evidence) -> Iterator[Violation]:
    """A task expires only at its deadline or its work timeout, and no lease ends by itself."""
    for task_id, life in evidence.lives.items():
        if life.outcome != "expired" or life.result is None or (sent := evidence.sends.get(task_id)) is None:
            continue
        deadline = data_of(life.result).get("deadline_ms")
        has_timeout = sent.dialect == "corvid"
        if not has_timeout and (deadline is None or deadline != sent.facts.get("task", {}).get("deadline_ms")):
            yield Violation("expired_without_a_limit", task_id, str(data_of(life.result)))


def reads(evidence: Evidence) -> Iterator[Violation]:
    """A task that an answer showed as ended ended so: no dialect shows an end that changes later."""
    for read in evidence.history.acknowledged("read"):
        task_id, answer = read.facts["task_id"], read.answer
        if read.dialect == "mailbox":
            outcome = answer["entry"]["outcome"]
            ends = {outcome} if outcome else None
        elif read.dialect == "official":
            ends = ENDS.get(answer["status"]["state"])
        else:
            ends = ENDS.get(answer["state" if read.dialect == "corvid" else "status"])
        life = evidence.lives.get(task_id)
        if ends is not None and (life is None or life.outcome not in ends):
            yield Violation("end_changed", task_id, f"{read.request_id} showed {ends}, it is {life and life.outcome}")


def leftovers(evidence: Evidence) -> Iterator[Violation]:
    """After the drain each task is resolved, and none waits on another."""
    for note in evidence.history.noted("not_drained"):
        yield Violation("not_drained", "", str(note["left"])[:300])
    for task_id, row in evidence.tasks.items():
        if row["waits_on__uuid"] is not None:
            yield Violation("waiter_left", task_id, f"on {row['waits_on__uuid']}")
        elif row["state"] != "resolved":
            yield Violation("task_left_unresolved", task_id, row["state"])
