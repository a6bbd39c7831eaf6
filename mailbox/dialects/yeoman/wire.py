"""Results and peers as YEOMAN's systems spell them: pure, no queries, no clock.

Source: Agnostic, YeomanA2AClient; SecureYeoman, PeerAgent.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from mailbox.models import Peer
from mailbox.words import json_text
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.times import epoch_ms

RESULT_WORDS: Mapping[str, ResultStatus] = {
    "failed": ResultStatus.ERROR,
    "error": ResultStatus.ERROR,
    "cancelled": ResultStatus.ERROR,
    "partial": ResultStatus.PARTIAL,
}


def result_envelope(task_id: UUID, content: Mapping[str, Any]) -> ResultEnvelope:
    """Read the payload of an ``a2a:result``: an object becomes a json block, text a text block.

    It is an error where its status says so, or where an object without a status carries an ``error``. Why it failed is
    that error, as JSON when it is no text; without one, a result that is text.
    """
    given = content.get("result")
    inner = given if isinstance(given, Mapping) else {}
    word = content.get("status") or inner.get("status")
    said = content.get("error") or inner.get("error")
    outcome = RESULT_WORDS.get(word, ResultStatus.OK) if isinstance(word, str) else ResultStatus.OK
    if not word and said:
        outcome = ResultStatus.ERROR
    block = {"type": "text", "text": given} if isinstance(given, str) else {"type": "json", "value": given}
    why = None
    if outcome is ResultStatus.ERROR:
        reason = said or (given if isinstance(given, str) else None)
        why = reason if reason is None or isinstance(reason, str) else json_text.dumps(reason)
    return ResultEnvelope(task_id=task_id, status=outcome, content=[] if given is None else [block], error_message=why)


def peer(row: Peer, now: datetime) -> dict[str, Any]:
    """Render a PeerAgent. Its trust is never more than ``untrusted``: what it says of itself proves nothing."""
    return {
        "id": row.peer_id,
        "name": row.name,
        "url": row.url,
        "publicKey": row.agent.pubkey,
        "trustLevel": "untrusted",
        "capabilities": row.announced,
        "lastSeen": epoch_ms(row.last_seen_at),
        "status": row.status(now),
    }
