"""The evidence of a run: its history beside its rows, arranged for the rules of the checker."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from tools.proof import replayer
from tools.proof.history import History, Operation
from tools.proof.replayer import Life
from tools.proof.rows import Row, Rows
from tools.proof.world import Held, leases_of, results_of

COMPACTED = "a2a_tasks_compacted"
ERASED = "[erased, SHA-256 "  # the beginning of each text that was erased


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise. ``name`` is the promise's; ``subject`` is the id of a task, lease or request."""

    name: str
    subject: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.subject} {self.detail}".rstrip()


class Posted(NamedTuple):
    """One result that a request posted, alone or among others. ``given`` is None where the dialect has another form.

    ``is_kept``: the answer says that this result is the task's.
    """

    operation: Operation
    task_id: str
    given: Mapping[str, Any] | None
    is_kept: bool


class Evidence:
    """The history of one run, and those rows that belong to it: the tasks of its senders and their journal."""

    def __init__(self, history: History, rows: Rows) -> None:
        self.history = history
        self._rows = rows

    @cached_property
    def lives(self) -> Mapping[str, Life]:
        """The life of each task of this run, by its journal."""
        mine = f"-{self.history.seed}-"
        found = replayer.lives(self._rows.events)
        return {
            task_id: life for task_id, life in found.items() if life.sent is None or mine in sent_data(life)["sender"]
        }

    @cached_property
    def tasks(self) -> Mapping[str, Row]:
        mine = f"-{self.history.seed}-"
        return {row["uuid"]: row for row in self._rows.tasks if mine in row["sender__display"]}

    @cached_property
    def leases(self) -> Sequence[Row]:
        return [row for row in self._rows.leases if row["task__uuid"] in self.tasks]

    @cached_property
    def results(self) -> Mapping[str, Row]:
        return {row["task__uuid"]: row for row in self._rows.results if row["task__uuid"] in self.tasks}

    @cached_property
    def messages(self) -> Sequence[Row]:
        return [row for row in self._rows.messages if row["task__uuid"] in self.tasks]

    @cached_property
    def artifacts(self) -> Sequence[Row]:
        """The rows of artifacts, in the order of their numbers."""
        own = (row for row in self._rows.artifacts if row["task__uuid"] in self.tasks)
        return sorted(own, key=lambda row: (row["task__uuid"], row["seq"]))

    @cached_property
    def plan_rows(self) -> Sequence[Row]:
        return [row for row in self._rows.plan_rows if row["task_id"] in self.lives]

    @cached_property
    def deliveries(self) -> Mapping[str, Sequence[Row]]:
        found = defaultdict(list)
        for row in self._rows.deliveries:
            found[row["task_uuid"]].append(row)
        return found

    @cached_property
    def official(self) -> frozenset[str]:
        """The tasks that were sent by the official protocol, whose results are delivered by no drain."""
        requests = {task_id: life.sent["request_id"] for task_id, life in self.lives.items() if life.sent}
        mine = {one.request_id for one in self.history.of("send") if one.dialect == "official"}
        return frozenset(task_id for task_id, request_id in requests.items() if request_id in mine)

    @cached_property
    def compacted(self) -> frozenset[str]:
        return frozenset(row["task_id"] for row in self._rows.events if row["kind"] == COMPACTED)

    @cached_property
    def erased(self) -> frozenset[str]:
        """The tasks whose payload an operator erased."""
        subjects = (data_of(row)["subject"] for row in self._rows.events if row["kind"] == "a2a_erased")
        return frozenset(subject.removeprefix("task:") for subject in subjects)

    @cached_property
    def by_request(self) -> Mapping[str, Sequence[Row]]:
        """The journal rows of each request of this run."""
        found: dict[str, list[Row]] = {operation.request_id: [] for operation in self.history.operations}
        for row in self._rows.events:
            if (rows := found.get(row["request_id"])) is not None:
                rows.append(row)
        return found

    @cached_property
    def kinds(self) -> Mapping[str, frozenset[str]]:
        """The kinds of the journal rows of each task."""
        found = defaultdict(set)
        for row in self._rows.events:
            if row["seq"] is not None:
                found[row["task_id"]].add(row["kind"])
        return {task_id: frozenset(kinds) for task_id, kinds in found.items()}

    @cached_property
    def operations(self) -> Mapping[str, Operation]:
        return {operation.request_id: operation for operation in self.history.operations}

    @cached_property
    def sends(self) -> Mapping[str, Operation]:
        """The acknowledged send of each task."""
        return {task_id: sent for sent in self.history.acknowledged("send") for task_id in sent_ids(sent)}

    @cached_property
    def posts(self) -> Mapping[str, Sequence[Posted]]:
        """The posted results of each task, in order of their begin."""
        found = defaultdict(list)
        for operation in self.history.of("post", "lease"):
            for posted in _posted(operation):
                found[posted.task_id].append(posted)
        return found

    @cached_property
    def leased(self) -> Sequence[tuple[Operation, Held, int]]:
        """The (operation, lease, attempt) of each lease that a receive was answered with."""
        answered = self.history.acknowledged("lease")
        return [(one, held, attempt) for one in answered for held, attempt in leases_of(one.answer)]

    @cached_property
    def drained(self) -> Sequence[tuple[Operation, Mapping[str, Any]]]:
        """The (operation, result) of each result that a drain was answered with."""
        return [(one, result) for one in self.history.acknowledged("drain") for result in results_of(one.answer)]

    @cached_property
    def known_leases(self) -> frozenset[str]:
        """The leases that an answer named to their holder."""
        return frozenset(held.lease_id for _, held, _ in self.leased) | self._adopted("GET /a2a/leases")

    @cached_property
    def known_results(self) -> frozenset[str]:
        """The tasks whose result an answer named to their sender."""
        return frozenset(result["task_id"] for _, result in self.drained) | self._adopted("GET /a2a/results/delivered")

    @cached_property
    def stuck(self) -> frozenset[str]:
        """The leases that no worker ended, so that the load had to repair them."""
        return frozenset(note["lease_id"] for note in self.history.noted("stuck"))

    def _adopted(self, route: str) -> frozenset[str]:
        """The ids that an actor learned of from this list."""
        looks = (look for look in self.history.acknowledged("look") if look.route == route)
        return frozenset(one for look in looks for one in look.facts.get("adopted", ()))

    def is_gone(self, task_id: str) -> bool:
        """Whether the task was compacted."""
        return task_id in self.compacted and task_id not in self.tasks


def sent_ids(operation: Operation) -> Sequence[str]:
    """Return the tasks that an acknowledged send names."""
    facts = operation.facts
    return facts["task_ids"] if "task_ids" in facts else [facts["task_id"]]


def refused_items(operation: Operation) -> Mapping[int, str]:
    """Return the code of each refused item of an acknowledged batch, by its place."""
    return {item["index"]: item["code"] for item in operation.answer.get("refused", ())}


def _posted(operation: Operation) -> Iterator[Posted]:
    facts, is_done = operation.facts, operation.is_acknowledged
    if operation.verb == "post" and "results" not in facts:
        is_kept = is_done and "warning" not in operation.answer  # YEOMAN's word for a result that was not kept
        yield Posted(operation, facts["task_id"], facts.get("result"), is_kept)
    for place, given in enumerate(facts.get("results", ())):
        is_kept = is_done and place not in refused_items(operation)
        yield Posted(operation, given["task_id"], given, is_kept)


def sent_data(life: Life) -> Mapping[str, Any]:
    return data_of(life.sent) if life.sent else {}


def data_of(row: Row) -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = json.loads(row["data"])
    return loaded


def of_kind(rows: Sequence[Row], *kinds: str) -> Iterator[Row]:
    return (row for row in rows if row["kind"] in kinds)
