"""Peers: other systems that report to the hub. Their reports are stored, and no decision rests on them."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.database.paging import Page, newest
from mailbox.models import Agent, Peer

PEERS_PER_AGENT = 100
PEER_ID_LENGTH, NAME_LENGTH, URL_LENGTH = 200, 200, 500


def seen(caller: Caller, peer_id: str) -> None:
    """Record that the caller's peer was seen now. People have no peers. Journals nothing.

    Each agent keeps the `PEERS_PER_AGENT` peers that were seen last.
    """
    if caller.agent is None:
        return
    now = timezone.now()
    peer_id = peer_id[:PEER_ID_LENGTH]
    known = Peer.objects.of_agent(caller.agent).filter(peer_id=peer_id)
    if not known.update(last_seen_at=now, left_at=None):
        _meet(caller.agent, peer_id, now)


def announced(caller: Caller, peer_id: str, *, name: str, url: str, capabilities: str) -> Peer | None:
    """Store the report of the caller's peer about itself, and that it was seen now. ``capabilities`` is JSON text.

    Returns the peer; None for people, who have no peers. Journals nothing.
    """
    if caller.agent is None:
        return None
    with transaction.atomic(durable=True):
        seen(caller, peer_id)
        peer = Peer.objects.of_agent(caller.agent).select_related("agent").get(peer_id=peer_id[:PEER_ID_LENGTH])
        peer.name, peer.url, peer.capabilities = name[:NAME_LENGTH], url[:URL_LENGTH], capabilities
        peer.save(update_fields=["name", "url", "capabilities"])
    return peer


def left(caller: Caller, peer_id: str) -> None:
    """Record that the caller's peer left. An unknown peer is ignored. Journals nothing."""
    if caller.agent is not None:
        known = Peer.objects.of_agent(caller.agent).filter(peer_id=peer_id[:PEER_ID_LENGTH])
        known.update(left_at=timezone.now())


def listing(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[Peer]:
    """Return a page of peers, newest first: an agent's own peers, all peers for people.

    Raises `InvalidRequestError`.
    """
    rows = Peer.objects.visible_to(caller.party).select_related("agent")
    return newest(rows, limit=limit, cursor=cursor, name="peers")


def _meet(agent: Agent, peer_id: str, now: datetime) -> None:
    defaults = {"first_seen_at": now, "last_seen_at": now}
    Peer.objects.get_or_create(agent=agent, peer_id=peer_id, defaults=defaults)
    mine = Peer.objects.of_agent(agent)
    forgotten = list(mine.last_seen_first().values_list("pk", flat=True)[PEERS_PER_AGENT:])
    if forgotten:
        mine.filter(pk__in=forgotten).delete()
