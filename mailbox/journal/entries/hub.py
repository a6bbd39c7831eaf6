"""Rows about the hub as a whole."""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypedDict
from uuid import UUID

from mailbox.words.kinds import Entry, Kind


class HubBackedUpData(TypedDict):
    file: Annotated[str, "path of the backup"]
    sha256: Annotated[str, "checksum of the database in the backup"]
    tasks: Annotated[int, "number of tasks in the backup"]
    with_secret: Annotated[bool, "whether the backup holds the hub's secret; off if an environment variable holds it"]


def hub_backed_up(file: str, *, sha256: str, tasks: int, with_secret: bool) -> Entry[HubBackedUpData]:
    """Record that a backup was written."""
    return Entry(Kind.HUB_BACKED_UP, HubBackedUpData(file=file, sha256=sha256, tasks=tasks, with_secret=with_secret))


class HubRestoredData(TypedDict):
    file: Annotated[str, "path of the backup"]
    sha256: Annotated[str, "checksum of the database in the backup"]
    made_at: Annotated[str, "time of the backup; later decisions of the hub are not in its journal"]
    tasks: Annotated[int, "number of tasks in the backup"]


def hub_restored(file: str, *, sha256: str, made_at: str, tasks: int) -> Entry[HubRestoredData]:
    """Record that the hub was restored from a backup; the row is in the restored journal."""
    return Entry(Kind.HUB_RESTORED, HubRestoredData(file=file, sha256=sha256, made_at=made_at, tasks=tasks))


class ErasedData(TypedDict):
    subject: Annotated[str, "task:<id> or agent:<display>, as the request named it"]
    reason: Annotated[str, "why the payload was erased"]
    rows: Annotated[list[int], "ids of the journal rows whose data was erased in this step"]
    erased: Annotated[dict[str, int], "number of erased rows by table"]


def erased(
    subject: str, reason: str, *, rows: Sequence[int], counts: Mapping[str, int], task_id: UUID | None = None
) -> Entry[ErasedData]:
    """Record one step of an erasure. The row backs the tombstones that name it."""
    data = ErasedData(subject=subject, reason=reason, rows=list(rows), erased=dict(counts))
    return Entry(Kind.ERASED, data, task_id)


class SecretsResealedData(TypedDict):
    resealed: Annotated[int, "number of secrets that were encrypted again"]
    unreadable: Annotated[int, "number of secrets that no known secret of the hub decrypts"]


def secrets_resealed(resealed: int, unreadable: int) -> Entry[SecretsResealedData]:
    """Record that the stored secrets were encrypted again under the newest secret of the hub."""
    return Entry(Kind.SECRETS_RESEALED, SecretsResealedData(resealed=resealed, unreadable=unreadable))


class AlertSentData(TypedDict):
    subjects: Annotated[list[str], "the decisions that were reported, in words"]
    ended: Annotated[list[str], "the decisions that were reported before and no longer wait, in words"]
    to: Annotated[list[str], "the channels that took the alert: webhook, mail"]


def alert_sent(subjects: Sequence[str], *, ended: Sequence[str], to: Sequence[str]) -> Entry[AlertSentData]:
    """Record that decisions were reported to people outside the dashboard. A test alert has no decisions."""
    return Entry(Kind.ALERT_SENT, AlertSentData(subjects=list(subjects), ended=list(ended), to=list(to)))
