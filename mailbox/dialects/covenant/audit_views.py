"""Verification and proofs of the journal over HTTP, for operators and admins."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from mailbox.dialects.base.fields import Exact, QueryInteger
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.covenant import audit_wire
from mailbox.dialects.covenant.views import MailboxView
from mailbox.upkeep import verification
from mailbox.words.errors import SHOWN, NotSealedError

MOST_BLOCKS = 50
NEWEST_ROW = 2**63 - 1
_NUMBER = re.compile(r"[0-9]{1,18}")


class VerifyQuery(Exact):
    """The rows to check. ``after`` is the ``next_after`` of the answer before; ``head`` a hash recorded elsewhere."""

    from_row: QueryInteger = Field(1, ge=1, le=NEWEST_ROW)
    to_row: QueryInteger | None = Field(None, ge=1, le=NEWEST_ROW)
    after: QueryInteger | None = Field(None, ge=1, le=NEWEST_ROW)
    blocks: QueryInteger = Field(10, ge=1, le=MOST_BLOCKS)
    head: str = Field("", max_length=64)


class WireFinding(TypedDict):
    """The first problem: the block by its ids, null outside of a block, and the row, null without one."""

    problem: str
    first_id: int | None
    last_id: int | None
    row: int | None


class WireHead(TypedDict):
    """The last block that was checked, by its last row and its hash."""

    last_id: int
    hash: str


class AuditVerification(BaseModel):
    """A verification of up to ``blocks`` blocks; ``next_after`` null means that none is left.

    ``erased`` lists erased rows. ``unsealed`` counts the newest rows, which no seal proves yet.
    """

    kind: Literal["audit_verification"]
    whole: bool
    finding: WireFinding | None
    blocks: int
    rows: int
    erased: list[int]
    unsealed: int
    head: WireHead | None
    next_after: int | None


class WireStep(TypedDict):
    """The hash of a sibling in the Merkle tree, and its side."""

    side: Literal["left", "right"]
    hash: str


class AuditProof(BaseModel):
    """The proof that the block's signed root covers the row: the steps lead from ``leaf`` to ``block.root``."""

    kind: Literal["audit_proof"]
    row: dict[str, Any]
    leaf: str
    steps: list[WireStep]
    block: dict[str, Any]


class VerifyView(MailboxView):
    @describe(
        summary="Verify the sealed journal",
        tag="audit",
        query=VerifyQuery,
        answer=AuditVerification,
        errors=(403,),
        operation_id="verify_journal",
    )
    def get(self, request: Request) -> Response:
        query = self.query(VerifyQuery)
        verification.admit(self.caller)
        found = verification.verify(
            first=query.from_row, last=query.to_row, after=query.after, blocks=query.blocks, head=query.head
        )
        return Response(audit_wire.verification(found))


class ProofView(MailboxView):
    @describe(
        summary="Prove that a row is in the sealed journal",
        tag="audit",
        answer=AuditProof,
        errors=(403, 404),
        operation_id="prove_row",
    )
    def get(self, request: Request, row_id: str) -> Response:
        verification.admit(self.caller)
        if not _NUMBER.fullmatch(row_id):
            raise NotSealedError("A row of the journal is named by its number.", row=row_id[:SHOWN])
        return Response(audit_wire.proof(verification.prove(int(row_id))))
