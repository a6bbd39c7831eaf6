"""The verbs of batches: send, lease, post and drain many at once, each item with its own outcome.

An item is decided as the single verb of `sending`, `leasing` and `results` decides it, with the same rows and errors.
`mailbox.life.fast_path.batches` handles the plain items that follow each other in one commit. The single verb decides
each other item, in a commit of its own, in the order of the batch. Repeated sends are recognised together.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Generic, TypeVar
from uuid import UUID

from django.db.models.functions import Length
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.access.limits import quotas, waits
from mailbox.life import leasing, results, sending
from mailbox.life.fast_path import plain
from mailbox.life.fast_path.batches import sends, work
from mailbox.life.fast_path.batches.work import Worked
from mailbox.life.results import Acknowledgement
from mailbox.models import Agent, Lease, Result, Task
from mailbox.words.envelopes import ResultEnvelope, TaskEnvelope
from mailbox.words.errors import InvalidRequestError, MailboxError, UnauthenticatedError, UnknownTaskError

# An earlier task is compared here if its payload is at most so many times that of the envelope. JSON text of the same
# metadata differs in length if another version wrote it.
MOST_TIMES = 2
MOST_SENT, MOST_LEASED, MOST_POSTED, MOST_DRAINED, MOST_ACKED = 500, 100, 100, 100, 100
Row = TypeVar("Row", Task, Result)


def earlier_tasks(caller: Caller, envelopes: Sequence[TaskEnvelope]) -> list[Task | None]:
    """Return for each envelope the earlier task that it repeats, None if it repeats none or is not plain.

    `sending.send_task` returns the same task, with the same mark, and journals nothing either. A task that may have run
    out of time counts as not plain. The content of a result is read when it is first used. Two queries, without a lock.
    """
    sender = caller.agent
    task_ids = [envelope.id if _is_valid(envelope) else None for envelope in envelopes]
    sizes = {task_id: envelope.size for task_id, envelope in zip(task_ids, envelopes, strict=True) if task_id}
    if sender is None or not sizes:
        return [None] * len(envelopes)
    earlier = _earlier(sender, sizes)
    return [
        task if task_id and (task := earlier.get(task_id)) and _is_repeated(task, envelope, sender) else None
        for task_id, envelope in zip(task_ids, envelopes, strict=True)
    ]


def without_content(task: Task) -> Task:
    """Return the task with the content of its result left out, which is read again when it is next used."""
    result = task.result_or_none
    if result is not None and result.pk is not None:
        for name in ("content", "error_message"):
            result.__dict__.pop(name, None)
    return task


def _earlier(sender: Agent, sizes: dict[UUID, int]) -> dict[UUID, Task]:
    """Return the tasks of these ids that the sender sent, without those that are far larger than given."""
    sent = Task.objects.filter(uuid__in=sizes, sender=sender, calls_back=False)
    stored = sent.values_list("pk", "uuid", Length("intent_text") + Length("metadata"))
    fitting = [pk for pk, task_id, size in stored if size <= MOST_TIMES * sizes[task_id]]
    if not fitting:
        return {}
    tasks = Task.objects.whole().defer("result__content", "result__error_message").filter(pk__in=fitting)
    for task in tasks:
        task.was_sent_before = True
    return {task.uuid: task for task in tasks}


def _is_valid(envelope: TaskEnvelope) -> bool:
    try:
        envelope.check()
    except InvalidRequestError:
        return False
    return True


def _is_repeated(task: Task, envelope: TaskEnvelope, sender: Agent) -> bool:
    named, recipient = envelope.recipient, task.recipient
    if named.display != recipient.display or named.pubkey not in (None, recipient.pubkey):
        return False
    may_be_due = task.state != Task.State.RESOLVED and (task.deadline_ms is not None or task.work_timeout is not None)
    if may_be_due or not plain.is_plain(envelope, sender):
        return False
    return task.says(Task.from_envelope(envelope, sender=sender, recipient=recipient, now=timezone.now()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """One item that was refused: its place in the batch from 0, its task's id if it names one, and the error."""

    place: int
    task_id: UUID | None
    error: MailboxError


@dataclass(frozen=True, slots=True)
class Outcomes(Generic[Row]):
    """The outcomes of a batch, in the order of its items.

    ``named`` holds the task id that each item names, None for a task whose id the hub chooses. ``of_each`` holds what
    the single verb returns for the item, or the error that it raises.
    """

    named: Sequence[UUID | None] = ()
    of_each: Sequence[Row | MailboxError] = ()

    @property
    def posted(self) -> list[Row]:
        return [outcome for outcome in self.of_each if not isinstance(outcome, MailboxError)]

    @property
    def refused(self) -> list[Refused]:
        both = enumerate(zip(self.named, self.of_each, strict=True))
        return [
            Refused(place=place, task_id=task_id, error=outcome)
            for place, (task_id, outcome) in both
            if isinstance(outcome, MailboxError)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leased:
    """The leases of one call, and the outcomes of the results that came with it.

    ``is_spent``: the attempt id leased tasks before, and all those leases have ended.
    """

    leases: Sequence[Lease]
    results: Outcomes[Result]
    is_spent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """The results of one call, and the outcome of the acknowledgements that came with it.

    ``is_spent``: the attempt id drained results before, and all of them are acknowledged.
    """

    results: Sequence[Result]
    acks: Acknowledgement
    is_spent: bool = False


def send_tasks(caller: Caller, envelopes: Sequence[TaskEnvelope]) -> Outcomes[Task]:
    """Send 1 to `MOST_SENT` tasks, in order; return the outcome of each once all of them are durable.

    Each item is decided as `sending.send_task` decides it, so a refused item keeps no other item from being sent.
    Its check, its quotas and its journal rows are its own. A repeated batch sends no task twice that names its id. The
    outcome is then the earlier task, and has ``was_sent_before``. It holds no content of the results of its tasks,
    which is read when it is first used. If the hub fails in between, a part of the batch may have been sent.

    Raises `InvalidRequestError` for another number of tasks, `WrongPartyError` for callers without an agent, and
    `UnauthenticatedError`. Every other error is the outcome of its item.
    """
    _check_number("tasks", len(envelopes), MOST_SENT)
    sending.agent_of(caller)
    quotas.store_grown()
    known = sends.recipients(envelopes)
    outcomes: list[Task | MailboxError] = []
    while len(outcomes) < len(envelopes):
        rest = envelopes[len(outcomes) :]
        number, sent = sends.send_first(caller, rest, known)
        items = rest[: max(number, 1)]
        # Few ids are taken, unless a batch is repeated. Then one look at all of them saves a decision for each.
        earlier = earlier_tasks(caller, items) if len(items) - len(sent) > 1 else [None] * len(items)
        for place, envelope in enumerate(items):
            task = sent.get(place) or earlier[place]
            outcomes.append(task or _outcome(partial(_send, caller, envelope)))
    return Outcomes([envelope.id for envelope in envelopes], outcomes)


def _send(caller: Caller, envelope: TaskEnvelope) -> Task:
    return without_content(sending.send_task(caller, envelope))


def post_results(caller: Caller, envelopes: Sequence[ResultEnvelope]) -> Outcomes[Result]:
    """Post 1 to `MOST_POSTED` results, in order; return the outcome of each once all of them are durable.

    Each item is decided as `results.post_result` decides it, so a refused item keeps no other item from being posted.
    A repeated batch changes nothing. If the hub fails in between, a part of the batch may have been posted.

    Raises `InvalidRequestError` for another number of results, `WrongPartyError` by a public route, and
    `UnauthenticatedError`. Every other error is the outcome of its item.
    """
    _check_number("results", len(envelopes), MOST_POSTED)
    caller.must_do_more_than_send()
    outcomes, _ = _work(caller, envelopes)
    return outcomes


def lease_tasks(
    caller: Caller, *, most: int, attempt_id: UUID | None = None, answers: Sequence[ResultEnvelope] = ()
) -> Leased:
    """Post ``answers``, then lease the caller's oldest queued tasks, at most ``most``, which is 1 to `MOST_LEASED`.

    The answers, at most `MOST_POSTED`, are posted as `post_results` posts them. The tasks are leased as
    `leasing.lease_tasks` leases them: the same ``attempt_id`` returns the same leases, without those that have ended.
    It takes no other task, also if it took fewer than ``most``. So a repeat of the whole call answers the same. A
    different result of a task that was answered before is refused in its place, with `ResultConflictError`.

    Raises `InvalidRequestError` for another number, `WrongPartyError` for people, and `UnauthenticatedError`.
    """
    _check_number("max", most, MOST_LEASED)
    caller.must_be_party()
    if len(answers) > MOST_POSTED:
        raise InvalidRequestError({"results": f"must be at most {MOST_POSTED} results"})
    outcomes, worked = _work(caller, answers, most=most, attempt_id=attempt_id)
    if worked is not None and worked.leases is not None:
        return Leased(leases=worked.leases, results=outcomes)
    leases = leasing.lease_tasks(caller, limit=most, attempt_id=attempt_id)
    return Leased(leases=leases, results=outcomes, is_spent=not leases and leasing.is_spent(caller, attempt_id))


def next_tasks(
    caller: Caller,
    *,
    most: int,
    attempt_id: UUID | None = None,
    answers: Sequence[ResultEnvelope] = (),
    wait: timedelta | None,
) -> Leased:
    """Post results and lease tasks as `lease_tasks` does, and wait up to ``wait`` for the first task.

    The results are posted at once. Only the leases are waited for, and a spent attempt id is not. ``wait`` None has no
    limit, but every wait ends when the process stops. Also raises as `waits.until`.
    """
    looks: list[Leased] = []  # the first and the newest

    def look() -> bool:
        answers_now = () if looks else answers
        looks[1:] = [lease_tasks(caller, most=most, attempt_id=attempt_id, answers=answers_now)]
        return bool(looks[-1].leases) or looks[-1].is_spent

    waits.for_task(caller, look, wait)
    return replace(looks[-1], results=looks[0].results)


def drain_results(caller: Caller, *, most: int, attempt_id: UUID | None = None, ack: Collection[UUID] = ()) -> Drained:
    """Acknowledge earlier results, then deliver the caller's oldest pending results, at most ``most``.

    ``most`` is 1 to `MOST_DRAINED`. ``ack`` names at most `MOST_ACKED` tasks, whose results are acknowledged as
    `results.ack_results` does. An unknown id among them is reported, and keeps nothing else from being done. The
    results are delivered as `results.drain_results` delivers them: the same ``attempt_id`` returns the same results,
    without those acknowledged since, and delivers no other result.

    Raises `InvalidRequestError` for another number, `WrongPartyError` for people, and `UnauthenticatedError`.
    """
    _check_number("max", most, MOST_DRAINED)
    caller.must_be_party()
    if len(ack) > MOST_ACKED:
        raise InvalidRequestError({"ack": f"must be at most {MOST_ACKED} ids"})
    drained = sends.drain(caller, most=most, attempt_id=attempt_id, ack=ack)
    acks = _acknowledged(caller, ack, drained.acked if drained else frozenset())
    if drained is not None and drained.results is not None:
        return Drained(results=drained.results, acks=acks)
    delivered = results.drain_results(caller, limit=most, attempt_id=attempt_id)
    return Drained(results=delivered, acks=acks, is_spent=not delivered and results.is_spent(caller, attempt_id))


def next_results(
    caller: Caller,
    *,
    most: int,
    attempt_id: UUID | None = None,
    ack: Collection[UUID] = (),
    wait: timedelta | None,
) -> Drained:
    """Acknowledge and drain as `drain_results` does, and wait up to ``wait`` for the first result.

    The acknowledgements are made at once. Only the results are waited for, and a spent attempt id is not. ``wait`` None
    has no limit, but every wait ends when the process stops. Also raises as `waits.until`.
    """
    looks: list[Drained] = []  # the first and the newest

    def look() -> bool:
        looks[1:] = [drain_results(caller, most=most, attempt_id=attempt_id, ack=() if looks else ack)]
        return bool(looks[-1].results) or looks[-1].is_spent

    waits.for_result(caller, look, wait)
    return replace(looks[-1], acks=looks[0].acks)


def _work(
    caller: Caller, answers: Sequence[ResultEnvelope], *, most: int = 0, attempt_id: UUID | None = None
) -> tuple[Outcomes[Result], Worked | None]:
    """Post the results, and lease at most ``most`` tasks in the commit of the last results, if both are plain.

    Return None for leases that are not plain: the single verb takes them.
    """
    quotas.store_grown()

    def post(place: int) -> Result | MailboxError:
        return _outcome(partial(results.post_result, caller, answers[place]))

    # The first transaction of a signed request spends its nonce, which the single verb does.
    outcomes = [post(0)] if answers and caller.nonce is not None and not caller.nonce.is_spent else []
    plain = work.answers(caller, answers[len(outcomes) :], begun=len(outcomes))
    worked: Worked | None = None
    while (begun := len(outcomes)) < len(answers):
        end = next(place for place in range(begun, len(answers) + 1) if place not in plain)
        batch: Mapping[int, work.PlainResult] = {place: plain[place] for place in range(begun, end)}
        if begun:  # since the last commit, the grants and the tasks may have changed
            caller = _with_grants_anew(caller)
            batch = work.answers(caller, answers[begun:end], begun=begun) if batch else batch
        limit = most if end == len(answers) else 0
        worked = work.work(caller, batch, most=limit, attempt_id=attempt_id) if batch else None
        posted = worked.results if worked else {}
        outcomes += [posted.get(place) or post(place) for place in range(begun, max(end, begun + 1))]
    if most and worked is None:
        worked = work.work(caller, {}, most=most, attempt_id=attempt_id)
    return Outcomes([answer.task_id for answer in answers], outcomes), worked


def _with_grants_anew(caller: Caller) -> Caller:
    """Return the caller, whose grants are then read again for each commit if they were read with its key."""
    return replace(caller, grants=None) if caller.credential or caller.nonce else caller


def _acknowledged(caller: Caller, ack: Collection[UUID], acked: frozenset[UUID]) -> Acknowledgement:
    """Acknowledge the results of ``ack`` beside those in ``acked``, which are acknowledged already."""
    rest = [task_id for task_id in ack if task_id not in acked]
    if not rest:
        return Acknowledgement(acked=list(ack), unknown=[])
    try:
        unknown = results.ack_results(caller, rest).unknown
    except UnknownTaskError:
        unknown = rest
    absent = frozenset(unknown)
    return Acknowledgement(acked=[task_id for task_id in ack if task_id not in absent], unknown=unknown)


def _check_number(path: str, number: int, most: int) -> None:
    if not 1 <= number <= most:
        raise InvalidRequestError({path: f"must be 1 to {most}" if path == "max" else f"must be 1 to {most} {path}"})


def _outcome(decide: Callable[[], Row]) -> Row | MailboxError:
    """Return what ``decide`` returns, or the error that it raises. An error about the caller's key is raised."""
    try:
        return decide()
    except UnauthenticatedError:
        raise
    except MailboxError as refusal:
        return refusal
