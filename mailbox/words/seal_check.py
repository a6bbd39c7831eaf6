"""Checks sealed blocks against their rows, wherever both come from: the database or an exported file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mailbox.words import merkle, sealed
from mailbox.words.sealed import Block, Row, Tombstone

UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The first problem of a journal: the block by its ids, the row, and the reason.

    ``first_id`` and ``last_id`` are None outside of any block. ``row`` is None if the problem is not one row.
    """

    problem: str
    first_id: int | None = None
    last_id: int | None = None
    row: int | None = None

    @property
    def sentence(self) -> str:
        """The place and the problem, without a full stop."""
        places = [f"row {self.row}"] if self.row is not None else []
        if self.first_id is not None and self.last_id is not None:
            places.append(f"block of rows {self.first_id} to {self.last_id}")
        elif self.last_id is not None:
            places.append(f"block that ends with row {self.last_id}")
        return ": ".join([", ".join(places), self.problem] if places else [self.problem])


@dataclass(slots=True)
class Chain:
    """Checks blocks in their order.

    ``trusted`` are the public keys that may have signed. ``last`` is the block before the next, None at the beginning.
    ``erased`` holds the erased rows of the blocks, each with the id of the journal row that backs its erasure.
    """

    trusted: Collection[str]
    last: Block | None = None
    blocks: int = 0
    rows: int = 0
    erased: dict[int, int] = field(default_factory=dict)

    def check(self, block: Block, rows: Iterable[Row]) -> Finding | None:
        """Return the first problem of the next block, None without one. ``rows`` are those between its ids, in order.

        The rows are read only if the seal itself is right.
        """
        try:
            found = self._of_seal(block) or self._of_rows(block, rows)
        except UNREADABLE:
            found = _at(block, "the seal or its rows cannot be read")
        if found is None:
            self.last = block
            self.blocks += 1
            self.rows += block.count
        return found

    def _of_seal(self, block: Block) -> Finding | None:
        first, previous = (self.last.last_id + 1, self.last.hash) if self.last else (1, sealed.NO_BLOCK)
        if not block.is_signed():
            return _at(block, "the seal was changed: its signature is wrong")
        if block.key not in self.trusted:
            return _at(block, f"the seal is signed by an unknown key, {block.key}")
        if block.first_id != first:
            span = Finding(problem="the seal of these rows is missing", first_id=first, last_id=block.first_id - 1)
            return span if block.first_id > first else _at(block, "the seal overlaps the one before")
        if block.previous != previous:
            return _at(block, "the seal does not name the one before")
        return None

    def _of_rows(self, block: Block, rows: Iterable[Row]) -> Finding | None:
        leaves: list[tuple[int, bytes]] = []
        erased: dict[int, int] = {}
        for row in rows:
            number = row["id"]
            if leaves and number <= leaves[-1][0]:
                return _at(block, "the rows are not in order", number)
            try:
                leaves.append((number, sealed.leaf(block.form, row)))
                tombstone = Tombstone.read(row["data"])
            except UNREADABLE:
                return _at(block, "the row was changed: a column cannot be read", number)
            if tombstone:
                erased[number] = tombstone.by
            if len(leaves) > block.count + 1:
                break  # one row too many suffices to name it
        if merkle.root([leaf for _, leaf in leaves]).hex() == block.root and len(leaves) == block.count:
            self.erased |= erased
            return None
        return _difference(block, leaves)


def _difference(block: Block, leaves: Sequence[tuple[int, bytes]]) -> Finding:
    """Return the first row that is not as the block marks it."""
    marked, found = dict(block.marked()), {number: leaf[:8] for number, leaf in leaves}
    for number in sorted(marked.keys() | found.keys()):
        if number not in found:
            return _at(block, "the row was deleted", number)
        if number not in marked:
            return _at(block, "the row was inserted", number)
        if marked[number] != found[number]:
            return _at(block, "the row was changed", number)
    return _at(block, "the rows are not those of the seal")


def unbacked(block: Block, erased: Mapping[int, int], backed: Mapping[int, Collection[int]]) -> Finding | None:
    """Return the first erased row that its ``a2a_erased`` row does not name. ``backed`` has what each names."""
    for number, by in sorted(erased.items()):
        if number not in backed.get(by, ()):
            return _at(block, f"the row was erased, but row {by} does not record that", number)
    return None


def _at(block: Block, problem: str, row: int | None = None) -> Finding:
    return Finding(problem=problem, first_id=block.first_id, last_id=block.last_id, row=row)
