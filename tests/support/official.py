"""The official SDK as the judge of the hub's JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from a2a.client.card_resolver import parse_agent_card
from a2a.types import AgentCard
from a2a.utils.proto_utils import validate_proto_required_fields
from a2a.utils.signing import create_signature_verifier
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message as ProtoMessage
from jwt.api_jwk import PyJWKSet

from agentcards import card_signing

Kind = TypeVar("Kind", bound=ProtoMessage)


def parsed(card: Mapping[str, Any]) -> AgentCard:
    """Return the card as a client of 1.0 reads it, with unknown fields refused and no required field missing."""
    return read(card, AgentCard)


def read(value: Mapping[str, Any], kind: type[Kind]) -> Kind:
    """Return JSON of 1.0 as the SDK's type, with unknown fields refused and no required field missing."""
    message: Kind = kind()
    ParseDict(copy_of(value), message)
    validate_proto_required_fields(message)
    return message


def verify(card: Mapping[str, Any], keys: Sequence[Mapping[str, Any]] | None = None) -> None:
    """Verify the card as the official client does; ``keys`` None are those of the hub."""
    known = PyJWKSet.from_dict({"keys": list(keys or card_signing.public_keys())})
    verifier = create_signature_verifier(lambda kid, _: known[str(kid)], ["ES256"])
    verifier(parse_agent_card(copy_of(card)))


def copy_of(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card after its way over the wire. The SDK changes what it reads."""
    copied: dict[str, Any] = json.loads(json.dumps(card))
    return copied
