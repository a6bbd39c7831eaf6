"""Sealed blocks of the journal: the canonical form of a row, the signed statement of a block, tombstones of rows."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from mailbox.words import merkle

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


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The data of an erased row: the SHA-256 of the earlier data, and the id of the ``a2a_erased`` row."""

    digest: str
    by: int

    @classmethod
    def read(cls, data: str) -> Self | None:
        """Return the tombstone that ``data`` is; None for any other data."""
        found = _TOMBSTONE.fullmatch(data)
        return cls(found[1], int(found[2])) if found else None

    def __str__(self) -> str:
        return f'{{"erased":"{self.digest}","by":{self.by}}}'


def digest_of(data: str) -> str:
    """Return the SHA-256 of a row's data, which a tombstone keeps."""
    found = Tombstone.read(data)
    return found.digest if found else hashlib.sha256(data.encode()).hexdigest()


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
    return merkle.leaf(_canonical(values))


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
            public.verify(bytes.fromhex(self.signature), self.statement)
        except (AttributeError, InvalidSignature, TypeError, ValueError):
            return False
        return True

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
