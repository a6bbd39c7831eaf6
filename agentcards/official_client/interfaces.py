"""The interfaces that an agent's card offers, and the choice of the hub among them.

Source: A2A 1.0, AgentCard and AgentInterface; A2A 0.3, AgentCard.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from agentcards.official_client.reading import Json, object_in, objects_in, text_in
from mailbox.outbound import destinations
from mailbox.outbound.destinations import LONGEST_URL, BaseUrl
from mailbox.outbound.errors import BlockedUrlError, ValidationError
from mailbox.words.a2a.v1_0 import GENERATION, LONGEST_TENANT

CARD_PATH = "/.well-known/agent-card.json"
DEFAULT_KEY_HEADER = "Authorization"


class Binding(StrEnum):
    """A protocol version over a transport, in the order of the hub's preference."""

    JSONRPC_1_0 = "jsonrpc-1.0"
    REST_1_0 = "rest-1.0"
    JSONRPC_0_3 = "jsonrpc-0.3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """One interface of an agent, as its card names it. ``tenant`` is sent with each request, "" for none.

    ``streams``: the agent streams. ``key_header`` is the header that takes an API key; "Authorization" takes it as a
    Bearer key. ``is_hub``: the agent is one of an A2A hub, which stores one task for all requests of one
    Idempotency-Key.
    """

    url: str
    binding: Binding
    tenant: str = ""
    streams: bool = False
    key_header: str = DEFAULT_KEY_HEADER
    is_hub: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedAgent:
    """The facts of a card that the hub uses: the names for people, and the interface."""

    name: str
    description: str
    interface: Interface


def card_url(base: BaseUrl) -> str:
    """Return the URL of the card: the given URL if it names a JSON file, else the well-known path below it."""
    return base.text if base.text.endswith(".json") else base.text + CARD_PATH


def offered(card: Json, card_address: str, *, has_credentials: bool) -> OfferedAgent:
    """Return the agent of a card, with the first interface that the hub can use in the order of `Binding`.

    Credentials go to no other server than that of the card, which the operator named. So an agent with credentials
    needs an interface there. Raises `ValidationError` if no interface is usable.
    """
    own = destinations.receiver(card_address)
    interfaces = sorted(_interfaces(card), key=lambda interface: list(Binding).index(interface.binding))
    if not interfaces:
        raise ValidationError("the card offers no interface of A2A 1.0 (JSONRPC, HTTP+JSON) or 0.3 (JSONRPC)")
    usable = [
        interface for interface in interfaces if not has_credentials or destinations.receiver(interface.url) == own
    ]
    if not usable:
        raise ValidationError("the card offers no interface at its own server; credentials are sent to no other server")
    return OfferedAgent(
        name=text_in(card, "name"), description=text_in(card, "description"), interface=_checked(usable[0])
    )


def _checked(interface: Interface) -> Interface:
    """Return the interface; raise `ValidationError` if the hub may not call its URL."""
    try:
        destinations.judge(interface.url, longest=LONGEST_URL)
    except BlockedUrlError as error:
        raise ValidationError(f"the interface of the card cannot be called: {error.message}") from error
    if "@" in urlsplit(interface.url).netloc:
        raise ValidationError("the interface of the card has credentials in its URL")
    if len(interface.tenant) > LONGEST_TENANT:
        raise ValidationError(f"the tenant in the card is longer than {LONGEST_TENANT} characters")
    return interface


def _interfaces(card: Json) -> Iterator[Interface]:
    """Yield the interfaces of the card that the hub speaks, in the card's order."""
    for entry in objects_in(card, "supportedInterfaces"):
        binding = _binding(text_in(entry, "protocolBinding"), text_in(entry, "protocolVersion"))
        if binding is not None and text_in(entry, "url"):
            yield _interface(card, text_in(entry, "url"), binding, text_in(entry, "tenant"))
    if _is_0_3(text_in(card, "protocolVersion")):
        others = [(text_in(one, "url"), text_in(one, "transport")) for one in objects_in(card, "additionalInterfaces")]
        for url, transport in [(text_in(card, "url"), text_in(card, "preferredTransport") or "JSONRPC"), *others]:
            if url and transport == "JSONRPC":
                yield _interface(card, url, Binding.JSONRPC_0_3, "")


def _interface(card: Json, url: str, binding: Binding, tenant: str) -> Interface:
    capabilities = object_in(card, "capabilities")
    extensions = objects_in(capabilities, "extensions")
    return Interface(
        url=url,
        binding=binding,
        tenant=tenant,
        streams=capabilities.get("streaming") is True,
        key_header=_key_header(card),
        is_hub=any(text_in(one, "uri") == GENERATION for one in extensions),
    )


def _binding(protocol: str, version: str) -> Binding | None:
    major = version.partition(".")[0]
    if major == "1":
        return {"JSONRPC": Binding.JSONRPC_1_0, "HTTP+JSON": Binding.REST_1_0}.get(protocol)
    return Binding.JSONRPC_0_3 if protocol == "JSONRPC" and _is_0_3(version) else None


def _is_0_3(version: str) -> bool:
    return version == "0.3" or version.startswith("0.3.")


def _key_header(card: Json) -> str:
    """Return the header that takes a key by the card's security schemes: Authorization, unless only another is named.

    A 0.3 scheme has its type beside its keys, a 1.0 scheme is named by the one member that it has.
    """
    headers: list[str] = []
    for scheme in object_in(card, "securitySchemes").values():
        if not isinstance(scheme, dict):
            continue
        http = object_in(scheme, "httpAuthSecurityScheme") or (scheme if scheme.get("type") == "http" else {})
        if text_in(http, "scheme").lower() == "bearer":
            return DEFAULT_KEY_HEADER
        key = object_in(scheme, "apiKeySecurityScheme") or (scheme if scheme.get("type") == "apiKey" else {})
        if (text_in(key, "location") or text_in(key, "in")) == "header" and _is_token(text_in(key, "name")):
            headers.append(text_in(key, "name"))
    return headers[0] if headers else DEFAULT_KEY_HEADER


def _is_token(name: str) -> bool:
    """Whether a header may have this name. The headers that frame a request are never named by a card."""
    framing = {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding"}
    letters = name.replace("-", "").replace("_", "")
    return letters.isascii() and letters.isalnum() and len(name) <= 100 and name.lower() not in framing
