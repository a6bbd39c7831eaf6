"""Calls that wait: they look again at each change, and tell their client meanwhile that they go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.conf import settings

from mailbox.access.callers import Caller
from mailbox.access.limits import waits
from mailbox.dialects.mcp.messages import McpMessage

Seen = TypeVar("Seen")
Returned = TypeVar("Returned")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpCall:
    """A request of a caller. ``may_wait`` is false for a request of a batch."""

    caller: Caller
    message: McpMessage
    may_wait: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitProgress:
    """How long a call has waited, in seconds, how long it waits at most, and what it sees."""

    waited: float
    longest: float
    message: str


Waiting = Generator[WaitProgress, None, Returned]
Json = dict[str, Any]


def awaited(
    call: McpCall, topics: Sequence[str], look: Callable[[], Seen], wait_ms: int, sentence_of: Callable[[], str]
) -> Waiting[Seen]:
    """Call ``look``, and again at each ring of ``topics``, until it returns a true value; return its last value.

    Yield the progress when the value of ``sentence_of`` changes, and as a sign of life. A call without a result takes a
    seat as `waits.vigil` says; without a free seat of the process it does not wait. Raises as `waits.vigil` and
    `Vigil.look` do.
    """
    began, longest = time.monotonic(), waits.span(wait_ms).total_seconds()
    seen = look()
    if seen or not wait_ms or not call.may_wait:
        return seen
    with waits.vigil(call.caller, topics) as vigil:
        is_due, sentence = True, ""
        while vigil is not None and not vigil.is_over and (left := began + longest - time.monotonic()) > 0:
            if is_due and (seen := vigil.look(look)):
                return seen
            now = sentence_of() if is_due else sentence
            if now != sentence or not is_due:
                sentence = now
                yield WaitProgress(waited=time.monotonic() - began, longest=longest, message=sentence)
            is_due = vigil.wait(min(settings.A2A_KEEPALIVE_MS / 1000, left))
    return seen


def finished(steps: Waiting[Returned]) -> Returned:
    """Let a call wait to its end, and return what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            returned: Returned = end.value
            return returned
