"""Other systems that said they are alive, over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.utils import timezone
from pydantic import BaseModel
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from mailbox import peers
from mailbox.dialects.covenant import shapes, wire
from mailbox.dialects.covenant.views import MailboxView
from mailbox.dialects.fields import AgentId
from mailbox.dialects.openapi import describe
from mailbox.models import Peer
from mailbox.models.task import epoch_ms


class WirePeer(TypedDict):
    """``agent`` is whose credential it uses; all but that and the times is what it says of itself."""

    agent: AgentId
    peer_id: str
    name: str
    url: str
    capabilities: Any
    status: Literal["online", "suspect", "offline"]
    first_seen_at_ms: int
    last_seen_at_ms: int


class Peers(BaseModel):
    kind: Literal["a2a_peers"]
    peers: list[WirePeer]
    next_cursor: str | None


class PeersView(MailboxView):
    @describe(
        summary="List the peers that sent heartbeats: an agent its own, people all",
        tag="agents",
        query=shapes.ListQuery,
        answer=Peers,
        operation_id="list_peers",
    )
    def get(self, request: Request) -> Response:
        asked, now = self.query(shapes.ListQuery), timezone.now()
        page = peers.listing(self.caller, limit=asked.limit, cursor=asked.cursor)
        found = [_peer(peer, now) for peer in page.items]
        return Response({"kind": "a2a_peers", "peers": found, "next_cursor": page.next_cursor})


def _peer(row: Peer, now: datetime) -> dict[str, Any]:
    return {
        "agent": wire.agent_id(row.agent),
        "peer_id": row.peer_id,
        "name": row.name,
        "url": row.url,
        "capabilities": row.announced,
        "status": row.status(now),
        "first_seen_at_ms": epoch_ms(row.first_seen_at),
        "last_seen_at_ms": epoch_ms(row.last_seen_at),
    }
