"""Verification of the sealed journal, by the database or by an exported file. It reads and never writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import connection

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.journal import seals
from mailbox.journal.seals import Head
from mailbox.models import AuditEvent, Seal
from mailbox.words import json_text, sealed
from mailbox.words.errors import MailboxError, NotSealedError
from mailbox.words.kinds import Kind
from mailbox.words.sealed import UNREADABLE, Block, Chain, Finding, Row, Step, unbacked

UNPROVEN = "no head is recorded here: the newest blocks are not proven"
UNREADABLE_RECORD = "the record of the newest block beside the seal key is unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """A verification of some blocks.

    ``finding`` is the first problem, None without one. ``head`` is the last block that was right, None without a block.
    ``erased`` holds the ids of erased rows. ``unsealed`` counts the rows after the newest block, which no seal proves
    yet. ``next_after`` is the row to continue after; None: no block is left. ``unproven`` names the blocks that no head
    proves, if the end was reached and this machine recorded no head; else "".
    """

    finding: Finding | None
    blocks: int
    rows: int
    erased: Sequence[int]
    head: Head | None
    unsealed: int
    next_after: int | None = None
    unproven: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The proof that a row is in the journal: the steps from its leaf hash to the root of its block."""

    row: Row
    leaf: bytes
    steps: Sequence[Step]
    block: Block


def admit(caller: Caller) -> None:
    """Raise `CapabilityMissingError` for a caller that may not read the seals. Operators and admins may.

    Journals a refusal, and nothing else.
    """
    audit.require(caller, Request.to_verify())


def verify(
    *,
    first: int = 1,
    last: int | None = None,
    after: int | None = None,
    blocks: int | None = None,
    head: str = "",
    restored_keys: Sequence[str] = (),
) -> Verification:
    """Check the sealed blocks that hold the rows from ``first`` to ``last``, None for the newest; stop at a problem.

    ``after`` continues behind the block that ends with this row. At most ``blocks`` blocks are checked, None for all
    and the indexes of SQLite. ``head`` is a hash that was recorded elsewhere: the journal must have a block with it.
    The heads that this machine and the database recorded must be in the journal too. ``restored_keys`` are those of a
    backup: their seals are right as well. The head that this machine recorded then does not count. Locks and
    journals nothing.
    """
    chain = Chain([*seals.trusted_keys(), *restored_keys], last=_before(first, after))
    finding = None if chain.last else _of_beginning()
    while finding is None and (seal := _next(chain, last)) is not None and chain.blocks != blocks:
        finding = _check(chain, seal)
    more = finding is None and chain.last is not None and _next(chain, last) is not None
    if finding is None and not more:
        finding = _of_heads(head, of_this_machine=not restored_keys)
    if finding is None and blocks is None:
        finding = _of_indexes()
    return Verification(
        finding=finding,
        blocks=chain.blocks,
        rows=chain.rows,
        erased=sorted(chain.erased),
        head=Head.of(chain.last) if chain.last else None,
        unsealed=_unsealed(),
        next_after=chain.last.last_id if more and chain.last else None,
        unproven="" if more or (not restored_keys and seals.head_file().exists()) else unproven(_end_of(head)),
    )


def unproven(proven: int | None) -> str:
    """Return which blocks are not proven where a head proves the rows up to ``proven``, None without one."""
    return UNPROVEN if proven is None else f"no head is recorded here: no block after row {proven} is proven"


def prove(row_id: int) -> Proof:
    """Return the proof of a sealed row. Raises `NotSealedError`, also if its block is not whole."""
    seal = Seal.objects.over(row_id)
    if seal is None:
        raise NotSealedError(f"Row {row_id} is not sealed yet, or there is no such row.", row=row_id)
    chain = Chain(seals.trusted_keys(), last=_before(row_id, None))
    if problem := _check(chain, seal):
        raise NotSealedError(f"The block of row {row_id} is not whole: {problem.problem}.", row=row_id)
    numbered = list(seals.rows(seal.first_id, seal.last_id, form=seal.form))
    leaves = [sealed.leaf(seal.form, row) for row in numbered]
    for index, row in enumerate(numbered):
        if row["id"] == row_id:
            return Proof(row=row, leaf=leaves[index], steps=sealed.merkle_path(leaves, index), block=seal.block)
    raise NotSealedError(f"There is no row {row_id}.", row=row_id)


def backed_by(data: str) -> frozenset[int]:
    """Return the ids of the rows whose erasure the data of an ``a2a_erased`` row records."""
    try:
        return frozenset(json_text.loads(data)["rows"])
    except (*UNREADABLE, MailboxError):
        return frozenset()


def _before(first: int, after: int | None) -> Block | None:
    """Return the block before the one to begin with; None at the beginning of the journal."""
    seals = Seal.objects.filter(last_id__lt=first) if after is None else Seal.objects.filter(last_id=after)
    before = seals.newest()
    return before.block if before else None


def _next(chain: Chain, last: int | None) -> Seal | None:
    seal = Seal.objects.after(chain.last)
    return seal if seal is None or last is None or seal.first_id <= last else None


def _check(chain: Chain, seal: Seal) -> Finding | None:
    """Check one block, and that a journal row backs each erasure in it."""
    try:
        block = seals.block_of(seal)
    except UNREADABLE:
        problem = "the seal cannot be read, or is spelled in another way"
        return Finding(problem=problem, first_id=seal.first_id, last_id=seal.last_id)
    known = set(chain.erased)
    rows = seals.rows(block.first_id, block.last_id, form=block.form if block.form in sealed.FORMS else 1)
    if finding := chain.check(block, rows):
        return finding
    erased = {row: by for row, by in chain.erased.items() if row not in known}
    return unbacked(block, erased, _backing(set(erased.values())))


def _backing(keys: set[int]) -> Mapping[int, frozenset[int]]:
    rows = AuditEvent.objects.filter(pk__in=keys, kind=Kind.ERASED).values_list("pk", "data")
    return {key: backed_by(data) for key, data in rows}


def _of_beginning() -> Finding | None:
    row = AuditEvent.objects.filter(pk__lt=1).order_by("pk").values_list("pk", flat=True).first()
    return None if row is None else Finding(problem="the row was inserted before the first block", row=row)


def _of_indexes() -> Finding | None:
    """Return a finding if an index of SQLite lacks a row, so that lookups by it do not show the row."""
    if connection.vendor != "sqlite":
        return None
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA integrity_check({AuditEvent._meta.db_table})")
        (problem,) = cursor.fetchone()
    return None if problem == "ok" else Finding(problem=f"the table or an index of it is damaged: {problem}")


def _of_heads(head_hash: str, *, of_this_machine: bool) -> Finding | None:
    """Return a finding if a head that was recorded is not in the journal. None is right."""
    try:
        lost = seals.lost_head(of_this_machine=of_this_machine)
    except (OSError, ValueError):
        return Finding(problem=UNREADABLE_RECORD)
    if lost is not None:
        problem = "the journal ends before the newest block that was recorded, or that block was changed"
        return Finding(problem=problem, last_id=lost.last_id)
    if head_hash and _end_of(head_hash) is None:
        return Finding(problem=f"no block has the hash {head_hash}")
    return None


def _end_of(head_hash: str) -> int | None:
    """Return the last row of the block with this hash; None without such a block."""
    newest = Seal.objects.newest()
    if newest is not None and newest.block.hash == head_hash:
        return newest.last_id
    followed = Seal.objects.filter(previous=head_hash).exclude(previous=sealed.NO_BLOCK)
    return next((seal.first_id - 1 for seal in followed), None)


def _unsealed() -> int:
    newest = Seal.objects.newest()
    return AuditEvent.objects.filter(pk__gt=newest.last_id if newest else 0).count()
