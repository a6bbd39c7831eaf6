"""Changes of a sealed journal behind the hub's back, as a person with the database's password could make them."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db import connection
from django.utils import timezone

from mailbox.models import AuditEvent, Seal
from mailbox.words.sealed import Tombstone, digest_of

TABLE = "mailbox_auditevent"
# Other spellings of values, which Django reads as the same value or cannot read. Lookups compare the stored text.
SPELLINGS = (
    *("task_id = upper(task_id)", "task_id = '{' || task_id || '}'", "task_id = 'urn:uuid:' || task_id"),
    "task_id = substr(task_id, 1, 8) || '-' || substr(task_id, 9)",
    *("at = replace(at, ' ', 'T')", "at = at || '+00:00'", "at = at || 'Z'", "at = replace(at, '.', ',')"),
    *("at = at || '0'", "at = replace(at, '-', '')", "at = CAST(at AS BLOB)", "actor = CAST(x'ff' AS TEXT)"),
    *(f"{name} = CAST({name} AS BLOB)" for name in ("kind", "task_id", "seq", "data", "source", "address")),
)
SPELLINGS_OF_SEAL = (
    *("signature = upper(signature)", "signature = signature || ' '", "root = upper(root)", "key = upper(key)"),
    *("sealed_at = replace(sealed_at, ' ', 'T')", "sealed_at = sealed_at || '+00:00'", "marks = hex(marks)"),
)
COLUMNS = ("kind", "actor", "actor_pubkey", "task_id", "seq", "data", "at", "request_id", "source", "address")


def old_rows(count: int, **fields: Any) -> Sequence[AuditEvent]:
    """Commit rows that are old enough to be sealed."""
    at = timezone.now() - timedelta(minutes=1)
    return AuditEvent.objects.bulk_create(
        AuditEvent(
            **{
                "kind": "capability_check",
                "actor": f"agent{number}@local",
                "actor_pubkey": f"key{number}",
                "data": f'{{"number":{number},"text":"é {number}"}}',
                "at": at + timedelta(microseconds=number),
                "request_id": f"request-{number}",
                "source": "api",
                "address": "192.0.2.1",
            }
            | fields
        )
        for number in range(count)
    )


@contextmanager
def triggers_off() -> Iterator[None]:
    """Drop the triggers of the journal and put them back."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"ALTER TABLE {TABLE} DISABLE TRIGGER USER")
            yield
            cursor.execute(f"ALTER TABLE {TABLE} ENABLE TRIGGER USER")
            return
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [TABLE])
        triggers = cursor.fetchall()
        for name, _ in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
        yield
        for _, sql in triggers:
            cursor.execute(sql)


@dataclass(frozen=True)
class Expected:
    """The block that a verification must name. ``row`` None: any row of it."""

    first_id: int | None
    last_id: int
    row: int | None = None


def of(seal: Seal, row: int | None = None) -> Expected:
    return Expected(seal.first_id, seal.last_id, row)


def keys(seal: Seal) -> list[int]:
    return list(
        AuditEvent.objects.filter(pk__gte=seal.first_id, pk__lte=seal.last_id)
        .order_by("pk")
        .values_list("pk", flat=True)
    )


def edit(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    """Change one column of one row."""
    seal = chance.choice(seals)
    key, column = chance.choice(keys(seal)), chance.choice(COLUMNS)
    AuditEvent.objects.filter(pk=key).update(**{column: _other(column, AuditEvent.objects.get(pk=key), chance)})
    return of(seal, key)


def _other(column: str, event: AuditEvent, chance: random.Random) -> object:
    if column == "task_id":
        return uuid4()
    if column == "seq":
        AuditEvent.objects.filter(pk=event.pk).update(task_id=event.task_id or uuid4())
        return (event.seq or 0) + 1
    if column == "at":
        return event.at + timedelta(microseconds=chance.choice((1, -1, 10**6)))
    before = str(getattr(event, column) or "")
    return before[:-1] + ("y" if before.endswith("x") else "x") if column != "source" else "cli"


def delete(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    seal = chance.choice(seals)
    key = chance.choice(keys(seal))
    AuditEvent.objects.filter(pk=key).delete()
    return of(seal, key)


def insert(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    """Insert a row in a gap, or before the first row."""
    taken = set(AuditEvent.objects.values_list("pk", flat=True))
    gaps = [key for key in range(1, seals[-1].last_id) if key not in taken]
    key = chance.choice(gaps)
    old_rows(1, pk=key)
    return of(next(seal for seal in seals if seal.last_id >= key), key)


def swap(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    """Swap what two rows say."""
    one, other = sorted(chance.sample(seals, 2), key=lambda seal: seal.first_id)
    first, second = (AuditEvent.objects.get(pk=chance.choice(keys(seal))) for seal in (one, other))
    for row, source in ((first, second), (second, first)):
        AuditEvent.objects.filter(pk=row.pk).update(actor=source.actor, data=source.data, at=source.at)
    return of(one, first.pk)


def reorder(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    """Exchange the ids of two neighbours."""
    seal = chance.choice([seal for seal in seals if seal.count > 1])
    index = chance.randrange(len(keys(seal)) - 1)
    first, second = keys(seal)[index : index + 2]
    for old, new in ((first, -7), (second, first), (-7, second)):
        AuditEvent.objects.filter(pk=old).update(id=new)
    return of(seal, first)


def truncate_rows(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    """Delete the newest rows, sealed or not."""
    seal = chance.choice(seals)
    key = chance.choice(keys(seal))
    AuditEvent.objects.filter(pk__gte=key).delete()
    return of(seal, key)


def truncate_all(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    """Delete the newest blocks with their rows. Only the recorded head shows that."""
    seal = chance.choice(seals)
    AuditEvent.objects.filter(pk__gte=seal.first_id).delete()
    Seal.objects.filter(first_id__gte=seal.first_id).delete()
    return Expected(None, seals[-1].last_id)


def delete_seal(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    seal = chance.choice(seals)
    Seal.objects.filter(pk=seal.pk).delete()
    return of(seal) if seal.pk != seals[-1].pk else Expected(None, seal.last_id)


def edit_seal(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    seal = chance.choice(seals)
    field = chance.choice(("root", "previous", "signature", "key", "count", "sealed_at", "marks", "form"))
    changed: Mapping[str, object] = {
        "count": seal.count + 1,
        "sealed_at": seal.sealed_at + timedelta(seconds=1),
        "marks": bytes([bytes(seal.marks)[0] ^ 1]) + bytes(seal.marks)[1:],
        "form": seal.form + 1,
    }
    Seal.objects.filter(pk=seal.pk).update(**{field: changed.get(field) or _turned(getattr(seal, field))})
    return of(seal)


def _turned(text: str) -> str:
    return ("1" if text[0] == "0" else "0") + text[1:]


def swap_seals(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    """Let two seals exchange their roots and signatures."""
    one, other = sorted(chance.sample(seals, 2), key=lambda seal: seal.first_id)
    for row, source in ((one, other), (other, one)):
        Seal.objects.filter(pk=row.pk).update(root=source.root, signature=source.signature)
    return of(one)


def forge_erasure(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    """Blank a row as an erasure does, without the journal row that backs it."""
    seal = chance.choice(seals)
    event = AuditEvent.objects.get(pk=chance.choice(keys(seal)))
    digest = digest_of(event.data)
    AuditEvent.objects.filter(pk=event.pk).update(data=str(Tombstone(digest, event.pk + 1)))
    return of(seal, event.pk)


def replace_column_type(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    """Store a value that no column of this type has. PostgreSQL has no such values, so there the row is edited."""
    if connection.vendor == "postgresql":
        return edit(chance, seals)
    seal = chance.choice(seals)
    key, column = chance.choice(keys(seal)), chance.choice(("task_id", "at", "data", "kind"))
    change(TABLE, f"{column} = x'ff00'", key)
    return of(seal, key)


def respell(chance: random.Random, seals: Sequence[Seal]) -> Expected:
    """Spell a column of a row in another way. PostgreSQL has one spelling of a value, so there the row is edited."""
    if connection.vendor == "postgresql":
        return edit(chance, seals)
    seal = chance.choice(seals)
    key = chance.choice(keys(seal))
    row = AuditEvent.objects.get(pk=key)
    kept = [spelled for spelled in SPELLINGS if getattr(row, spelled.partition(" ")[0]) is not None]
    change(TABLE, chance.choice(kept), key)
    return of(seal, key)


def change(table: str, spelled: str, key: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {spelled} WHERE id = %s", [key])  # noqa: S608


Tampering = Callable[[random.Random, Sequence[Seal]], Expected]
TAMPERINGS: Sequence[Tampering] = (
    *(edit, edit, edit, delete, insert, swap, reorder, truncate_rows, truncate_all),
    *(delete_seal, edit_seal, edit_seal, swap_seals, forge_erasure, replace_column_type, respell),
)
