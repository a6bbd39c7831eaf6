"""Which interface of a card the hub uses."""

import json

import pytest

from agentcards.models import RemoteConversation
from agentcards.official_client.bindings import RemoteOperation, wire_of
from agentcards.official_client.client import AgentAddress, discover
from agentcards.official_client.interfaces import Binding, card_url, offered
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import ExternalServiceError, ValidationError
from tests.support.official_servers import offie

__all__ = ["offie"]
CARD = "https://agent.example/.well-known/agent-card.json"


def one(protocol, version, url="https://agent.example/x", **more):
    return {"url": url, "protocolBinding": protocol, "protocolVersion": version, **more}


def chosen(*interfaces, has_credentials=False, **card):
    card = {"name": "A", "version": "1", "supportedInterfaces": list(interfaces), **card}
    return offered(card, CARD, has_credentials=has_credentials).interface


RPC, REST = one("JSONRPC", "1.0"), one("HTTP+JSON", "1.0.1")
OLD = one("JSONRPC", "0.3.0")
OLD_CARD = {"protocolVersion": "0.3.0", "url": "https://agent.example/old"}


@pytest.mark.parametrize(
    ("interfaces", "card", "binding"),
    [
        ([REST, RPC], {}, Binding.JSONRPC_1_0),
        ([OLD, REST], {}, Binding.REST_1_0),
        ([OLD], {}, Binding.JSONRPC_0_3),
        ([one("GRPC", "1.0"), REST], OLD_CARD, Binding.REST_1_0),
        ([], OLD_CARD, Binding.JSONRPC_0_3),
        ([], {**OLD_CARD, "preferredTransport": "JSONRPC"}, Binding.JSONRPC_0_3),
        (
            [],
            {
                **OLD_CARD,
                "preferredTransport": "GRPC",
                "additionalInterfaces": [{"transport": "JSONRPC", "url": "https://agent.example/more"}],
            },
            Binding.JSONRPC_0_3,
        ),
        ([one("JSONRPC", "1.1")], {}, Binding.JSONRPC_1_0),
    ],
)
def test_1_0_comes_before_0_3_and_jsonrpc_before_rest(interfaces, card, binding):
    assert chosen(*interfaces, **card).binding == binding


@pytest.mark.parametrize(
    "card",
    [
        {},
        {"supportedInterfaces": "x"},
        {"supportedInterfaces": [3, {"url": 4}]},
        {"supportedInterfaces": [one("JSONRPC", "2.0"), one("HTTP+JSON", "0.3.0"), one("GRPC", "1.0")]},
        {"protocolVersion": "0.2.5", "url": "https://agent.example/old"},
        {"protocolVersion": "0.3.0", "url": "https://agent.example/old", "preferredTransport": "HTTP+JSON"},
    ],
)
def test_a_card_without_a_usable_interface_is_refused(card):
    with pytest.raises(ValidationError, match="offers no interface of A2A"):
        offered({"name": "A", **card}, CARD, has_credentials=False)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/x", "ftp://agent.example/x", "https://a:b@agent.example/x", "https://x.local/", "/x"]
)
def test_an_interface_that_the_hub_may_not_call_is_refused(url):
    with pytest.raises(ValidationError, match="the interface of the card"):
        chosen(one("JSONRPC", "1.0", url))


def test_a_tenant_that_no_row_holds_is_refused_and_never_cut():
    width = RemoteConversation._meta.get_field("tenant").max_length or 0

    assert chosen(one("JSONRPC", "1.0", tenant="t" * width)).tenant == "t" * width
    with pytest.raises(ValidationError, match=f"longer than {width} characters"):
        chosen(one("JSONRPC", "1.0", tenant="t" * (width + 1)))


def test_with_credentials_only_an_interface_at_the_card_s_own_server_is_used():
    elsewhere = one("JSONRPC", "1.0", "https://other.example/x")

    assert chosen(elsewhere, REST).url == "https://other.example/x"
    assert chosen(elsewhere, REST, has_credentials=True).url == REST["url"]
    with pytest.raises(ValidationError, match="credentials are sent to no other server"):
        chosen(elsewhere, has_credentials=True)


@pytest.mark.parametrize(
    ("schemes", "header"),
    [
        ({}, "Authorization"),
        ({"a": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}}, "Authorization"),
        ({"a": {"type": "http", "scheme": "bearer"}}, "Authorization"),
        ({"a": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}}}, "X-API-Key"),
        ({"a": {"type": "apiKey", "in": "header", "name": "X-Key"}}, "X-Key"),
        (
            {
                "a": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
                "b": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
            },
            "Authorization",
        ),
        ({"a": {"apiKeySecurityScheme": {"location": "query", "name": "key"}}}, "Authorization"),
        ({"a": {"apiKeySecurityScheme": {"location": "header", "name": "Host"}}}, "Authorization"),
        ({"a": {"apiKeySecurityScheme": {"location": "header", "name": "X\r\nY"}}, "b": 3}, "Authorization"),
    ],
)
def test_the_header_of_a_key_is_the_one_that_the_card_names(schemes, header):
    assert chosen(RPC, securitySchemes=schemes).key_header == header


def test_the_card_is_below_its_well_known_path_unless_the_url_names_a_file():
    assert card_url(BaseUrl.parse("https://agent.example/")) == CARD
    assert card_url(BaseUrl.parse("https://agent.example/cards/one.json")) == "https://agent.example/cards/one.json"


@pytest.mark.django_db
def test_the_texts_of_a_card_are_made_storable(offie):
    offie.card = {"name": "O\x00\ud800", "supportedInterfaces": [one("HTTP+JSON", "1.0", offie.url, tenant="a\ud800")]}

    found = discover(AgentAddress.parse(offie.url))

    assert (found.name, found.interface.tenant) == ("O\ufffd\ufffd", "a\ufffd")
    asked = wire_of(found.interface.binding).request(found.interface, RemoteOperation.GET, {"id": "t"})
    assert asked.url == f"{offie.url}/a%EF%BF%BD/tasks/t"


@pytest.mark.django_db
@pytest.mark.parametrize("levels", [64, 900])
def test_a_card_that_is_nested_too_deep_is_refused(offie, levels):
    offie.card = {"deep": json.loads("[" * levels + "]" * levels)}

    with pytest.raises(ExternalServiceError, match=r"nested too deep|nesting deeper|not JSON"):
        discover(AgentAddress.parse(offie.url))
