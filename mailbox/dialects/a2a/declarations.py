"""The declaration of a sender that its work may be done twice, in the member ``a2a-hub`` of a request's metadata.

It is the declaration of the mailbox's own protocol. Source: Covenant idempotency policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from mailbox.dialects.a2a.calls import Call
from mailbox.dialects.a2a.fields import Key, Params
from mailbox.dialects.base.view import parse
from mailbox.words.a2a.v1_0 import HUB
from mailbox.words.envelopes import DuplicateSafety, Idempotency
from mailbox.words.errors import InvalidRequestError


class _Idempotency(Params):
    duplicate_safety: Literal["unsafe", "idempotent"]
    key: Key


class _Declared(Params):
    idempotency: _Idempotency | None = None


class _Metadata(BaseModel):
    model_config = ConfigDict(alias_generator=lambda _: HUB)

    hub: _Declared | None = None


class _Request(BaseModel):
    metadata: _Metadata


def idempotency_of(call: Call, metadata: Mapping[str, Any]) -> Idempotency | None:
    """Return the declaration in the metadata of a send; None without one.

    Other members of ``a2a-hub`` are ignored, since clients may send back the hub's own facts. Raises
    `InvalidRequestError` with the paths of the request, also for an anonymous caller. All anonymous callers share one
    sender, so they would get each other's results.
    """
    if HUB not in metadata:
        return None
    declared = parse(_Request, {"metadata": metadata}).metadata.hub
    if declared is None or (given := declared.idempotency) is None:
        return None
    if call.is_anonymous:
        raise InvalidRequestError({f"metadata.{HUB}.idempotency": "needs an API key"})
    return Idempotency(duplicate_safety=DuplicateSafety(given.duplicate_safety), key=given.key)
