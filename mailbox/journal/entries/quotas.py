"""Rows about quotas, and about refusals that repeat."""

from __future__ import annotations

from typing import Annotated, TypedDict

from mailbox.words.kinds import Entry, Kind


class QuotaExceededData(TypedDict):
    quota: Annotated[str, "name of the quota: queued, queued_to_one, bytes, callbacks, waits or cards"]
    agent: Annotated[str, "display of the agent that reached it, or name of the person"]
    limit: Annotated[int, "the quota"]


def quota_exceeded(quota: str, agent: str, limit: int) -> Entry[QuotaExceededData]:
    """Record that a request was refused because its agent or person has reached a quota."""
    return Entry(Kind.QUOTA_EXCEEDED, QuotaExceededData(quota=quota, agent=agent, limit=limit))


class QuotaChangedData(TypedDict):
    quota: Annotated[str, "name of the quota"]
    agent: Annotated[str, "display of the agent that has it"]
    recipient: Annotated[str | None, "display of the recipient; null for all recipients"]
    before: Annotated[int | None, "the quota until now; null for the setting"]
    limit: Annotated[int | None, "the quota from now on; null for the setting"]


def quota_changed(
    quota: str, agent: str, *, recipient: str | None, before: int | None, limit: int | None
) -> Entry[QuotaChangedData]:
    """Record that an agent got a quota of its own, or the setting again."""
    data = QuotaChangedData(quota=quota, agent=agent, recipient=recipient, before=before, limit=limit)
    return Entry(Kind.QUOTA_CHANGED, data)


class RefusalsRepeatedData(TypedDict):
    kind: Annotated[str, "kind of the rows that were left out"]
    action: Annotated[str, "what was refused: an action, the name of a quota, or a code"]
    count: Annotated[int, "number of refusals that the row stands for"]


def refusals_repeated(kind: str, action: str, count: int) -> Entry[RefusalsRepeatedData]:
    """Record how often one actor was refused the same, beyond the rows that the journal has of it."""
    return Entry(Kind.REFUSALS_REPEATED, RefusalsRepeatedData(kind=kind, action=action, count=count))
