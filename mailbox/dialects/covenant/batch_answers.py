"""The answers of the routes for batches, for the OpenAPI document."""

from __future__ import annotations

from typing import Literal, NotRequired
from uuid import UUID

from pydantic import BaseModel
from typing_extensions import TypedDict

from mailbox.dialects.covenant.answers import WireResult
from mailbox.dialects.covenant.lease_answers import WireLeased


class RefusedItem(TypedDict):
    """An item of the batch that was refused. Nothing of it was done. ``index`` is its place in the batch, from 0.

    ``task_id`` is the id that the item names, null without a valid one. ``code`` and ``message`` are those of the
    single request. ``fields`` maps the path of each invalid field to its problem, if ``code`` is ``invalid_request``.
    """

    index: int
    task_id: UUID | None
    code: str
    message: str
    fields: NotRequired[dict[str, str]]


class TasksQueued(BaseModel):
    """``posted`` are the ids of the stored tasks, in the order of the batch without the refused items."""

    kind: Literal["a2a_tasks_queued"]
    posted: list[UUID]
    refused: list[RefusedItem]


class ResultsPosted(BaseModel):
    """``posted`` are the tasks that have the posted result, in the order of the batch without the refused items."""

    kind: Literal["a2a_results_posted"]
    posted: list[UUID]
    refused: list[RefusedItem]


class TasksLeased(BaseModel):
    """The leased tasks, oldest first, and the outcomes of the results of the request.

    A ``message`` is left out, too, if the answer would exceed 4 MiB with it. Its task's messages can be read.

    ``attempt_spent`` is there only when the attempt id is spent: its leases have ended. Use a new id.
    """

    kind: Literal["a2a_tasks_leased"]
    leases: list[WireLeased]
    posted: list[UUID]
    refused: list[RefusedItem]
    attempt_spent: bool = False


class ResultsDrained(BaseModel):
    """The drained results, oldest first. ``acked`` and ``unknown`` are the valid ids of ``ack``.

    No result of the unknown ids is known to the caller. ``refused`` are the items of ``ack`` that are no UUID.
    ``attempt_spent`` is there only when the attempt id is spent: its results are acknowledged. Use a new id.
    """

    kind: Literal["a2a_results_drained"]
    results: list[WireResult]
    acked: list[UUID]
    unknown: list[UUID]
    refused: list[RefusedItem]
    attempt_spent: bool = False
