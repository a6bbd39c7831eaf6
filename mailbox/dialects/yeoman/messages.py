"""The envelope's types, one row each. Source: Agnostic ADR-019; SecureYeoman, A2AMessageType."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils import timezone

from mailbox.dialects.yeoman import discovery, requests, tasks, wire
from mailbox.dialects.yeoman.requests import Envelope, Work
from mailbox.dialects.yeoman.tasks import Receipt
from mailbox.gate.callers import Caller
from mailbox.verbs.agents import peers
from mailbox.verbs.life import results
from mailbox.words import json_text
from mailbox.words.errors import UnknownTaskError, WrongPartyError

Handler = Callable[[Caller, Envelope], dict[str, Any]]
NEWEST_SHOWN = 20
NOT_KEPT = (
    "The result was not kept: no task with this id takes it from you. The task's recipient posts it with its API key. "
    "This hub keeps no results of other systems' tasks."
)


def receive(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    """Do what the envelope's type asks, and return the answer; unknown types are accepted with a warning."""
    answer = HANDLERS.get(envelope.type, _unhandled)(caller, envelope)
    return {"accepted": True, "message_id": envelope.id, **answer}


def _delegate(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    sent = _sent(caller, envelope, requests.delegated(envelope.content, "body", "payload"), envelope.id)
    return {"task_id": str(sent.task_id), **_gone(sent)}


def _delegate_batch(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    """Send each of ``tasks``, after a check of all of them. A repeated message sends no task twice.

    A refusal that shows only at the send, such as a grant whose uses end midway, leaves the tasks before it sent.
    """
    given = requests.batch(envelope.content, "tasks", dict)
    if given is None:
        return {"task_ids": [], **_without_list("tasks")}
    path = ("body", "payload", "tasks")
    wanted = [requests.delegated(one, *path, number) for number, one in enumerate(given)]
    names = [f"{envelope.id}#{number}" if envelope.id else "" for number in range(len(wanted))]
    for number, (work, name) in enumerate(zip(wanted, names, strict=True)):
        with requests.placed(*path, number):
            tasks.draft(caller, work, to_peer=envelope.toPeerId, message_id=name)
    sent = [_sent(caller, envelope, work, name) for work, name in zip(wanted, names, strict=True)]
    return {"task_ids": [str(one.task_id) for one in sent], **_gone(*sent)}


def _sent(caller: Caller, envelope: Envelope, work: Work, message_id: str) -> Receipt:
    facts = {"message_id": envelope.id, "from_peer": envelope.fromPeerId, "to_peer": envelope.toPeerId}
    with requests.placed("body", "payload"):
        return tasks.submit(caller, tasks.enveloped(work, **facts), to_peer=envelope.toPeerId, message_id=message_id)


def _gone(*sent: Receipt) -> dict[str, str]:
    if all(one.task for one in sent):
        return {}
    return {"warning": "This message was received before; what it delegated has ended and was compacted since"}


def _heartbeat(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    peers.seen(caller, envelope.fromPeerId)
    noted = {} if caller.agent else {"warning": "Only the peers of agents are noted; use an agent's key"}
    return {"timestamp": envelope.timestamp, **noted}


def _status_query(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    """Answer for the asked task; without one, for the newest tasks the caller sent."""
    if "task_id" in envelope.content:
        return _asked(caller, envelope, "status_response")
    found, total = tasks.newest(caller, limit=NEWEST_SHOWN)
    data = {"timestamp": timezone.now().isoformat(), "sessions": found, "agents": [], "metrics": {"tasks": total}}
    return {"type": "status_response", "data": data}


def _result_query(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    return _asked(caller, envelope, "result_response")


def _asked(caller: Caller, envelope: Envelope, kind: str) -> dict[str, Any]:
    asked = envelope.content.get("task_id")
    found = tasks.record_or_none(caller, asked)
    if found is None:
        unknown = {"task_id": asked if isinstance(asked, str) else None, "status": None, "result": None, "data": None}
        return {"type": kind, **unknown, "warning": "Task not found"}
    return {"type": kind, **found, "data": found}


def _status_query_batch(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    task_ids = requests.batch(envelope.content, "task_ids", str)
    if task_ids is None:
        return {"statuses": {}, **_without_list("task_ids")}
    return {"statuses": {task_id: tasks.record_or_none(caller, task_id) for task_id in task_ids}}


def _without_list(key: str) -> dict[str, str]:
    return {"warning": f'Nothing was done: the payload has no list "{key}"'}


def _result(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    """Post the result of a task that is addressed to the caller. The result of any other task is not kept.

    A public route posts no results. It answers alike for every task, also for those addressed to its agent.
    """
    task_id = tasks.identify(envelope.content.get("task_id"))
    try:
        if task_id is None:
            raise UnknownTaskError
        results.post_result(caller, wire.result_envelope(task_id, envelope.content))
    except (UnknownTaskError, WrongPartyError):
        return {"type": "result_cached", "warning": NOT_KEPT}
    return {"type": "result_cached", "task_id": str(task_id)}


def _capability_query(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    return {"type": "a2a:capability-response", "capabilities": discovery.capabilities(to_anyone=False)}


def _discover(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    return {"type": "a2a:announce", **discovery.document(to_anyone=False)}


def _announce(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    said = envelope.content
    can = said.get("capabilities")
    peers.announced(
        caller,
        envelope.fromPeerId,
        name=_text(said.get("name")),
        url=_text(said.get("url")),
        capabilities=json_text.dumps(can if isinstance(can, dict | list) else []),
    )
    return {}


def _disconnect(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    peers.left(caller, envelope.fromPeerId)
    return {}


def _credentials(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    """Do nothing: the payload, which may be a secret, is neither kept nor logged nor repeated."""
    nothing = "Nothing was done: this hub neither keeps nor passes on credentials, and has discarded the payload."
    return {"warning": f"Unhandled type: {envelope.type}. {nothing}"}


def _unhandled(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    return {"warning": f"Unhandled type: {envelope.type}"}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


HANDLERS: Mapping[str, Handler] = {
    "a2a:delegate": _delegate,
    "a2a:delegate_batch": _delegate_batch,
    "a2a:heartbeat": _heartbeat,
    "heartbeat": _heartbeat,  # as SecureYeoman's Rust edge spells it
    "a2a:status_query": _status_query,
    "a2a:status_query_batch": _status_query_batch,
    "a2a:result_query": _result_query,
    "a2a:result": _result,
    "a2a:capability-query": _capability_query,
    "a2a:discover": _discover,
    "a2a:announce": _announce,
    "a2a:disconnect": _disconnect,
    "a2a:provision_credentials": _credentials,
    "a2a:revoke_credentials": _credentials,
    "provision_credentials": _credentials,
    "revoke_credentials": _credentials,
}
