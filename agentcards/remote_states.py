"""Remote agents as operators see them: where they are, whether the hub reaches them, and what it does there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.db.models import Count, Max

from agentcards.fields import UNREADABLE
from agentcards.models import AgentProfile, RemoteCall, RemoteCard, RemoteOutage
from agentcards.official_client import interfaces
from mailbox.models import Agent
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import BlockedUrlError
from mailbox.words import redaction


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteState:
    """A remote agent. ``url`` is shown without its secrets, and ``host`` is the host in it.

    ``down_since`` is the time of the first of the failures to connect, and ``next_call_at`` that of the next call; both
    are None if the hub connected last. ``in_flight`` counts its tasks under way, ``submitted_at`` is when the newest of
    them began. ``card_url`` is the address of its card, "" if the hub would not call it.
    """

    url: str
    host: str
    protocol: str
    down_since: datetime | None = None
    next_call_at: datetime | None = None
    in_flight: int = 0
    submitted_at: datetime | None = None
    card_url: str = ""

    @property
    def is_down(self) -> bool:
        return self.down_since is not None

    @property
    def protocol_words(self) -> str:
        """The protocol, as people call it."""
        return "A2A" if self.protocol == RemoteCall.Protocol.OFFICIAL else "corvid-agent"

    def card_fetched_at(self) -> datetime | None:
        """Return when the hub last fetched the card; None if its copy is gone, which happens after five minutes."""
        fetched = RemoteCard.objects.filter(url=self.card_url).values_list("fetched_at", flat=True)
        return fetched.first() if self.card_url else None


def unreachable() -> Sequence[int]:
    """Return the primary keys of the remote agents to which the hub could not connect."""
    return list(RemoteOutage.objects.values_list("agent_id", flat=True))


def of_agents(agents: Sequence[Agent]) -> Mapping[int, RemoteState]:
    """Return the state of each of these agents that is remote, by primary key."""
    pks = [agent.pk for agent in agents]
    remote = AgentProfile.objects.remote().filter(agent__pk__among=pks)
    profiles = list(remote.only("agent_id", "remote_url", "card_url")) if pks else []
    if not profiles:
        return {}
    outages = {row.agent_id: row for row in RemoteOutage.objects.filter(agent__in=pks)}
    live = RemoteCall.objects.filter(lease__ended_at=None, lease__holder__in=pks).order_by().values("lease__holder")
    calls = {row["lease__holder"]: row for row in live.annotate(number=Count("pk"), newest=Max("began_at"))}
    states = {}
    for profile in profiles:
        outage, call = outages.get(profile.agent_id), calls.get(profile.agent_id)
        states[profile.agent_id] = RemoteState(
            url=_shown(profile.called_url),
            host=urlsplit(profile.called_url).hostname or profile.called_url,
            protocol=RemoteCall.Protocol.OFFICIAL if profile.card_url else RemoteCall.Protocol.CORVID,
            down_since=outage.since if outage else None,
            next_call_at=outage.next_call_at if outage else None,
            in_flight=call["number"] if call else 0,
            submitted_at=call["newest"] if call else None,
            card_url=_card_url(profile),
        )
    return states


def _shown(url: str) -> str:
    """Return the URL, of one with credentials only the server."""
    parts = urlsplit(url)
    if not redaction.has_credentials(url) or not parts.hostname:
        return redaction.url(url)
    return f"{parts.scheme}://{parts.hostname}/…"


def _card_url(profile: AgentProfile) -> str:
    if profile.called_url == UNREADABLE:
        return ""
    try:
        base = BaseUrl.parse(profile.called_url)
    except BlockedUrlError:
        return ""
    return interfaces.card_url(base) if profile.card_url else base.text + interfaces.CARD_PATH
