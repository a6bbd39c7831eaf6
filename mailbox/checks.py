"""System checks of the mailbox's own settings."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError
from django.utils import timezone

from mailbox.access import own_agents, requests
from mailbox.access.own_agents import SCHEDULER
from mailbox.outbound.destinations import AllowList
from mailbox.repairs import auto_retry
from mailbox.repairs.auto_retry import AutoRetry, BadSettingError, Bound

SERVING = "serving"  # the tag of the checks of settings that only a served hub needs


@register(SERVING)
def scheduler_settings(**kwargs: Any) -> list[CheckMessage]:
    """Report invalid environment variables of the scheduler."""
    try:
        AutoRetry.from_settings()
    except BadSettingError as error:
        hint = "Correct the A2A_AUTO_RETRY_... (or COVENANT_A2A_AUTO_RETRY_...) variable, or unset it."
        return [Error(str(error), hint=hint, id="mailbox.E001")]
    return []


@register(SERVING)
def scheduler_interval(**kwargs: Any) -> list[CheckMessage]:
    """Warn if the scheduler's interval is not in force as it is set, but rounded up to whole minutes."""
    try:
        wanted = AutoRetry.from_settings().interval
    except BadSettingError:
        return []
    bound = next(bound for bound in Bound.all_in_force() if bound.name == "INTERVAL_MS")
    if timedelta(milliseconds=int(bound.value)) == wanted:
        return []
    minutes = wanted // timedelta(minutes=1)
    problem = f"{bound.set_by or bound.variable} is {bound.value}: the scheduler runs every {minutes} min instead."
    hint = "Set a multiple of 60000, since the task cluster counts in minutes."
    return [checks.Warning(problem, hint=hint, id="mailbox.W002")]


@register(Tags.database)
def scheduler_grant(databases: Any = None, **kwargs: Any) -> list[CheckMessage]:
    """Warn if the scheduler is switched on without its grant: every pass would fail."""
    try:
        enabled = AutoRetry.from_settings().policy.enabled
    except BadSettingError:
        return []
    if not enabled or not databases or _is_granted():
        return []
    hint = f"Grant it with: a2a grant give {SCHEDULER} {requests.REQUEUE}"
    problem = f"The automatic retry is on, but {SCHEDULER} lacks the capability {requests.REQUEUE}: every pass fails."
    return [checks.Warning(problem, hint=hint, id="mailbox.W001")]


@register(Tags.database)
def hub_agents(databases: Any = None, **kwargs: Any) -> list[CheckMessage]:
    """Warn about a program that registered under the name of an agent of the hub itself, on an earlier version."""
    try:
        conflicts = own_agents.conflicts(timezone.now()) if databases else []
    except DatabaseError:  # `migrate` has not created the tables yet
        return []
    return [checks.Warning(problem, id="mailbox.W003") for problem in conflicts]


def _is_granted() -> bool:
    """Whether the scheduler has its grant. Also true before `migrate` has created the table."""
    try:
        return auto_retry.is_granted()
    except DatabaseError:
        return True


@register("a2a")
def outbound_settings(**_: Any) -> list[CheckMessage]:
    """Report an invalid allow-list, and a limit that would keep all tasks from remote agents."""
    problems: list[CheckMessage] = []
    try:
        AllowList.from_settings()
    except ValueError as error:
        hint = "List host names, addresses and networks, such as agents.internal,127.0.0.0/8."
        problems.append(Error(f"A2A_OUTBOUND_ALLOW: {error}", hint=hint, id="agentcards.E001"))
    if settings.A2A_REMOTE_CONCURRENCY < 1:
        hint = "Set it to 1 or more. To stop the tasks of one agent, pause the agent."
        problems.append(Error("A2A_REMOTE_CONCURRENCY is less than 1.", hint=hint, id="agentcards.E002"))
    return problems
