"""Sealed blocks of the journal: the canonical form of a row, the signed statement of a block, tombstones of rows.

`Chain` checks blocks against their rows, from the database or from an exported file. The Merkle trees have the hashes
of RFC 6962, section 2.1: a leaf and a node of the same bytes have different hashes.
"""

import hashlib
import json
import re
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

Step = tuple[str, bytes]  # the side of the sibling, left or right, and its hash
# The columns of a row by the number of the form. A new column needs a new form, so that older seals stay valid.
FORMS: Mapping[int, tuple[str, ...]] = {
    1: ("id", "kind", "actor", "actor_pubkey", "task_id", "seq", "data", "at", "request_id", "source", "address"),
}
NEWEST_FORM = 1
ERASED = "[erased, SHA-256 "  # the beginning of a text whose payload was erased
NO_BLOCK = "0" * 64  # the hash before the first block
_TOMBSTONE = re.compile(r'\{"erased":"([0-9a-f]{64})","by":([1-9][0-9]{0,18})\}')
_MARK = struct.Struct(">q8s")  # the id of a row, and the beginning of its leaf hash
Row = Mapping[str, Any]  # the values of a row by column
UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)


def merkle_leaf(content: bytes) -> bytes:
    """Return the hash of a leaf."""
    return hashlib.sha256(b"\x00" + content).digest()


def merkle_node(left: bytes, right: bytes) -> bytes:
    """Return the hash of the node above two hashes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root above these leaf hashes, in order. Without a leaf it is the hash of no bytes."""
    level = list(leaves)
    while len(level) > 1:
        level = _above(level)
    return level[0] if level else hashlib.sha256(b"").digest()


def merkle_path(leaves: Sequence[bytes], index: int) -> list[Step]:
    """Return the siblings on the way from the leaf at ``index`` to the root, the lowest first."""
    level, steps = list(leaves), []
    while len(level) > 1:
        sibling = index ^ 1
        if sibling < len(level):
            steps.append(("left" if sibling < index else "right", level[sibling]))
        level, index = _above(level), index // 2
    return steps


def _above(level: Sequence[bytes]) -> list[bytes]:
    """Return the next level. A last node without a sibling rises as it is."""
    pairs = [merkle_node(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
    return [*pairs, level[-1]] if len(level) % 2 else pairs


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The data of an erased row: the SHA-256 of the earlier data, and the id of the ``a2a_erased`` row."""

    digest: str
    by: int

    @classmethod
    def read(cls, data: str) -> Self | None:
        """Return the tombstone that ``data`` is; None for any other data."""
        match = _TOMBSTONE.fullmatch(data)
        return cls(match[1], int(match[2])) if match else None

    def __str__(self) -> str:
        return f'{{"erased":"{self.digest}","by":{self.by}}}'


def digest_of(data: str) -> str:
    """Return the SHA-256 of a row's data, which a tombstone keeps."""
    tombstone = Tombstone.read(data)
    return tombstone.digest if tombstone else hashlib.sha256(data.encode()).hexdigest()


def plain(value: Any) -> str | int | None:
    """Return a column's value as JSON holds it. Raises TypeError for a value that no column of the journal has."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="microseconds")
        case UUID():
            return str(value)
        case str() | int() | None:
            return value
    raise TypeError(f"{type(value).__name__} is no value of a journal row")


def leaf(form: int, row: Row) -> bytes:
    """Return the leaf hash of a row. Its data enters by its own hash, so that it can be erased.

    Raises LookupError for a missing column or an unknown form, and AttributeError, TypeError or ValueError for a value
    of a wrong type.
    """
    values = [digest_of(row[name]) if name == "data" else plain(row[name]) for name in FORMS[form]]
    return merkle_leaf(_canonical(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The seal of a block: all rows with an id from ``first_id`` to ``last_id``, which are ``count``.

    ``previous`` is the hash of the block before. ``root``, ``previous``, ``key`` and ``signature`` are hexadecimal.
    ``marks`` names each row, so that a wrong row can be named. ``sealed_at`` is in ISO 8601.
    """

    form: int
    first_id: int
    last_id: int
    count: int
    root: str
    previous: str
    sealed_at: str
    marks: bytes
    key: str
    signature: str = ""

    @property
    def statement(self) -> bytes:
        """The bytes that are signed."""
        marks = hashlib.sha256(self.marks).hexdigest()
        span = [self.first_id, self.last_id, self.count]
        content = ["a2a-hub seal", self.form, *span, self.root, self.previous, self.sealed_at, marks, self.key]
        return b"\x02" + _canonical(content)

    @property
    def hash(self) -> str:
        """The hash by which the next block names this block."""
        return hashlib.sha256(self.statement).hexdigest()

    def is_signed(self) -> bool:
        """Whether the signature is that of ``key``."""
        try:
            public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.key))
            signature = bytes.fromhex(self.signature)
            public.verify(signature, self.statement)
        except (AttributeError, InvalidSignature, TypeError, ValueError):
            return False
        return signature.hex() == self.signature

    def marked(self) -> Iterator[tuple[int, bytes]]:
        """Yield the id of each sealed row, and the first 8 bytes of its leaf hash."""
        yield from _MARK.iter_unpack(self.marks)


def signature(seed: str, statement: bytes) -> str:
    """Return the Ed25519 signature by the key with this hexadecimal seed."""
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed)).sign(statement).hex()


def public_key(seed: str) -> str:
    """Return the hexadecimal public key of this hexadecimal seed."""
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed)).public_key().public_bytes_raw().hex()


def marks(leaves: Sequence[tuple[int, bytes]]) -> bytes:
    """Return the marks of rows, given as id and leaf hash."""
    return b"".join(_MARK.pack(row, found[:8]) for row, found in leaves)


def _canonical(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


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
            finding = self._of_seal(block) or self._of_rows(block, rows)
        except UNREADABLE:
            finding = _at(block, "the seal or its rows cannot be read")
        if finding is None:
            self.last = block
            self.blocks += 1
            self.rows += block.count
        return finding

    def _of_seal(self, block: Block) -> Finding | None:
        first, previous = (self.last.last_id + 1, self.last.hash) if self.last else (1, NO_BLOCK)
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
                leaves.append((number, leaf(block.form, row)))
                tombstone = Tombstone.read(row["data"])
            except UNREADABLE:
                return _at(block, "the row was changed: a column cannot be read, or is spelled in another way", number)
            if tombstone:
                erased[number] = tombstone.by
            if len(leaves) > block.count + 1:
                break  # one row too many suffices to name it
        if merkle_root([leaf_hash for _, leaf_hash in leaves]).hex() == block.root and len(leaves) == block.count:
            self.erased |= erased
            return None
        return _difference(block, leaves)


def _difference(block: Block, leaves: Sequence[tuple[int, bytes]]) -> Finding:
    """Return the first row that is not as the block marks it."""
    marked, stored = dict(block.marked()), {number: leaf[:8] for number, leaf in leaves}
    for number in sorted(marked.keys() | stored.keys()):
        if number not in stored:
            return _at(block, "the row was deleted", number)
        if number not in marked:
            return _at(block, "the row was inserted", number)
        if marked[number] != stored[number]:
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
