import base64
import hashlib
import json
from typing import Any

import pytest
from a2a.client.card_resolver import parse_agent_card
from a2a.types import AgentCard
from a2a.utils import signing
from a2a.utils.signing import InvalidSignaturesError
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st
from jwt.api_jwk import PyJWK

from agentcards import card_signing
from tests.support import official

pytestmark = pytest.mark.one_database

CARD: dict[str, Any] = {
    "name": "Zoë",
    "description": "Übersetzt \u2028 und rechnet: 1 < 2",
    "version": "1.0",
    "supportedInterfaces": [{"url": "https://hub/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "capabilities": {
        "streaming": False,
        "pushNotifications": True,
        "extendedAgentCard": False,
        "extensions": [{"uri": "urn:x", "params": {"b": 1, "a": 1.5, "€": [0, -1, 1e21, {"empty": {}}], "no": False}}],
    },
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["*/*"],
    "skills": [{"id": "task", "name": "Zoë", "description": "x", "tags": ["general"]}],
    "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
    "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
}
texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
numbers = st.integers(-(2**53 - 1), 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
)


def test_the_official_client_verifies_a_signed_card():
    official.verify(card_signing.signed(CARD))


@pytest.mark.parametrize("changed", [{"name": "Eve"}, {"version": "1.1"}, {"defaultOutputModes": ["text/plain"]}])
def test_the_official_client_refuses_a_changed_card(changed):
    with pytest.raises(InvalidSignaturesError):
        official.verify({**card_signing.signed(CARD), **changed})


def test_the_signed_bytes_are_those_of_the_official_signer():
    theirs = signing._canonicalize_agent_card(parse_agent_card(official.copy_of(CARD)))

    assert card_signing.canonical(CARD) == theirs.encode()


@given(params=st.dictionaries(texts, values, max_size=4), words=texts.filter(bool))
def test_any_card_has_the_bytes_of_the_official_signer(params, words):
    extensions = [{"uri": "urn:x", "params": params}]
    card = {**CARD, "name": words, "capabilities": {**CARD["capabilities"], "extensions": extensions}}
    theirs = signing._canonicalize_agent_card(parse_agent_card(official.copy_of(card)))

    assert card_signing.canonical(card) == theirs.encode()


def test_the_official_signer_s_key_form_reads_the_public_keys():
    (key,) = card_signing.public_keys()

    assert PyJWK(dict(key)).algorithm_name == "ES256"
    assert key.keys() == {"kty", "crv", "x", "y", "kid", "use", "alg"}


def test_the_protected_header_names_the_key_and_its_place(settings):
    settings.PUBLIC_URL = "https://hub.example"

    (made,) = card_signing.signed(CARD)["signatures"]

    padded = made["protected"] + "=" * (-len(made["protected"]) % 4)
    assert json.loads(base64.urlsafe_b64decode(padded)) == {
        "alg": "ES256",
        "kid": card_signing.key_id(),
        "typ": "JOSE",
        "jku": "https://hub.example/.well-known/jwks.json",
    }
    assert len(base64.urlsafe_b64decode(made["signature"] + "==")) == 64


def test_a_key_id_is_the_thumbprint_of_rfc_7638():
    (key,) = card_signing.public_keys()
    members = {name: key[name] for name in ("crv", "kty", "x", "y")}
    text = json.dumps(members, separators=(",", ":"), sort_keys=True).encode()

    assert key["kid"] == base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()


def test_a_card_is_signed_once_in_a_process():
    assert card_signing.signed(CARD) == card_signing.signed(dict(CARD))


def test_a_card_signed_before_a_rotation_stays_valid(settings):
    before = card_signing.signed(CARD)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new secret", [settings.SECRET_KEY]

    after = card_signing.signed(CARD)

    assert len({before["signatures"][0]["protected"], after["signatures"][0]["protected"]}) == 2
    for card in (before, after):
        official.verify(card)
    assert card_signing.public_keys()[0]["kid"] == card_signing.key_id()


def test_a_key_gives_its_secret_away_in_no_member():
    (key,) = card_signing.public_keys()

    assert "d" not in key


def test_an_empty_value_is_left_out_of_the_payload_at_any_depth():
    card = {"name": "", "a": {"b": [], "c": {"d": ""}}, "e": [{}, [""], "x"], "f": False, "g": 0}

    assert card_signing.canonical(card) == b'{"e":["x"],"f":false,"g":0}'


def test_the_signed_card_parses_with_unknown_fields_refused():
    assert ParseDict(card_signing.signed(CARD), AgentCard()).name == "Zoë"
