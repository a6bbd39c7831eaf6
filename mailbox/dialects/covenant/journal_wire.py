"""The journal as JSON: timelines, rows, verifications and proofs."""

import hashlib
from dataclasses import asdict
from typing import Any, Literal, NotRequired, cast
from uuid import UUID

from typing_extensions import TypedDict

from mailbox.access.callers import Caller
from mailbox.dialects.base.wire import actor
from mailbox.dialects.covenant.wire import choice, json
from mailbox.models import AuditEvent
from mailbox.upkeep import journal_export
from mailbox.upkeep.verification import Proof, Verification
from mailbox.words.times import epoch_ms


class JournalEvent(TypedDict):
    """A row of the journal. ``seq`` numbers the changes of one task, from 1; it is null in other rows.

    Only people see ``id``, and ``address``, the network address of the client. It is "" without one. To agents, people
    and the command line are the actor ``operator``, and ``request_id`` is null for the requests of others.
    """

    id: NotRequired[int]
    kind: str
    actor: str
    task_id: UUID | None
    seq: int | None
    at_ms: int
    source: Literal["api", "dashboard", "cli", "scheduler", "local"]
    request_id: str | None
    address: NotRequired[str]
    data: dict[str, Any]


def event(row: AuditEvent, caller: Caller) -> JournalEvent:
    """Render a journal row. ``seq`` numbers the rows of one task.

    An agent sees neither the number of the row, which counts the rows of the whole hub, nor an address. It sees other
    agents by name, people and the command line as `SOME_OPERATOR`, and the ids of its own requests alone.
    """
    is_own = caller.agent is None or caller.agent.pubkey == row.actor_pubkey
    rendered: JournalEvent = {
        "kind": row.kind,
        "actor": actor(row, caller),
        "task_id": row.task_id,
        "seq": row.seq,
        "at_ms": epoch_ms(row.at),
        "source": choice(row.source),
        "request_id": row.request_id if is_own else None,
        "data": json(row.data),
    }
    return rendered if caller.agent else {**rendered, "id": row.pk, "address": row.address}


class Timeline(TypedDict):
    kind: Literal["a2a_timeline"]
    task_id: UUID
    events: list[JournalEvent]
    next_cursor: str | None


class AuditEvents(TypedDict):
    kind: Literal["audit_events"]
    events: list[JournalEvent]
    next_cursor: str | None


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


class AuditVerification(TypedDict):
    """A verification of up to ``blocks`` blocks; ``next_after`` null means that none is left.

    ``erased`` lists erased rows. ``unsealed`` counts the newest rows, which no seal proves yet. ``unproven`` says
    which blocks no head proves, if the hub recorded none; "" otherwise.
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
    unproven: str


def verification(outcome: Verification) -> AuditVerification:
    """Render a verification. ``whole`` says whether the blocks of this answer are right."""
    finding = outcome.finding
    return {
        "kind": "audit_verification",
        "whole": finding is None,
        "finding": None if finding is None else cast(WireFinding, asdict(finding)),
        "blocks": outcome.blocks,
        "rows": outcome.rows,
        "erased": list(outcome.erased),
        "unsealed": outcome.unsealed,
        "head": None if outcome.head is None else {"last_id": outcome.head.last_id, "hash": outcome.head.hash},
        "next_after": outcome.next_after,
        "unproven": outcome.unproven,
    }


class WireStep(TypedDict):
    """The hash of a sibling in the Merkle tree, and its side."""

    side: Literal["left", "right"]
    hash: str


class AuditProof(TypedDict):
    """The proof that the block's signed root covers the row: the steps lead from ``leaf`` to ``block.root``."""

    kind: Literal["audit_proof"]
    row: dict[str, Any]
    leaf: str
    steps: list[WireStep]
    block: dict[str, Any]


def proof(made: Proof) -> AuditProof:
    """Render the proof of a row."""
    block = journal_export.as_json(made.block)
    return {
        "kind": "audit_proof",
        "row": journal_export.row_as_json(made.row),
        "leaf": made.leaf.hex(),
        "steps": [{"side": choice(side), "hash": sibling.hex()} for side, sibling in made.steps],
        "block": block | {"marks_sha256": hashlib.sha256(made.block.marks).hexdigest(), "hash": made.block.hash},
    }
