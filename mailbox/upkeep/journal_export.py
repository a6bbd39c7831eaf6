"""The journal as a file of JSON lines, which can be verified without the hub.

The first line names the public keys. A seal precedes the rows of its block. The rows after ``unsealed`` have no seal
yet. The last line counts rows and blocks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from mailbox.journal import seals
from mailbox.models import Seal
from mailbox.upkeep import verification
from mailbox.words import sealed
from mailbox.words.kinds import Kind
from mailbox.words.sealed import UNREADABLE, Block, Chain, Finding, Row

FORMAT = 1
NEWEST_ROW = 2**63 - 1
Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalExport:
    """The result of an export. ``head`` is None without a block."""

    rows: int
    blocks: int
    head: seals.Head | None


def write(stream: BinaryIO) -> JournalExport:
    """Write the journal, a few rows at a time. Rows that are written meanwhile may be missing."""
    rows, blocks, last = 0, 0, None
    stream.write(_line({"a2a_journal": FORMAT, "keys": seals.trusted_keys()}))
    while (seal := Seal.objects.after(last)) is not None:
        last = seal.block
        blocks += 1
        stream.write(_line({"seal": as_json(last) | {"marks": last.marks.hex()}}))
        rows += _write_rows(stream, last.first_id, last.last_id, last.form)
    stream.write(_line({"unsealed": True}))
    rows += _write_rows(stream, last.last_id + 1 if last else 1, NEWEST_ROW, sealed.NEWEST_FORM)
    stream.write(_line({"end": {"rows": rows, "blocks": blocks}}))
    return JournalExport(rows=rows, blocks=blocks, head=seals.Head.of(last) if last else None)


def as_json(block: Block) -> dict[str, Any]:
    """Return the block without its marks."""
    names = ("form", "first_id", "last_id", "count", "root", "previous", "sealed_at", "key", "signature")
    return {name: getattr(block, name) for name in names}


def row_as_json(row: Row) -> dict[str, Any]:
    """Return the columns of a row as they are hashed. Its data is the whole text."""
    return {name: sealed.plain(value) for name, value in row.items()}


def verify(file: Path, *, key: str = "", head: str = "") -> verification.Verification:
    """Check an exported journal. Only seals of the public ``key`` are right; "" accepts the keys that the file names.

    ``head`` is a hash that was recorded elsewhere. Raises OSError if the file cannot be read.
    """
    with file.open("rb") as stream:
        reading = _Reading(map(orjson.loads, stream))
        try:
            finding = reading.check(key, head)
        except (*UNREADABLE, _UnreadableLineError):
            finding = Finding(problem=f"line {reading.number} of the file cannot be read, or the file is cut off")
    chain = reading.chain
    return verification.Verification(
        finding=finding,
        blocks=chain.blocks,
        rows=chain.rows,
        erased=sorted(chain.erased),
        head=seals.Head.of(chain.last) if chain.last else None,
        unsealed=reading.unsealed,
        unproven=verification.unproven(reading.ends.get(head)),
    )


class _UnreadableLineError(Exception):
    """A line of the file is missing, or is no JSON."""


@dataclass(slots=True)
class _Reading:
    lines: Iterator[Line]
    chain: Chain = field(default_factory=lambda: Chain(()))
    number: int = 0
    rows: int = 0
    unsealed: int = 0
    line: Line = field(default_factory=dict)
    backed: dict[int, frozenset[int]] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)  # the last row of each block by its hash

    def check(self, key: str, head: str) -> Finding | None:
        """Return the first problem of the file. Raises `_UnreadableLineError`, and one of `UNREADABLE`."""
        header = self._next()
        if header["a2a_journal"] != FORMAT:
            return Finding(problem="the file is no journal of this format")
        self.chain.trusted = [key] if key else list(header["keys"])
        self._next()
        while "seal" in self.line:
            seal = self.line["seal"]
            block = Block(**{**seal, "marks": bytes.fromhex(seal["marks"])})
            self._next()
            if finding := self.chain.check(block, self._rows()):
                return finding
            self.ends[block.hash] = block.last_id
        if "unsealed" not in self.line:
            return Finding(problem=f"line {self.number} of the file is out of place")
        self._next()
        self.unsealed = sum(1 for _ in self._rows())
        return self._of_end(self.line["end"], head)

    def _next(self) -> Line:
        self.number += 1
        try:
            self.line = next(self.lines)
        except (StopIteration, ValueError) as error:
            raise _UnreadableLineError from error
        return self.line

    def _rows(self) -> Iterator[Row]:
        """Yield the rows up to the next line of another sort."""
        while "row" in self.line:
            row: Row = self.line["row"]
            if row["kind"] == Kind.ERASED:
                self.backed[row["id"]] = verification.backed_by(row["data"])
            self.rows += 1
            yield row
            self._next()

    def _of_end(self, end: Mapping[str, int], head: str) -> Finding | None:
        if (end["rows"], end["blocks"]) != (self.rows, self.chain.blocks):
            return Finding(problem="the file does not hold as many rows and blocks as its end says")
        for row, by in sorted(self.chain.erased.items()):
            if row not in self.backed.get(by, ()):
                return Finding(problem=f"the row was erased, but row {by} does not record that", row=row)
        if head and head not in self.ends:
            return Finding(problem=f"no block has the hash {head}")
        return None


def _write_rows(stream: BinaryIO, first: int, last: int, form: int) -> int:
    count = 0
    for row in seals.rows(first, last, form=form):
        stream.write(_line({"row": row_as_json(row)}))
        count += 1
    return count


def _line(value: Line) -> bytes:
    return orjson.dumps(value) + b"\n"
