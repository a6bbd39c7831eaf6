"""The targets that hear about a task: its callback, and webhooks that its sender sets, reads and deletes.

No read shows a secret, a token or credentials.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from mailbox.access import audit, capabilities
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.database import outages, paging
from mailbox.database.paging import Page
from mailbox.journal import task_entries
from mailbox.life import expiry
from mailbox.models import Agent, AuditEvent, PushConfig, PushDelivery, Task
from mailbox.outbound import destinations
from mailbox.outbound.errors import BlockedUrlError
from mailbox.words import secret_box
from mailbox.words.envelopes import TaskEnvelope
from mailbox.words.errors import InvalidRequestError, UnknownTaskError
from mailbox.words.kinds import Kind
from mailbox.words.push import URL_MAX_LENGTH, PushTarget

MOST_OF_A_TASK = 20
_INLINE = "push config"  # names the webhook that came with a message and has no id of its sender


def set_config(caller: Caller, task_id: UUID, target: PushTarget, *, recipient: Agent) -> PushConfig:
    """Set a webhook of the caller's task to ``recipient``; return its row once it is durable.

    The webhook gets each event that follows. If the task has one of this id, ``target`` replaces it. The webhook is
    then enabled again, and gets the events that did not arrive yet. A resolved task may have a webhook, which gets
    nothing. ``target.config_id`` None makes a new webhook.

    Raises, in this order: `InvalidRequestError` for a bad target; `WrongPartyError` by a public route;
    `UnknownTaskError` for a task that is absent, not of the official protocol, or of other parties;
    `InvalidRequestError` for one webhook more than `MOST_OF_A_TASK`. Locks the task row, then the webhook. Journals
    ``push_config_set``. Source: A2A, CreateTaskPushNotificationConfig.
    """
    check(target)
    caller.must_do_more_than_send()
    expiry.expire_if_due(caller, task_id)
    with audit.decision(caller) as journal:
        task = _own(caller, task_id, recipient, locks=True)
        return _put(task, target.config_id or str(uuid.uuid4()), target, journal, after=task.journal_seq)


def delete_config(caller: Caller, task_id: UUID, config_id: str, *, recipient: Agent) -> None:
    """Delete a webhook of the caller's task, with its pending event. An absent webhook changes nothing.

    A request that is under way is not stopped. Raises `WrongPartyError` and `UnknownTaskError` as `set_config` does.
    Locks the task row, then the webhook. Journals ``push_config_deleted``. Source: A2A,
    DeleteTaskPushNotificationConfig.
    """
    caller.must_do_more_than_send()
    expiry.expire_if_due(caller, task_id)
    with audit.decision(caller) as journal:
        task = _own(caller, task_id, recipient, locks=True)
        config = _of(task, config_id).first()
        if config is None:
            return
        _forget_untold(config)
        config.delete()
        journal.beside(
            task_entries.PushConfigDeletedEntry(config_id, destinations.receiver(config.url), task_id=task.uuid)
        )


def remember_callback(task: Task, envelope: TaskEnvelope) -> None:
    """Store the callback URL and secret of a new task, in the transaction of the send."""
    if envelope.callback_url is not None:
        secret = envelope.callback_secret
        PushConfig.objects.create(
            task=task, url=envelope.callback_url, sealed_secret=secret_box.seal(secret) if secret else None
        )


def has_same_callback(task: Task, envelope: TaskEnvelope) -> bool:
    """Whether ``envelope`` has the same callback as ``task``, or both have none."""
    of_task = PushConfig.objects.filter(task=task, protocol=PushConfig.Protocol.CALLBACK)
    known = of_task.first() if task.calls_back else None
    if known is None or envelope.callback_url is None:
        return known is None and envelope.callback_url is None
    try:
        secret = callback_of(known)[1]
    except secret_box.UnreadableSecretError:  # the secrets cannot be compared
        secret = envelope.callback_secret
    return (known.url, secret) == (envelope.callback_url, envelope.callback_secret)


def callback_of(config: PushConfig | None) -> tuple[str | None, str | None]:
    """Return the URL and the secret of a task's callback, None for what is missing; raise `UnreadableSecretError`."""
    if config is None:
        return None, None
    return config.url, secret_box.unseal(config.sealed_secret) if config.sealed_secret else None


def judge(callback_url: str | None, *, path: str = "callback_url") -> None:
    """Raise `InvalidRequestError` for a URL that the hub would never call, under its ``path``. None is allowed.

    Only the text of the URL is judged here. The addresses of its host are judged at each attempt.
    """
    if callback_url is None:
        return
    try:
        destinations.judge(callback_url, longest=URL_MAX_LENGTH)
    except BlockedUrlError as error:
        # The message does not repeat the URL, which may contain a secret.
        problem = error.message if error.message.startswith("Blocked URL") else "the hub cannot call this URL"
        raise InvalidRequestError({path: problem}) from error


def check(target: PushTarget | None, *, prefix: str = "") -> None:
    """Raise `InvalidRequestError` for a target that no task may have. None is allowed. ``prefix`` begins each path."""
    if target is None:
        return
    if problems := dict(target.problems(prefix)):
        raise InvalidRequestError(problems)
    judge(target.url, path=f"{prefix}url")


def remember_webhook(task: Task, target: PushTarget, journal: Journal, *, after: int) -> None:
    """Store the webhook that came with a message, in the transaction of that message.

    It gets each event after the journal row ``after`` of the task, whose row is locked or new. Without an id of its
    sender, it replaces the webhook of an earlier message of the task. Raises `InvalidRequestError` as `set_config`.
    """
    _put(task, _id_of(task.uuid, target), target, journal, after=after)


def has_same_webhook(task_id: UUID, sent_at: datetime, target: PushTarget | None) -> bool:
    """Whether the message of this time came with the same webhook, or with none.

    The journal tells, also after the webhook was changed or deleted. Its secrets are compared as long as it is there.
    """
    rows = AuditEvent.objects.filter(task_id=task_id, kind=Kind.PUSH_CONFIG_SET, at=sent_at)
    noted = rows.first()
    if noted is None or target is None:
        return noted is None and target is None
    config_id = _id_of(task_id, target)
    if noted.fields != {"config_id": config_id, "receiver": destinations.receiver(target.url)}:
        return False
    known = PushConfig.objects.webhooks().filter(task__uuid=task_id, config_id=config_id, created_at=sent_at).first()
    return known is None or _is_same(known, target)


def _own(caller: Caller, task_id: UUID, recipient: Agent, *, locks: bool = False) -> Task:
    tasks = capabilities.own_a2a_tasks(caller, recipient)
    return (tasks.locked() if locks else tasks).by_id(task_id)


def _of(task: Task, config_id: str) -> QuerySet[PushConfig]:
    return PushConfig.objects.webhooks().filter(task=task, config_id=config_id).select_for_update()


def _put(task: Task, config_id: str, target: PushTarget, journal: Journal, *, after: int) -> PushConfig:
    """Store the target under the id. A webhook of that id keeps its position."""
    config = _of(task, config_id).first()
    if config is None:
        if PushConfig.objects.webhooks().filter(task=task).count() >= MOST_OF_A_TASK:
            raise InvalidRequestError({"config_id": f"a task has at most {MOST_OF_A_TASK} webhooks"})
        config = PushConfig(task=task, config_id=config_id, told_seq=after)
        is_open = task.state != Task.State.RESOLVED
    else:
        is_open = task.state != Task.State.RESOLVED or bool(config.next_attempt_at or config.disabled_at)
        _forget_untold(config)
    config.url, config.protocol, config.auth_scheme = target.url, str(target.protocol), target.auth_scheme
    config.sealed_token, config.sealed_credentials = _sealed(target.token), _sealed(target.auth_credentials)
    config.failures, config.disabled_at, config.created_at = 0, None, journal.now
    config.next_attempt_at = journal.now if is_open else None
    config.save()
    journal.beside(task_entries.PushConfigSetEntry(config_id, destinations.receiver(config.url), task_id=task.uuid))
    return config


def _forget_untold(config: PushConfig) -> None:
    """Delete the pending event. The courier writes it anew for the new target."""
    PushDelivery.objects.filter(config=config).exclude(state=PushDelivery.State.DELIVERED).delete()


def _sealed(secret: str | None) -> str | None:
    return None if secret is None else secret_box.seal(secret)


def _id_of(task_id: UUID, target: PushTarget) -> str:
    return target.config_id or str(uuid.uuid5(task_id, _INLINE))


def _is_same(known: PushConfig, target: PushTarget) -> bool:
    public = (known.url, known.protocol, known.auth_scheme)
    if public != (target.url, target.protocol, target.auth_scheme):
        return False
    try:
        secrets = [sealed and secret_box.unseal(sealed) for sealed in (known.sealed_token, known.sealed_credentials)]
    except secret_box.UnreadableSecretError:  # the secrets cannot be compared
        return True
    return secrets == [target.token, target.auth_credentials]


def config_of(caller: Caller, task_id: UUID, config_id: str, *, recipient: Agent) -> PushConfig:
    """Return a webhook of the caller's task to ``recipient``.

    Raises `UnknownTaskError` for a task that is not there for the caller, and for an absent webhook.
    """
    config = PushConfig.objects.webhooks().filter(task=_own(caller, task_id, recipient), config_id=config_id).first()
    if config is None:
        outages.confirm_reads()
        raise UnknownTaskError.of(task_id)
    return config


def page_of_configs(
    caller: Caller, task_id: UUID, *, recipient: Agent, limit: int = 100, cursor: str | None = None
) -> Page[PushConfig]:
    """Return a page of the webhooks of the caller's task to ``recipient``, the oldest first.

    Raises `UnknownTaskError` as `config_of` does, and `InvalidRequestError` for a cursor of another list or task.
    """
    rows = PushConfig.objects.webhooks().filter(task=_own(caller, task_id, recipient))
    name = f"webhooks of {task_id}"
    return paging.keyset(rows, "pk", int, is_unique=True, limit=limit, cursor=cursor, name=name)


def configs_of_task(task: Task) -> Sequence[PushConfig]:
    """Return the webhooks of a task, the oldest first."""
    return list(PushConfig.objects.webhooks().filter(task=task).order_by("pk"))
