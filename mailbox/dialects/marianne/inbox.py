"""Marianne's inbox over the mailbox, in process and with no set-up, and the tasks of exported inboxes.

Source: Marianne, ``A2AInbox`` and its ``from_dict``.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self
from uuid import UUID

from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.database import paging
from mailbox.database.paging import Page
from mailbox.dialects.marianne import wire
from mailbox.dialects.marianne.values import A2ATask, A2ATaskStatus
from mailbox.inspection import answers, inboxes
from mailbox.life import expiry, leasing, results, sending
from mailbox.models import Agent, Task
from mailbox.upkeep import imports
from mailbox.upkeep.imports import Kept
from mailbox.words import errors, json_text, names, shapes
from mailbox.words.envelopes import ResultEnvelope, ResultStatus

MOST_IN_CONTEXT, CONTEXT_BYTES = 1000, paging.BUDGET // 4  # Markdown of a text takes more bytes than the text
MOST_IN_EXPORT = 1000
_ENDED = {A2ATaskStatus.COMPLETED: ResultStatus.OK, A2ATaskStatus.FAILED: ResultStatus.ERROR}


class A2AInbox:
    """The tasks addressed to one agent, from every dialect, on local trust.

    The inbox is the agent's, and its tasks wait while the agent does not run. ``job_id`` is the agent's current job.
    The methods return copies.
    """

    def __init__(self, job_id: str, agent_name: str) -> None:
        """Open the inbox of the agent of this name, which may be any text. A new name is registered as an agent.

        Raises ValueError for an empty job id or name. Raises `InvalidRequestError` for a job id or name that is not
        text, and for a name that cannot be stored.
        """
        _require_names(job_id, agent_name)
        self.job_id = job_id
        self.agent_name = agent_name
        self._owner = _agent(agent_name)
        self._caller = Caller.local(self._owner)

    def submit_task(
        self, source_job_id: str, source_agent: str, description: str, context: dict[str, Any] | None = None
    ) -> A2ATask:
        """Send a task from ``source_agent`` to the owner.

        A blank description, a value that is not text, or a context that has no JSON form raises `InvalidRequestError`.
        """
        shapes.require(str, source_agent=source_agent)
        task = wire.envelope(
            self._owner.display, description, source_job_id=source_job_id, context=wire.plain("context", context)
        )
        return render(sending.send_task(Caller.local(_agent(source_agent)), task))

    def get_task(self, task_id: str) -> A2ATask | None:
        """Return a copy of one task of this inbox; None without such a task."""
        try:
            return task_in(self._caller, self._owner, _uuid(task_id))
        except errors.UnknownTaskError:
            return None

    def get_pending_tasks(self) -> list[A2ATask]:
        """Return the tasks in pending status, in the order they were sent.

        `mark_accepted` refuses a pending task while the agent is paused, or while another task does the same work.
        """
        return pending(self._caller, self._owner)

    def mark_accepted(self, task_id: str) -> bool:
        """Lease a pending task for the owner; False if it is not pending here, or must wait."""
        try:
            leasing.lease_task(self._caller, _uuid(task_id))
        except (errors.AlreadyResolvedError, errors.NotInFlightError, errors.UnknownTaskError):
            return False
        return True

    def complete_task(self, task_id: str, artifacts: dict[str, Any] | None = None) -> bool:
        """Post an ok result, and lease a pending task first; False if it is done, unknown or must wait."""
        return self._finish(task_id, ResultStatus.OK, artifacts=wire.plain("artifacts", artifacts))

    def fail_task(self, task_id: str, reason: str) -> bool:
        """Post an error result, and lease a pending task first; False if it is done, unknown or must wait."""
        return self._finish(task_id, ResultStatus.ERROR, reason=reason)

    def render_pending_context(self) -> str:
        """Return the pending tasks that can be accepted now as Markdown, as `context` does. It accepts nothing."""
        return context(self._caller, self._owner)

    @property
    def task_count(self) -> int:
        return counts(self._caller, self._owner)["task_count"]

    @property
    def pending_count(self) -> int:
        return counts(self._caller, self._owner)["pending_count"]

    def to_dict(self) -> dict[str, Any]:
        """Return the whole inbox as plain JSON values."""
        whole = export(self._caller, self._owner, job_id=self.job_id)
        while cursor := whole.pop("next_cursor", None):
            further = export(self._caller, self._owner, job_id=self.job_id, cursor=cursor)
            whole |= {**further, "tasks": {**whole["tasks"], **further["tasks"]}}
        return whole

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Open the inbox of ``data``, and import the tasks that the hub does not know: all of them or none.

        Raises KeyError without ``job_id`` or ``agent_name``, pydantic's ValidationError for a malformed task, and the
        errors of `imports.import_tasks`. Raises `InvalidRequestError` for ``data`` or ``tasks`` that are no mapping.
        A task that the hub knows stays as it is.
        """
        shapes.require(Mapping, data=data)
        job_id, name = data["job_id"], data["agent_name"]
        by_id = data.get("tasks", {})
        shapes.require(Mapping, tasks=by_id)
        tasks = [A2ATask.model_validate(raw) for raw in by_id.values()]
        _require_names(job_id, name)
        owner = registration.address_of(name)
        imports.import_tasks(Caller.local(), owner, kept_tasks(owner, tasks, agent_name=name))
        return cls(job_id, name)

    def _finish(
        self,
        task_id: str,
        status: ResultStatus,
        *,
        artifacts: Mapping[str, Any] | None = None,
        reason: str | None = None,
    ) -> bool:
        posted = ResultEnvelope(
            task_id=_uuid(task_id), status=status, content=wire.blocks(artifacts or {}), error_message=reason
        )
        shown = self.get_task(task_id)
        if shown is None or shown.status in (A2ATaskStatus.COMPLETED, A2ATaskStatus.FAILED):
            return False
        try:
            results.post_result(self._caller, posted, lease_first=True)
        except (
            errors.AlreadyResolvedError,
            errors.NotInFlightError,
            errors.ResultConflictError,
            errors.UnknownTaskError,
        ):
            return False
        return True


def tasks_in(
    caller: Caller,
    owner: Agent,
    *,
    status: A2ATaskStatus | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> Page[A2ATask]:
    """Return a page of the inbox of ``owner``, oldest first: the tasks that the caller may see.

    A task past its deadline or work timeout is resolved as expired before it is shown.
    """
    expiry.make_inbox_current(caller, owner)
    states, outcomes = wire.meant_by(status) if status else ((), ())
    page = inboxes.tasks_to(caller, owner, states=states, outcomes=outcomes, limit=limit, cursor=cursor)
    results = [task.result_or_none for task in page.items]
    whole = answers.whole(result for result in results if result is not None)
    rendered = [
        wire.task(task, result, None if result is None else whole[result.pk])
        for task, result in zip(page.items, results, strict=True)
    ]
    return Page(rendered, page.next_cursor)


def task_in(caller: Caller, owner: Agent, task_id: UUID) -> A2ATask:
    """Return one task of an inbox. Raises the same `UnknownTaskError` for an absent task and for another inbox's."""
    task = expiry.current(caller, task_id)
    if task.recipient != owner:
        raise errors.UnknownTaskError.of(task_id)
    return render(task)


def pending(caller: Caller, owner: Agent) -> list[A2ATask]:
    """Return the tasks of an inbox in pending status, in the order they were sent."""
    return [wire.task(task, None, None) for task in inboxes.pending(caller, owner)]


def context(caller: Caller, owner: Agent) -> str:
    """Return the pending tasks that the agent could accept now as Markdown, in the order they were sent.

    It is empty without such a task. It has at most `MOST_IN_CONTEXT` tasks of `CONTEXT_BYTES` together, but always the
    first. If it leaves out tasks, it says how many there are.
    """
    page = inboxes.leasable(caller, owner, limit=MOST_IN_CONTEXT, budget=CONTEXT_BYTES)
    tasks = [wire.task(task, None, None) for task in page.items]
    total = len(tasks) if page.next_cursor is None else inboxes.counts(caller, owner).leasable
    return wire.pending_context(tasks, total)


def counts(caller: Caller, owner: Agent) -> dict[str, int]:
    counted = inboxes.counts(caller, owner)
    return {"task_count": counted.tasks, "pending_count": counted.pending}


def export(caller: Caller, owner: Agent, *, job_id: str, cursor: str | None = None) -> dict[str, Any]:
    """Return a page of the inbox as plain JSON values, as `A2AInbox.from_dict` reads it.

    Only if more tasks follow, it has their ``next_cursor`` too. A task past its deadline or work timeout is resolved as
    expired before it is exported.
    """
    page = tasks_in(caller, owner, limit=MOST_IN_EXPORT, cursor=cursor)
    exported = {
        "job_id": job_id,
        "agent_name": names.name_of(owner.display),
        "tasks": {task.task_id: task.model_dump(mode="json") for task in page.items},
    }
    return exported if page.next_cursor is None else {**exported, "next_cursor": page.next_cursor}


def _require_names(job_id: str, agent_name: str) -> None:
    shapes.require(str, job_id=job_id, agent_name=agent_name)
    for name, value in (("job_id", job_id), ("agent_name", agent_name)):
        if not value:
            raise ValueError(f"{name} must not be empty")


def _agent(name: str) -> Agent:
    return registration.ensure_named(Caller.local(), name)


def render(row: Task) -> A2ATask:
    """Return a task as an inbox shows it, with the result of its row."""
    result = row.result_or_none
    return wire.task(row, result, None if result is None else answers.whole_of(result))


def _uuid(task_id: str) -> UUID:
    try:
        return UUID(str(task_id))
    except ValueError:
        return UUID(int=0)


def kept_tasks(owner: str, tasks: Sequence[A2ATask], *, agent_name: str) -> list[Kept]:
    """Return the tasks of an export for `imports.import_tasks`; ``owner`` is the display of the inbox's agent.

    Raises `InvalidRequestError`, which names each task of another inbox and each task without a UUID.
    """
    problems = dict(_problems_of_export(owner, tasks, agent_name))
    if problems:
        raise errors.InvalidRequestError(problems)
    addresses = _senders(owner, tasks)
    return [_kept(owner, addresses[task.source_agent], task) for task in tasks]


def _problems_of_export(owner: str, tasks: Sequence[A2ATask], agent_name: str) -> Iterator[tuple[str, str]]:
    own = (owner, names.name_of(owner))
    if agent_name not in own:
        yield "agent_name", f"{agent_name[:100]!r} is not the agent of this inbox"
    for task in tasks:
        path = f"tasks.{task.task_id[:100]}"
        if task.target_agent not in own:
            yield f"{path}.target_agent", f"{task.target_agent[:100]!r} is not the agent of this inbox"
        try:
            UUID(task.task_id)
        except ValueError:
            yield f"{path}.task_id", "not a UUID"
        if problem := json_text.problem_with(task.source_agent):
            yield f"{path}.source_agent", problem


def _senders(owner: str, tasks: Sequence[A2ATask]) -> dict[str, str]:
    """Return the display of each sender by its name. Displays that differ only in case become different displays."""
    taken = {owner.lower(): owner}
    addresses = {}
    for name in dict.fromkeys(task.source_agent for task in tasks):
        display = registration.address_of(name)
        is_its_own = taken.setdefault(display.lower(), display) == display
        addresses[name] = display if is_its_own else names.spelled(name)
    return addresses


def _kept(owner: str, sender: str, task: A2ATask) -> Kept:
    task_id = UUID(task.task_id)
    result = None
    if (ended := _ENDED.get(task.status)) is not None:
        content = wire.blocks(task.artifacts)
        result = ResultEnvelope(task_id=task_id, status=ended, content=content, error_message=task.failure_reason)
    return Kept(
        task=wire.envelope(
            owner, task.description, source_job_id=task.source_job_id, context=task.context, task_id=task_id
        ),
        sender=sender,
        leased=task.status is A2ATaskStatus.ACCEPTED,
        result=result,
    )
