"""Results and peers as YEOMAN's systems spell them: pure, no queries, no clock.

Source: Agnostic, YeomanA2AClient; SecureYeoman, PeerAgent.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from mailbox.models import Peer
from mailbox.words import json_text
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.times import epoch_ms

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.yeoman.answers import PeerAgent

RESULT_WORDS: Mapping[str, ResultStatus] = {
    "completed": ResultStatus.OK,
    "ok": ResultStatus.OK,
    "success": ResultStatus.OK,
    "failed": ResultStatus.ERROR,
    "error": ResultStatus.ERROR,
    "cancelled": ResultStatus.ERROR,
    "partial": ResultStatus.PARTIAL,
}

UNFINISHED = ("pending", "running")  # Agnostic's words for a task that has no result yet

STATUS: Mapping[Peer.Status, Literal["online", "suspect", "offline"]] = {
    Peer.Status.ONLINE: "online",
    Peer.Status.SUSPECT: "suspect",
    Peer.Status.OFFLINE: "offline",
}


def result_envelope(task_id: UUID, content: Mapping[str, Any]) -> ResultEnvelope:
    """Read the payload of an ``a2a:result`` after `requests.check_result`.

    Text becomes a text block, any other value a json block.
    The result is an error if its status is, or if it has an ``error`` and no status. The reason of an error, and the
    message of a partial result, is that ``error``, as JSON if it is no text. Without an ``error`` the reason is a
    result that is text.
    """
    given = content.get("result")
    inner = given if isinstance(given, Mapping) else {}
    word = content.get("status") or inner.get("status")
    error = content.get("error") or inner.get("error")
    outcome = RESULT_WORDS.get(word, ResultStatus.OK) if isinstance(word, str) else ResultStatus.OK
    if not word and error:
        outcome = ResultStatus.ERROR
    block = {"type": "text", "text": given} if isinstance(given, str) else {"type": "json", "value": given}
    why = None
    if outcome is not ResultStatus.OK:
        reason = error or (given if isinstance(given, str) and outcome is ResultStatus.ERROR else None)
        why = reason if reason is None or isinstance(reason, str) else json_text.dumps(reason)
    return ResultEnvelope(task_id=task_id, status=outcome, content=[] if given is None else [block], error_message=why)


def peer(row: Peer, now: datetime) -> PeerAgent:
    """Render a peer. It is always ``untrusted``: a message about itself proves nothing."""
    return {
        "id": row.peer_id,
        "name": row.name,
        "url": row.url,
        "publicKey": row.agent.pubkey,
        "trustLevel": "untrusted",
        "capabilities": row.announced,
        "lastSeen": epoch_ms(row.last_seen_at),
        "status": STATUS[row.status(now)],
    }
