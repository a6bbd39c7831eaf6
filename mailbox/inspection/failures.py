"""Failures: results with an error, also those of cancelled, rejected and expired tasks."""

from __future__ import annotations

from collections.abc import Sequence

from mailbox.models import Agent, Result

AMONG = 1_000  # the newest errors of the hub, in which those of one agent are looked for


def newest_of(agent: Agent, *, most: int) -> Sequence[Result]:
    """Return the ``most`` newest errors of this agent among the newest `AMONG` of the hub, newest first."""
    errors = Result.objects.errors()
    among = errors.order_by("-pk").values("pk")[:AMONG]
    return list(errors.filter(pk__in=among, recipient=agent).with_opening().with_error_line().order_by("-pk")[:most])
