"""The steps of the sweep that runs every minute."""

import logging
import time
from collections.abc import Callable, Mapping

from django.conf import settings
from django.utils import timezone

from mailbox.access import nonces
from mailbox.access.callers import Caller
from mailbox.life import expiry, outbox, replay
from mailbox.repairs import plan_execution
from mailbox.upkeep import compaction, failure_filing, rollups, sealing

PLANS_FOR = 30.0  # seconds of each minute for applied plans
MOST_DRIFT = 10.0  # seconds between two sweeps by which the wall clock may move against the monotonic clock
BY_THE_WALL_CLOCK = ("expire tasks", "drop expired replay entries", "drop expired nonces", "delete old rows", "compact")
_logger = logging.getLogger(__name__)


class _Clocks:
    """The wall clock minus the monotonic clock at the last sweep of this process, in seconds. None: there was none."""

    difference: float | None = None


_clocks = _Clocks()


def _drift() -> float:
    """Return the seconds by which the wall clock moved against the monotonic clock since the last sweep."""
    before, _clocks.difference = _clocks.difference, timezone.now().timestamp() - time.monotonic()
    return 0.0 if before is None else _clocks.difference - before


def steps(caller: Caller) -> Mapping[str, Callable[[], object]]:
    """Return the steps of one sweep by name, in their order. A step does not depend on the others.

    If the wall clock has jumped since the last sweep, this sweep expires and deletes nothing: it may jump back.
    """
    due: dict[str, Callable[[], object]] = {
        "expire tasks": lambda: expiry.sweep(caller),
        "roll up minutes": rollups.roll,
        "file failures": failure_filing.file_failures,
        "measure queues": rollups.measure,
        "count pairs": rollups.count_pairs,
        "keep tasks/send under its cap": lambda: compaction.cap_sent(
            caller, dialect="corvid", cap=settings.A2A_TASKS_SEND_CAP
        ),
        "drop expired replay entries": lambda: replay.drop_expired(caller),
        "bring deliveries back": outbox.bring_back,
        "seal the journal": sealing.seal,
        "drop expired nonces": nonces.drop_expired,
        "delete old rows": compaction.tidy,
    }
    if settings.A2A_RETENTION_SWEEP:
        due["compact"] = lambda: compaction.compact(caller, compaction.Retention.from_settings())
    if abs(drift := _drift()) > MOST_DRIFT:
        _logger.warning("the wall clock jumped by %.0f s: this sweep expires and deletes nothing", drift)
        due = {name: step for name, step in due.items() if name not in BY_THE_WALL_CLOCK}
    return due | {"go on with plans": lambda: plan_execution.carry_on(seconds=PLANS_FOR)}
