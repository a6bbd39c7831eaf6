"""An operator that repairs stale leases by plans and erases tasks, while the database of DATABASE_URL is in use.

It is a process of its own: python -m tools.proof.planner. It ends when its input ends. No route of the API plans or
erases: people make plans on the dashboard, and the command line erases.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.support.hub import ROOT

if TYPE_CHECKING:
    from tools.proof.stage import Stage

STALE_AFTER = timedelta(seconds=4)
EVERY = 0.7  # seconds
ERASED_AFTER = timedelta(seconds=10)  # when no client repeats a request about the task any more
ERASED_AT_ONCE = 2


@contextlib.contextmanager
def planning(stage: Stage) -> Iterator[None]:
    """Make, apply and work on plans of stale leases for the block, and erase acknowledged tasks."""
    environment = {**os.environ, "A2A_VAR": str(stage.folder), "DATABASE_URL": stage.database_url}
    command = [sys.executable, "-m", "tools.proof.planner", str(stage.seed)]
    with (stage.folder / "planner.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=log, stderr=log)
    assert process.stdin is not None
    try:
        yield
    finally:
        process.stdin.close()
        assert process.wait(60) == 0, (stage.folder / "planner.log").read_text()


def plan_until_the_input_ends(seed: int) -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "a2aproject.settings")
    django.setup()
    from django.db import InterfaceError, OperationalError, connection

    rng = random.Random(seed)
    while not select.select([sys.stdin], [], [], EVERY)[0]:
        try:
            repair_stale_leases(rng)
            erase_tasks(rng, seed)
        except (OperationalError, InterfaceError):  # a fault has struck the database
            connection.close()


def repair_stale_leases(rng: random.Random) -> None:
    """Plan a repair of all leases that are stale, and carry it out. The sweep of the hub may do so, too."""
    from django.utils import timezone

    from mailbox.access.credentials import authentication
    from mailbox.models import AuditEvent, Lease, RepairPlan
    from mailbox.repairs import plan_execution, plans
    from mailbox.words.errors import InvalidRequestError

    found = Lease.objects.stale(timezone.now(), STALE_AFTER)
    if not found.exists():
        return
    person = authentication.person("operator", source=AuditEvent.Source.DASHBOARD, request_id=uuid.uuid4().hex)
    verb = rng.choice([RepairPlan.Verb.REQUEUE, RepairPlan.Verb.FORCE_ERROR])
    try:
        plan = plans.make(person, verb, found, token=uuid.uuid4(), max_attempts=1000)
    except InvalidRequestError:  # the leases have ended meanwhile
        return
    included = plans.PlanTally.of(plan).included(True)
    if not included:
        plans.discard(person, plan.pk)
        return
    plan = plans.apply(person, plan.pk, reason="the worker is gone", with_unsafe=True, typed=included)
    plan_execution.work(plan, seconds=rng.choice([0.05, 5.0]))


def erase_tasks(rng: random.Random, seed: int) -> None:
    """Erase some tasks of the run whose results were acknowledged. The hub may compact them at the same time.

    A task with a webhook stays, because an erasure ends its events.
    """
    from django.utils import timezone

    from mailbox.access.callers import Caller
    from mailbox.models import PushConfig, Result
    from mailbox.upkeep import erasure
    from mailbox.words.errors import UnknownTaskError

    acked = Result.objects.filter(
        sender__display__contains=f"-{seed}-", delivery="acked", posted_at__lt=timezone.now() - ERASED_AFTER
    )
    told = PushConfig.objects.values("task")
    left = acked.exclude(content__contains="[erased").exclude(task__in=told)
    task_ids = list(left.values_list("task__uuid", flat=True)[:100])
    for task_id in rng.sample(task_ids, min(ERASED_AT_ONCE, len(task_ids))):
        with contextlib.suppress(UnknownTaskError):
            erasure.erase_task(Caller.command_line(), task_id, reason="its sender wishes it")


if __name__ == "__main__":
    plan_until_the_input_ends(int(sys.argv[1]))
