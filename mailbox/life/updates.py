"""Updates: the messages, progress, artifacts and questions that a holder posts while it works."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from mailbox.access import audit
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.journal import task_entries
from mailbox.life import task_limits
from mailbox.life.leasing import judged_lease, visible_locked
from mailbox.models import Artifact, AuditEvent, Lease, Message, Task
from mailbox.words import conversation, json_text
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus
from mailbox.words.errors import InvalidRequestError, NotAskableError
from mailbox.words.kinds import Kind

MAX_UPDATES = 100  # in one call
AWAITS = {
    UpdateStatus.INPUT_REQUIRED: Task.Awaits.INPUT,
    UpdateStatus.AUTH_REQUIRED: Task.Awaits.AUTHORIZATION,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """The answer to a call. ``seq`` is the journal number of its last update, ``turn`` the task's count of turns.

    A ``turn`` greater than that of the lease means that the sender sent a further message meanwhile.
    """

    seq: int
    turn: int


def post_updates(
    caller: Caller,
    task_id: UUID,
    updates: Sequence[Update | ArtifactUpdate],
    *,
    lease_id: UUID | None = None,
    attempt_id: UUID | None = None,
) -> Posted:
    """Record updates of the live lease's holder, in order. All updates are recorded, or none.

    An update is a message, progress, an artifact or a chunk of one, or a status. The statuses ``input_required`` and
    ``auth_required`` put a question to the sender: the lease ends as ``asked``, and the task is interrupted until the
    sender answers. Such an update is the last of its call. The status ``working`` records nothing.

    Sets the lease's ``last_seen_at``. ``attempt_id`` names this call: a repeat with the same updates records nothing
    and returns the same number, even after the lease has ended. ``lease_id`` must be the live lease; None: any lease of
    the caller.

    Raises `InvalidRequestError`, also for an ``attempt_id`` that was used for other updates, for a chunk without its
    artifact, and beyond `task_limits.MOST_ROWS` rows. Raises `WrongPartyError` by a public route,
    `UnknownTaskError`, `NotInFlightError`, `LeaseMismatchError`, `NotAskableError` for a question about a task that
    does not converse, and `TaskTooLargeError` beyond ``A2A_TASK_MAX_BYTES``. Locks the task row, then the stock of its
    sender, whose bytes grow. Journals ``a2a_task_updated`` for each update, and ``a2a_task_asked`` for a question.
    Source: corvid-agent, agent messages; A2A, TaskStatusUpdateEvent and TaskArtifactUpdateEvent.
    """
    conversation.check_updates(updates, MAX_UPDATES)
    caller.must_do_more_than_send()
    wanted = [one for one in updates if isinstance(one, ArtifactUpdate) or one.status != UpdateStatus.WORKING]
    with audit.decision(caller) as journal:
        task = visible_locked(caller, task_id)
        if attempt_id is not None and (seq := _posted_before(caller, task, wanted, attempt_id)) is not None:
            return Posted(seq=seq, turn=task.turn)
        lease = judged_lease(caller, task, lease_id, journal.now)
        lease.last_seen_at = journal.now
        lease.save(update_fields=["last_seen_at"])
        _must_fit(task, updates)
        sizes = [_size(update) for update in wanted]
        task_limits.check(task, sizes, path="updates")
        for update, size in zip(wanted, sizes, strict=True):
            _record(task, lease, update, size, attempt_id, journal)
        quotas.grow(task.sender_id, sum(sizes))
    return Posted(seq=task.journal_seq, turn=task.turn)


def _posted_before(
    caller: Caller, task: Task, updates: Sequence[Update | ArtifactUpdate], attempt_id: UUID
) -> int | None:
    """Return the number of the last update that this attempt recorded; None if it recorded no update.

    Raises `InvalidRequestError` if these updates differ from those. Only recipients hold leases.
    """
    if caller.agent != task.recipient:
        return None
    rows: list[Message | Artifact] = [*Message.objects.posted_by(attempt_id, task.pk).of_role(Message.Role.AGENT)]
    rows += Artifact.objects.posted_by(attempt_id, task.pk)
    if not rows:
        return None
    rows.sort(key=lambda row: row.seq)
    question = AuditEvent.objects.of_task(task.uuid).filter(kind=Kind.TASK_ASKED, seq=rows[-1].seq).first()
    awaits = question.fields.get("awaits") if question else None
    if [_recorded(row, awaits if row is rows[-1] else None) for row in rows] != list(map(_wanted, updates)):
        raise InvalidRequestError({"attempt_id": "was used for other updates of this task"})
    return rows[-1].seq


def _recorded(row: Message | Artifact, awaits: str | None) -> tuple[object, ...]:
    """Return what a repeat must repeat of a recorded update."""
    if isinstance(row, Artifact):
        return (row.artifact_id, row.append, row.last_chunk, row.blocks, row.details)
    return (row.message_id, awaits, row.blocks, row.details)


def _wanted(update: Update | ArtifactUpdate) -> tuple[object, ...]:
    """Return the same of an update as it came in."""
    extra = json_text.loads(update.extra)
    if isinstance(update, ArtifactUpdate):
        return (update.artifact_id, update.append, update.last_chunk, update.blocks, extra)
    return (update.message_id, update.status and AWAITS.get(update.status), update.blocks, extra)


def _must_fit(task: Task, updates: Sequence[Update | ArtifactUpdate]) -> None:
    """Raise for a question if the task does not converse, and for chunks of an artifact that the task does not have."""
    if not task.converses and any(isinstance(update, Update) and update.asks for update in updates):
        raise NotAskableError(task_id=task.uuid)
    if missing := dict(_chunks_of_nothing(task, updates)):
        raise InvalidRequestError(missing)


def _chunks_of_nothing(task: Task, updates: Sequence[Update | ArtifactUpdate]) -> Iterator[tuple[str, str]]:
    placed: set[str] = set()
    for number, update in enumerate(updates):
        if not isinstance(update, ArtifactUpdate):
            continue
        known = update.artifact_id in placed or not update.append
        if not known and not Artifact.objects.filter(task=task, artifact_id=update.artifact_id).exists():
            yield f"updates.{number}.artifact.append", "needs an artifact of this id; the task has none"
        placed.add(update.artifact_id)


def _size(update: Update | ArtifactUpdate) -> int:
    """Return the bytes that the update's row adds to the task."""
    own_id = update.artifact_id if isinstance(update, ArtifactUpdate) else update.message_id
    return task_limits.size_of_words(json_text.dumps(update.blocks), own_id, update.extra)


def _record(
    task: Task,
    lease: Lease,
    update: Update | ArtifactUpdate,
    size: int,
    attempt_id: UUID | None,
    journal: Journal,
) -> None:
    if isinstance(update, ArtifactUpdate):
        _produce(task, lease, update, size, attempt_id, journal)
        return
    awaits = AWAITS.get(update.status) if update.status else None
    if awaits is None:
        task.change(size=task.size + size, status_at=journal.now)
    else:
        lease.finish(Lease.End.ASKED, journal.now)
        task.change(state=Task.State.INTERRUPTED, awaits=awaits, size=task.size + size, status_at=journal.now)
    message = Message.objects.create(
        task=task,
        seq=task.journal_seq,
        content=json_text.dumps(update.blocks),
        message_id=update.message_id,
        extra=update.extra,
        said_at=journal.now,
        post_attempt_id=attempt_id,
    )
    if awaits is None:
        entry = task_entries.TaskUpdatedEntry.of_message(
            lease.lease_id, message.content, number=message.seq, progress=update.progress
        )
        journal.life(task, entry)
    else:
        journal.life(task, task_entries.TaskAskedEntry(lease.lease_id, awaits))


def _produce(
    task: Task, lease: Lease, update: ArtifactUpdate, size: int, attempt_id: UUID | None, journal: Journal
) -> None:
    task.change(size=task.size + size)
    artifact = Artifact.objects.create(
        task=task,
        seq=task.journal_seq,
        artifact_id=update.artifact_id,
        append=update.append,
        last_chunk=update.last_chunk,
        content=json_text.dumps(update.blocks),
        extra=update.extra,
        said_at=journal.now,
        post_attempt_id=attempt_id,
    )
    produced = task_entries.ArtifactData(
        artifact_id=artifact.artifact_id,
        append=artifact.append,
        last_chunk=artifact.last_chunk,
        blocks=len(update.content),
        bytes=task_limits.size_of(artifact.content),
    )
    journal.life(task, task_entries.TaskUpdatedEntry(lease.lease_id, artifact=produced))
