"""The journal over HTTP: its rows, and their verification and proofs."""

import re

from pydantic import Field

from mailbox.dialects.base.bodies import MAX_DATE_MS, Exact, QueryInteger, moment
from mailbox.dialects.base.openapi import operation
from mailbox.dialects.covenant import journal_wire
from mailbox.dialects.covenant.requests import ListQuery
from mailbox.dialects.covenant.views import MailboxView
from mailbox.inspection import lists
from mailbox.upkeep import verification
from mailbox.words.errors import SHOWN, NotSealedError

MOST_BLOCKS = 50
NEWEST_ROW = 2**63 - 1
_NUMBER = re.compile(r"[0-9]{1,18}")


class AuditQuery(ListQuery):
    limit: QueryInteger = Field(20, ge=1, le=1000)
    since_ms: QueryInteger | None = Field(None, ge=0, le=MAX_DATE_MS)


class AuditView(MailboxView):
    @operation("list_journal")
    def get(self, query: AuditQuery) -> journal_wire.AuditEvents:
        page = lists.recent_events(self.caller, limit=query.limit, cursor=query.cursor, since=moment(query.since_ms))
        events = [journal_wire.event(event, self.caller) for event in page.items]
        return {"kind": "audit_events", "events": events, "next_cursor": page.next_cursor}


class VerifyQuery(Exact):
    """The rows to check. ``after`` is the ``next_after`` of the answer before; ``head`` a hash recorded elsewhere."""

    from_row: QueryInteger = Field(1, ge=1, le=NEWEST_ROW)
    to_row: QueryInteger | None = Field(None, ge=1, le=NEWEST_ROW)
    after: QueryInteger | None = Field(None, ge=1, le=NEWEST_ROW)
    blocks: QueryInteger = Field(10, ge=1, le=MOST_BLOCKS)
    head: str = Field("", max_length=64)


class VerifyView(MailboxView):
    @operation("verify_journal", errors=(403,))
    def get(self, query: VerifyQuery) -> journal_wire.AuditVerification:
        verification.admit(self.caller)
        verified = verification.verify(
            first=query.from_row, last=query.to_row, after=query.after, blocks=query.blocks, head=query.head
        )
        return journal_wire.verification(verified)


class ProofView(MailboxView):
    @operation("prove_row", errors=(403, 404))
    def get(self, row_id: str) -> journal_wire.AuditProof:
        verification.admit(self.caller)
        if not _NUMBER.fullmatch(row_id):
            raise NotSealedError("A row of the journal is named by its number.", row=row_id[:SHOWN])
        return journal_wire.proof(verification.prove(int(row_id)))
