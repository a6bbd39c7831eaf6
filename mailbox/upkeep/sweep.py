"""The steps of the sweep that runs every minute."""

from collections.abc import Callable, Mapping

from django.conf import settings

from mailbox.access import nonces
from mailbox.access.callers import Caller
from mailbox.life import callbacks, expiry, replay, webhooks
from mailbox.repairs import plan_execution
from mailbox.upkeep import compaction, failure_filing, rollups, sealing

PLANS_FOR = 30.0  # seconds of each minute for applied plans


def steps(caller: Caller) -> Mapping[str, Callable[[], object]]:
    """Return the steps of one sweep by name, in their order. A step does not depend on the others."""
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
        "bring callbacks back": callbacks.bring_back,
        "bring webhooks back": webhooks.bring_back,
        "seal the journal": sealing.seal,
        "drop expired nonces": nonces.drop_expired,
        "delete old rows": compaction.tidy,
    }
    if settings.A2A_RETENTION_SWEEP:
        due["compact"] = lambda: compaction.compact(caller, compaction.Retention.from_settings())
    return due | {"go on with plans": lambda: plan_execution.carry_on(seconds=PLANS_FOR)}
