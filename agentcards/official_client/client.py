"""Calls to one agent elsewhere, through the outbound guard. Each call has bounds of time and of size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from agentcards import client
from agentcards.official_client import interfaces
from agentcards.official_client.bindings import RemoteOperation, WireRequest, wire_of
from agentcards.official_client.interfaces import DEFAULT_KEY_HEADER, Interface, OfferedAgent
from agentcards.official_client.reading import Json, storable_object
from mailbox.outbound import event_streams, exchange
from mailbox.outbound.destinations import BaseUrl

USER_AGENT = "A2A-Hub/A2A-Client"
LARGEST_ANSWER = 4 * 1024 * 1024
CALL_WITHIN = 30.0  # seconds
LOOK_WITHIN = 10.0  # seconds
IDEMPOTENCY_KEY = "Idempotency-Key"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAddress:
    """Where an agent's card is, and the credentials of the hub there.

    ``authorization`` is a whole header of the URL's credentials. ``key`` is an API key, sent as the card asks.
    """

    card_url: str
    authorization: str | None = field(default=None, repr=False)
    key: str = field(default="", repr=False)

    @classmethod
    def parse(cls, url: str, key: str = "") -> AgentAddress:
        """Read the URL of a card, or of an agent above its well-known path. Raises `BlockedUrlError`."""
        base = BaseUrl.parse(url)
        return cls(card_url=interfaces.card_url(base), authorization=base.authorization, key=key)

    @property
    def has_credentials(self) -> bool:
        return bool(self.authorization or self.key)

    def credentials(self, header: str) -> Mapping[str, str]:
        """Return the headers with the credentials. ``header`` takes a key, as a card asks."""
        if not self.key:
            return {} if self.authorization is None else {DEFAULT_KEY_HEADER: self.authorization}
        return {header: f"Bearer {self.key}" if header == DEFAULT_KEY_HEADER else self.key}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedAgent:
    """An agent at one interface. The results of its calls are 1.0 JSON, over each binding."""

    interface: Interface
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)

    def call(
        self,
        operation: RemoteOperation,
        params: Json,
        *,
        within: float = CALL_WITHIN,
        more: Mapping[str, str] | None = None,
    ) -> Json:
        """Call an operation whose answer is no stream; ``more`` are further headers.

        Raises as `exchange.exchange`, and `RemoteRefusalError` for an error of the agent.
        """
        wire = wire_of(self.interface.binding)
        request = wire.request(self.interface, operation, params)
        answer = exchange.exchange(
            request.method,
            request.url,
            within=within,
            headers=self._headers(request, more),
            content=request.content,
            largest=LARGEST_ANSWER,
        )
        return wire.result(operation, answer)

    @contextmanager
    def stream(
        self, operation: RemoteOperation, params: Json, *, within: float, more: Mapping[str, str] | None = None
    ) -> Iterator[Iterator[Json]]:
        """Open the stream of an operation; yield its events as they come, for at most ``within`` seconds.

        An answer that is no stream is one event, if it has a task or a message. Raises as `call`, also while events are
        read: `NoAnswerError` with ``timed_out`` once the time is up.
        """
        wire = wire_of(self.interface.binding)
        request = wire.request(self.interface, operation, params)
        with event_streams.opened(
            request.method,
            request.url,
            within=within,
            headers=self._headers(request, more),
            content=request.content,
            largest=LARGEST_ANSWER,
        ) as opened:
            if opened.is_stream:
                yield (wire.event(event) for event in opened.events())
            else:
                yield iter([wire.result(operation, opened.whole())])

    def _headers(self, request: WireRequest, more: Mapping[str, str] | None) -> Mapping[str, str]:
        return {"User-Agent": USER_AGENT, **request.headers, **(more or {}), **self.credentials}


def discover(address: AgentAddress) -> OfferedAgent:
    """Return the agent that a card offers, from the cache or from its server.

    Raises as `remote_cards.fetch`, and `ValidationError` if the hub speaks none of its interfaces.
    """
    headers = {"User-Agent": USER_AGENT, "A2A-Version": "1.0", **address.credentials(DEFAULT_KEY_HEADER)}
    card = storable_object(client.fetch_card(address.card_url, headers), "the agent's card")
    return interfaces.offered(card, address.card_url, has_credentials=address.has_credentials)


def reached(address: AgentAddress, interface: Interface) -> ReachedAgent:
    """Return the agent at an interface that its card named, with the credentials that it takes."""
    return ReachedAgent(interface=interface, credentials=address.credentials(interface.key_header))
