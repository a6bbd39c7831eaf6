"""Copies: the work of a finished task, sent again by a person as a new task."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings

from mailbox.gate.callers import Caller
from mailbox.models import Task
from mailbox.models.task import id_of_copy
from mailbox.verbs.life import operators
from mailbox.words import json_text
from mailbox.words.envelopes import AgentRef, DuplicateSafety, Idempotency, ResultStatus, TaskEnvelope
from mailbox.words.errors import InvalidRequestError, UnknownTaskError
from mailbox.words.sealed import ERASED

KEPT = 400  # characters of the key in a key with a suffix


def envelope_of(task: Task, copy_id: UUID) -> TaskEnvelope:
    """Return the envelope of a copy of ``task``: its recipient, words, kind, metadata, parent and work timeout.

    An idempotent copy keeps the key, because it is the same work. The recipient recognises it, and two copies of one
    key do the work once. If the hub caches errors, the key gets a suffix, so that the cached error does not answer the
    copy. The copy has no deadline, conversation, callback or webhook: those are the sender's own.

    Raises `InvalidRequestError` for an erased task.
    """
    if task.intent_text.startswith(ERASED):
        raise InvalidRequestError({"task": "its payload was erased"})
    safety, key = task.duplicate_safety, task.idempotency_key
    if key and ResultStatus.ERROR in settings.A2A_REPLAY_STATUSES:
        key = f"{key[:KEPT]}-again"
    return TaskEnvelope(
        id=copy_id,
        recipient=AgentRef(task.recipient.display, task.recipient.pubkey),
        intent_text=task.intent_text,
        task_kind=task.task_kind,
        parent=task.parent,
        idempotency=Idempotency(duplicate_safety=DuplicateSafety(safety), key=key) if safety and key else None,
        metadata=json_text.loads(task.metadata),
        work_timeout=task.work_timeout,
        copy_of=task.uuid,
    )


def send_again(caller: Caller, task_id: UUID) -> Task:
    """Send a copy of a resolved task, from ``operators@hub``; return the copy. A second call returns the same copy.

    The result of the copy waits at ``operators@hub``: the sender of the task gets nothing more. Raises
    `UnknownTaskError`, `InvalidRequestError` for a task that has not ended or was erased, and what
    `operators.send_task` raises. Journals as that does.
    """
    task = Task.objects.with_parties().filter(uuid=task_id).first()
    if task is None:
        raise UnknownTaskError.of(task_id)
    return operators.send_task(caller, envelope_of(task, id_of_copy(task_id)))
