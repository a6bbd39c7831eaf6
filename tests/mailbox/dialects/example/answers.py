from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import BaseModel


class ExampleTask(BaseModel):
    """A task. ``text`` is the answer or the error; null until the task ends."""

    id: UUID
    state: Literal["open", "done", "failed"]
    text: str | None


class ExampleError(BaseModel):
    problem: str
