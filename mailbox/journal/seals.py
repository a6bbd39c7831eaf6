"""The seals of the journal: the seal key, the recorded heads, and the rows of sealed blocks as they are hashed.

The state of the seals takes a few indexed queries. Only a verification reads the rows of blocks.
"""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import orjson
from django.conf import settings
from django.db import OperationalError, connection
from django.db.models import Func, TextField

from mailbox.database.backups import files
from mailbox.models import AuditEvent, Seal, SealHead
from mailbox.words import sealed

SPELLED = ("task_id", "at")  # the columns that SQLite stores as text, which Django reads in any spelling
READ_AT_ONCE = 100  # rows; old rows may hold updates of a megabyte


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The newest block: its last row and its hash. The hash stands for the whole journal up to there."""

    last_id: int
    hash: str

    @classmethod
    def of(cls, block: sealed.Block) -> Self:
        return cls(last_id=block.last_id, hash=block.hash)

    @classmethod
    def recorded(cls) -> Self | None:
        """Return the head that this machine recorded beside the seal key; None without a record.

        Raises ValueError if the record is unreadable, and OSError.
        """
        try:
            fields = orjson.loads(head_file().read_bytes())
            return cls(last_id=int(fields["last_id"]), hash=str(fields["hash"]))
        except FileNotFoundError:
            return None
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(f"{head_file()} is unreadable") from error

    @classmethod
    def of_the_database(cls) -> Self | None:
        """Return the head in the row of the database; None without one."""
        row = SealHead.objects.first()
        return cls(last_id=row.last_id, hash=row.hash) if row else None

    def store(self) -> None:
        """Store this head in the row of the database. The transaction of its seal contains this."""
        SealHead.objects.update_or_create(pk=1, defaults={"last_id": self.last_id, "hash": self.hash})

    def record(self) -> None:
        """Record this head beside the seal key, unless another process records a head now. Raises OSError."""
        with contextlib.suppress(files.BackupError), files.appearing(head_file()) as stream:
            stream.write(orjson.dumps({"last_id": self.last_id, "hash": self.hash}))

    def is_in_the_journal(self) -> bool:
        """Whether a seal has this hash."""
        seal = Seal.objects.filter(last_id=self.last_id).first()
        return seal is not None and seal.block.hash == self.hash


def lost_head(*, of_this_machine: bool = True) -> Head | None:
    """Return a head of this machine or of the database that no seal has. None is right.

    Raises ValueError if the record of this machine is unreadable, and OSError.
    """
    heads = [Head.recorded() if of_this_machine else None, Head.of_the_database()]
    return next((head for head in heads if head is not None and not head.is_in_the_journal()), None)


def head_file() -> Path:
    """Return the file in which this machine records the head."""
    return Path(settings.A2A_VAR) / "seal_head"


def trusted_keys() -> list[str]:
    """Return the public keys whose seals are accepted: the hub's own, A2A_SEAL_TRUSTED_KEYS, those of `trust`."""
    return [sealed.public_key(settings.A2A_SEAL_KEY), *settings.A2A_SEAL_TRUSTED_KEYS, *_stored_keys()]


def trust(keys: Iterable[str]) -> None:
    """Store public keys whose seals this machine accepts from now on, beside the seal key. Raises OSError."""
    stored = dict.fromkeys([*_stored_keys(), *keys])
    with files.appearing(_keys_file()) as stream:
        stream.write("\n".join(stored).encode("ascii"))


def _stored_keys() -> list[str]:
    return _keys_file().read_text("ascii").split() if _keys_file().exists() else []


def _keys_file() -> Path:
    return Path(settings.A2A_VAR) / "seal_trusted_keys"


def rows(first: int, last: int, *, form: int = sealed.NEWEST_FORM) -> Iterator[sealed.Row]:
    """Yield the rows with these ids, in order, a few at a time.

    A row has its id alone if the database returns a column in another type or spelling than it was written in.
    """
    mark = first - 1
    while True:
        span = AuditEvent.objects.filter(pk__gt=mark, pk__lte=last).order_by("pk")
        keys = list(span.values_list("pk", flat=True)[:READ_AT_ONCE])
        if not keys:
            return
        yield from _read(keys, form)
        mark = keys[-1]


def _read(keys: list[int], form: int) -> Iterator[sealed.Row]:
    spellings = {f"{name}_spelled": _quoted(name) for name in SPELLED} if connection.vendor == "sqlite" else {}
    columns = AuditEvent.objects.values(*sealed.FORMS[form], **spellings)
    read = _readable(columns.filter(pk__in=keys).order_by("pk"))
    if read is None:
        read = [row for key in keys for row in _readable(columns.filter(pk=key)) or [{"id": key}]]
    yield from map(_as_written, read)


def _readable(rows: Any) -> list[dict[str, Any]] | None:
    """Return the rows; None if a value of theirs is of a type or an encoding that the column never has."""
    try:
        return list(rows)
    except sealed.UNREADABLE:
        return None
    except OperationalError as error:
        if "UTF-8" in str(error):
            return None
        raise


def block_of(seal: Seal) -> sealed.Block:
    """Return the block of a seal. Raises an error of `sealed.UNREADABLE` for a wrong type, or another spelling."""
    quoted = Seal.objects.filter(pk=seal.pk).values_list(_quoted("sealed_at"), flat=True)
    if connection.vendor == "sqlite" and quoted.get() != _spelling(seal.sealed_at):
        raise ValueError(seal.sealed_at)
    return seal.block


def _as_written(row: dict[str, Any]) -> sealed.Row:
    """Return the row without its spellings; its id alone if one differs from what the hub writes.

    Another spelling of the same value would hide the row from lookups.
    """
    for name in SPELLED:
        if row.pop(f"{name}_spelled", None) not in (None, _spelling(row.get(name))):
            return {"id": row["id"]}
    return row


def _quoted(name: str) -> Func:
    """Return the literal of a stored value, as SQLite spells it: a text, a blob and NULL differ."""
    return Func(name, function="quote", output_field=TextField())


def _spelling(value: UUID | datetime | None) -> str:
    """Return the literal of the value as the hub stores it."""
    if value is None:
        return "NULL"
    return f"'{value.hex if isinstance(value, UUID) else value.astimezone(UTC).replace(tzinfo=None)}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealState:
    """``head`` is the newest block, None without one. ``waits_since`` is the time of the oldest row without a seal.

    ``problem`` says why the seals cannot be right, "" without a reason. ``is_recorded``: this machine recorded a head.
    """

    head: Head | None
    waits_since: datetime | None
    problem: str
    is_recorded: bool


def state() -> SealState:
    """Return the state of the seals."""
    newest = Seal.objects.newest()
    unsealed = AuditEvent.objects.filter(pk__gt=newest.last_id if newest else 0)
    waits_since = list(unsealed.order_by("pk").values_list("at", flat=True)[:1])
    return SealState(
        head=Head.of(newest.block) if newest else None,
        waits_since=waits_since[0] if waits_since else None,
        problem=_problem(newest),
        is_recorded=head_file().exists(),
    )


def _problem(newest: Seal | None) -> str:
    if lost := lost_head():
        return f"the block up to row {lost.last_id} is missing or was changed"
    if newest is not None and not newest.block.is_signed():
        return f"the block up to row {newest.last_id} was changed"
    return ""
