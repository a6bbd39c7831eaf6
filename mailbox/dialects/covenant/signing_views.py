"""Signing keys of agents over HTTP: read, set by a proof, and retired."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from mailbox.access.agents import directory
from mailbox.access.credentials import signing_keys
from mailbox.dialects.base.fields import AgentId, DateMs, Exact, Text
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.covenant import wire
from mailbox.dialects.covenant.views import MailboxView
from mailbox.models import Agent, SigningKey
from mailbox.words.ed25519 import KeyProof
from mailbox.words.times import epoch_ms


class SigningKeyBody(Exact):
    """The new key with its proof: signatures, in base64, of the statement that ``docs/guides/sign-requests.md`` shows.

    ``previous_signature`` is by the agent's key until now. An operator may set a key without it.
    """

    pubkey: Text
    time_ms: DateMs
    signature: Text
    previous_signature: Text | None = None


class WireSigningKey(TypedDict):
    """A signing key of an agent. ``retired_at_ms`` null: it signs requests now."""

    pubkey: str
    proven_at_ms: int
    retired_at_ms: int | None


class ListedSigningKeys(BaseModel):
    """The signing keys, the oldest first. ``agent`` has the public key that names the agent for ever."""

    kind: Literal["a2a_signing_keys"]
    agent: AgentId
    signing_keys: list[WireSigningKey]


class SigningKeysView(MailboxView):
    @describe(
        summary="List the signing keys of an agent, live and retired",
        tag="agents",
        answer=ListedSigningKeys,
        errors=(404,),
        operation_id="list_signing_keys",
    )
    def get(self, request: Request, name: str) -> Response:
        return _answer(directory.typed(self.caller, name))

    @describe(
        summary="Set the signing key of an agent",
        tag="agents",
        body=SigningKeyBody,
        answer=ListedSigningKeys,
        errors=(403, 404, 409),
        operation_id="set_signing_key",
    )
    def post(self, request: Request, name: str) -> Response:
        proof = KeyProof.parse(self.body(SigningKeyBody).model_dump())
        agent = directory.typed(self.caller, name)
        signing_keys.set_signing_key(self.caller, agent, proof)
        return _answer(agent)

    @describe(
        summary="Retire the signing key of an agent at once",
        tag="agents",
        answer=ListedSigningKeys,
        errors=(403, 404),
        operation_id="retire_signing_key",
    )
    def delete(self, request: Request, name: str) -> Response:
        agent = directory.typed(self.caller, name)
        signing_keys.retire_signing_key(self.caller, agent)
        return _answer(agent)


def _answer(agent: Agent) -> Response:
    keys = [_key(key) for key in signing_keys.of(agent)]
    return Response({"kind": "a2a_signing_keys", "agent": wire.agent_id(agent), "signing_keys": keys})


def _key(row: SigningKey) -> dict[str, Any]:
    return {
        "pubkey": row.pubkey,
        "proven_at_ms": epoch_ms(row.proven_at),
        "retired_at_ms": wire.ms(row.retired_at),
    }
