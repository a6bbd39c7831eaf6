"""Verifications and proofs of the journal as JSON."""

from __future__ import annotations

import hashlib
from typing import Any

from mailbox.upkeep import journal_export
from mailbox.upkeep.verification import Proof, Verification


def verification(found: Verification) -> dict[str, Any]:
    """Render a verification. ``whole`` says whether the blocks of this answer are right."""
    finding = found.finding
    return {
        "kind": "audit_verification",
        "whole": finding is None,
        "finding": None
        if finding is None
        else {
            "problem": finding.problem,
            "first_id": finding.first_id,
            "last_id": finding.last_id,
            "row": finding.row,
        },
        "blocks": found.blocks,
        "rows": found.rows,
        "erased": list(found.erased),
        "unsealed": found.unsealed,
        "head": None if found.head is None else {"last_id": found.head.last_id, "hash": found.head.hash},
        "next_after": found.next_after,
    }


def proof(made: Proof) -> dict[str, Any]:
    """Render the proof of a row."""
    block = journal_export.as_json(made.block)
    return {
        "kind": "audit_proof",
        "row": journal_export.row_as_json(made.row),
        "leaf": made.leaf.hex(),
        "steps": [{"side": side, "hash": sibling.hex()} for side, sibling in made.steps],
        "block": block | {"marks_sha256": hashlib.sha256(made.block.marks).hexdigest(), "hash": made.block.hash},
    }
