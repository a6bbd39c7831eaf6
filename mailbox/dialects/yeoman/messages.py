"""The types of messages, each with its handler, and the hub's description of itself for peers.

Source: Agnostic ADR-019; SecureYeoman, A2AMessageType.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from agentcards import card_document as cards
from agentcards import profiles
from agentcards.profiles import every_profile
from agentcards.registry import CardRegistry
from mailbox.access.agents import peers
from mailbox.access.callers import Caller
from mailbox.database import paging
from mailbox.dialects.yeoman import requests, tasks, wire
from mailbox.dialects.yeoman.requests import Envelope, SubmittedWork
from mailbox.dialects.yeoman.tasks import Receipt
from mailbox.dialects.yeoman.wire import Discovery, PeerCapability
from mailbox.life import results
from mailbox.words import json_text
from mailbox.words.errors import UnknownTaskError, WrongPartyError

MOST_CARDS = 1000  # of running jobs in one answer, which a page's budget of bytes also limits
VERSION = "1.0"  # of a skill: tools have none of their own
Handler = Callable[[Caller, Envelope], dict[str, Any]]
NEWEST_SHOWN = 20
LEFT_OUT = "The answer is full. Ask again for the tasks that it leaves out."
NOT_KEPT = (
    "The result was not kept: no task with this id takes it from you. The task's recipient posts it with its API key. "
    "This hub keeps no results of other systems' tasks."
)


def capabilities(*, to_anyone: bool) -> list[PeerCapability]:
    """Return `A2A_CAPABILITIES`; with `A2A_CAPABILITIES_DYNAMIC` also each skill of each agent and running job.

    ``to_anyone``: the answer is public. It has skills of agents only if the agents' cards are public too.
    """
    listed = [*cast("list[PeerCapability]", settings.A2A_CAPABILITIES)]
    if not settings.A2A_CAPABILITIES_DYNAMIC or (to_anyone and not settings.A2A_PUBLIC_AGENT_CARDS):
        return listed
    return [*listed, *_skills(), *_skills_at_work()]


def discovery(*, to_anyone: bool) -> Discovery:
    """Return the discovery document. A task that is addressed to its id reaches the default agent."""
    default = profiles.recipient_for()
    return {
        "id": default.display if default else urlsplit(settings.PUBLIC_URL).hostname or "",
        "name": settings.A2A_HUB_NAME,
        "publicKey": default.pubkey if default else "",
        "capabilities": capabilities(to_anyone=to_anyone),
    }


def _skills() -> Iterator[PeerCapability]:
    for profile in every_profile():
        for tool in cards.tools_of(profile):
            description = tool.description or f"Tool: {tool.name}"
            yield {"name": tool.name, "description": description, "version": VERSION, "agent": profile.agent.display}


def _skills_at_work() -> Iterator[PeerCapability]:
    for card in CardRegistry().look(limit=MOST_CARDS).items:
        for skill in card.skills:
            yield {"name": skill["id"], "description": skill["description"], "version": VERSION, "agent": card.name}


def receive(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    """Handle the message by its type, and return the answer. An unknown type is accepted with a warning."""
    answer = HANDLERS.get(envelope.type, _unhandled)(caller, envelope)
    return {"accepted": True, "message_id": envelope.id, **answer}


def _delegate(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    sent = _sent(caller, envelope, requests.delegated(envelope.content, "body", "payload"), envelope.id)
    return {"task_id": str(sent.task_id), **_gone(sent)}


def _delegate_batch(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    """Send each of ``tasks``, after a check of all of them. A repeated message sends no task twice.

    A refusal that shows only at the send, such as a grant whose uses end midway, leaves the tasks before it sent.
    """
    payloads = requests.batch(envelope.content, "tasks", dict)
    if payloads is None:
        return {"task_ids": [], **_without_list("tasks")}
    path = ("body", "payload", "tasks")
    works = [requests.delegated(payload, *path, number) for number, payload in enumerate(payloads)]
    ids = [f"{envelope.id}#{number}" if envelope.id else "" for number in range(len(works))]
    for number, (work, message_id) in enumerate(zip(works, ids, strict=True)):
        with requests.placed(*path, number):
            tasks.draft(caller, work, to_peer=envelope.toPeerId, message_id=message_id)
    receipts = [_sent(caller, envelope, work, message_id) for work, message_id in zip(works, ids, strict=True)]
    return {"task_ids": [str(receipt.task_id) for receipt in receipts], **_gone(*receipts)}


def _sent(caller: Caller, envelope: Envelope, work: SubmittedWork, message_id: str) -> Receipt:
    facts = {"message_id": envelope.id, "from_peer": envelope.fromPeerId, "to_peer": envelope.toPeerId}
    with requests.placed("body", "payload"):
        return tasks.submit(caller, tasks.enveloped(work, **facts), to_peer=envelope.toPeerId, message_id=message_id)


def _gone(*receipts: Receipt) -> dict[str, str]:
    if not any(receipt.is_compacted for receipt in receipts):
        return {}
    return {"warning": "This message was received before. Its task has ended and was compacted since."}


def _heartbeat(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    peers.seen(caller, envelope.fromPeerId)
    warning = {} if caller.agent else {"warning": "Only peers of agents are noted. Use an agent's key."}
    return {"timestamp": envelope.timestamp, **warning}


def _status_query(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    """Answer with the task of the query; without a ``task_id``, with the newest tasks that the caller sent."""
    if "task_id" in envelope.content:
        return _result_query(caller, envelope, "status_response")
    newest, total = tasks.newest(caller, limit=NEWEST_SHOWN)
    data = {"timestamp": timezone.now().isoformat(), "sessions": newest, "agents": [], "metrics": {"tasks": total}}
    return {"type": "status_response", "data": data}


def _result_query(caller: Caller, envelope: Envelope, kind: str = "result_response") -> dict[str, Any]:
    task_id = envelope.content.get("task_id")
    record = tasks.record_or_none(caller, task_id)
    if record is None:
        echoed = task_id if isinstance(task_id, str) else None
        unknown = {"task_id": echoed, "status": None, "result": None, "data": None}
        return {"type": kind, **unknown, "warning": "Task not found"}
    return {"type": kind, **record, "data": record}


def _status_query_batch(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    task_ids = requests.batch(envelope.content, "task_ids", str)
    if task_ids is None:
        return {"statuses": {}, **_without_list("task_ids")}
    statuses: dict[str, Any] = {}
    size = 0
    for task_id in dict.fromkeys(task_ids):
        record = tasks.record_or_none(caller, task_id)
        size += paging.of(record)
        if statuses and size > paging.BUDGET:
            return {"statuses": statuses, "warning": LEFT_OUT}
        statuses[task_id] = record
    return {"statuses": statuses}


def _without_list(key: str) -> dict[str, str]:
    return {"warning": f'Nothing was done: the payload has no list "{key}"'}


def _result(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    """Post the result of a task that is addressed to the caller. The result of any other task is not kept.

    A status that does not say how the task ended is refused for every task.

    A public route posts no results. It answers alike for every task, also for those addressed to its agent.
    """
    requests.check_result(envelope.content)
    task_id = tasks.identify(envelope.content.get("task_id"))
    try:
        if task_id is None:
            raise UnknownTaskError
        results.post_result(caller, wire.result_envelope(task_id, envelope.content))
    except (UnknownTaskError, WrongPartyError):
        return {"type": "result_cached", "warning": NOT_KEPT}
    return {"type": "result_cached", "task_id": str(task_id)}


def _capability_query(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    return {"type": "a2a:capability-response", "capabilities": capabilities(to_anyone=False)}


def _discover(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    return {"type": "a2a:announce", **discovery(to_anyone=False)}


def _announce(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    capabilities = envelope.content.get("capabilities")
    peers.announced(
        caller,
        envelope.fromPeerId,
        name=_text(envelope.content.get("name")),
        url=_text(envelope.content.get("url")),
        capabilities=json_text.dumps(capabilities if isinstance(capabilities, dict | list) else []),
    )
    return {}


def _disconnect(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    peers.left(caller, envelope.fromPeerId)
    return {}


def _credentials(caller: Caller, envelope: Envelope) -> dict[str, Any]:
    """Do nothing. The payload may be a secret, so it is not kept, logged or repeated."""
    nothing = "Nothing was done: this hub keeps no credentials and passes none on. It has discarded the payload."
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
