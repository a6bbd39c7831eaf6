"""The verb of a sender that has more to say about its task."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from mailbox.access import audit, capabilities
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.access.requests import Request
from mailbox.journal import task_entries
from mailbox.life import expiry, push_configs, task_limits
from mailbox.models import Message, Task
from mailbox.models.task import TaskQuerySet
from mailbox.words import json_text
from mailbox.words.conversation import Words
from mailbox.words.envelopes import A2A
from mailbox.words.errors import AlreadyResolvedError, InvalidRequestError, NotAskableError
from mailbox.words.push import PushTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The answer to a message. ``message`` is its row, with its task. ``turn`` is its number, from 2."""

    message: Message
    turn: int


def say(
    caller: Caller,
    task_id: UUID,
    words: Words,
    *,
    attempt_id: UUID | None = None,
    push: PushTarget | None = None,
    must_fit: Callable[[Task], None] = lambda task: None,
) -> Sent:
    """Add a message of the task's sender; return it once it is durable.

    The message answers the question of an interrupted task: the task goes to the back of the queue. A task in the queue
    or in flight keeps its state, and its next or present holder reads the message. A task past its deadline or work
    timeout is resolved as expired first. ``attempt_id`` names this call. A repeat with the same content stores no
    second message, counts no use of a grant, and returns the first message. ``push`` is a webhook that gets each
    event from this message on. Only a task of the official protocol has one. ``must_fit`` is called with the locked
    task, and raises the error of a condition of the caller's own.

    Raises, in this order: `InvalidRequestError` for bad content; `WrongPartyError` by a public route;
    `UnknownTaskError` for an absent task or another sender's task, also for people; `InvalidRequestError` for an
    ``attempt_id`` that was used for another message or webhook; a capability error for ``a2a.send.<recipient>``;
    `AlreadyResolvedError`; `NotAskableError` for a duplicate that waits for another task's result, and for a task that
    does not converse; `TaskTooLargeError` beyond ``A2A_TASK_MAX_BYTES``; `QuotaExceededError` for a sender at its quota
    of bytes.

    Locks a counted grant, then the task row, then the stock of its sender. Journals ``capability_check`` and
    ``a2a_message_sent``.
    Source: A2A, SendMessage with a task id.
    """
    words.check()
    push_configs.check(push, prefix="push.")
    caller.must_do_more_than_send()
    expiry.expire_if_due(caller, task_id)
    own = Task.objects.filter(sender=caller.agent).with_parties()  # a caller without an agent has no task
    try:
        with audit.decision(caller) as journal:
            task = _own(caller, task_id, own)
            _must_be_new(task, words, attempt_id, push)
            # A counted grant is locked before the task, as a send locks it.
            journal.admit(Request.to_send(task.recipient, task.uuid))
            task = _own(caller, task_id, own.locked())
            _must_be_new(task, words, attempt_id, push)
            must_fit(task)
            if task.state == Task.State.RESOLVED:
                raise AlreadyResolvedError(f"Task {task_id} is already resolved as {task.outcome}.", task_id=task_id)
            _must_take_messages(task)
            if push is not None:
                _remember(task, push, journal)
            return _add(task, words, attempt_id, journal)
    except _SentBeforeError as repeat:
        return repeat.sent


def _must_take_messages(task: Task) -> None:
    """Raise `NotAskableError` for a task without conversations, and for a duplicate that no agent works on."""
    if task.waits_on_id is not None:
        raise NotAskableError("This duplicate waits for another task's result; no agent reads it.", task_id=task.uuid)
    if not task.converses:
        raise NotAskableError(task_id=task.uuid)


class _SentBeforeError(Exception):
    """The attempt has sent this message before, so that the decision is undone."""

    def __init__(self, sent: Sent) -> None:
        super().__init__()
        self.sent = sent


def _own(caller: Caller, task_id: UUID, own: TaskQuerySet) -> Task:
    task = own.filter(uuid=task_id).first()
    if task is None:
        raise capabilities.not_theirs(caller, task_id, only="only its sender can send it a message")
    return task


def _remember(task: Task, push: PushTarget, journal: Journal) -> None:
    if task.dialect != A2A:
        raise InvalidRequestError({"push": f"only a task of the dialect {A2A} has webhooks"})
    push_configs.remember_webhook(task, push, journal, after=task.journal_seq)


def _must_be_new(task: Task, words: Words, attempt_id: UUID | None, push: PushTarget | None) -> None:
    """Raise `_SentBeforeError` if this attempt sent the message, and `InvalidRequestError` if it sent another one."""
    if attempt_id is None:
        return
    message = Message.objects.posted_by(attempt_id, task.pk).of_role(Message.Role.USER).first()
    if message is None:
        return
    wanted = [words.message_id, [dict(block) for block in words.content], json_text.loads(words.extra)]
    has_same_webhook = task.dialect != A2A or push_configs.has_same_webhook(task.uuid, message.said_at, push)
    if not has_same_webhook or not json_text.same([message.message_id, message.blocks, message.details], wanted):
        raise InvalidRequestError({"attempt_id": "was used for another message of this task"})
    earlier = Message.objects.filter(task=task, seq__lt=message.seq).of_role(Message.Role.USER)
    message.task = task
    raise _SentBeforeError(Sent(message=message, turn=earlier.count() + 2))


def _add(task: Task, words: Words, attempt_id: UUID | None, journal: Journal) -> Sent:
    """Store the message of a task whose row is locked, and return an interrupted task to the queue."""
    content, extra = json_text.dumps([dict(block) for block in words.content]), words.extra
    size = task_limits.size_of_words(content, words.message_id, extra)
    task_limits.check(task, [size], path="content")
    quotas.take_words(task, size)
    answers = task.awaits
    task.hear(size, journal.now)
    message = Message.objects.create(
        task=task,
        seq=task.journal_seq,
        role=Message.Role.USER,
        content=content,
        message_id=words.message_id,
        extra=extra,
        said_at=journal.now,
        post_attempt_id=attempt_id,
    )
    journal.life(task, task_entries.MessageSentEntry(task.turn, words.message_id, answers=answers))
    return Sent(message=message, turn=task.turn)
