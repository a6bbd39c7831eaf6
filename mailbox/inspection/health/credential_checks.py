"""Health checks of the credentials that open the hub."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db.models import Count, Min, Q

from mailbox.access import own_agents
from mailbox.inspection.health.checks import HealthCheck, HealthStatus
from mailbox.models import ApiKey
from mailbox.models.api_key import WARNED_BEFORE
from mailbox.words import times

NAMED = 5  # keys that a check names


def hub_agents(now: datetime) -> HealthCheck:
    """Report a program that can act as an agent of the hub itself."""
    found = own_agents.conflicts(now)
    if not found:
        return HealthCheck(name="Hub's own agents", word=HealthStatus.OK, saw="no other program can act as them")
    return HealthCheck(name="Hub's own agents", word=HealthStatus.FAILING, saw="; ".join(found))


def api_keys(now: datetime) -> HealthCheck:
    """Report the live keys: how many have no expiry, the oldest, and those that expire soon or outlived the limit."""
    keys = ApiKey.objects.live(now)
    found = keys.aggregate(live=Count("pk"), dated=Count("expires_at"), oldest=Min("created_at"))
    if found["oldest"] is None:
        return HealthCheck(name="API keys", word=HealthStatus.OK, saw="no live key")
    eternal, age = found["live"] - found["dated"], times.write(now - found["oldest"])
    saw = f"{found['live']} live, {eternal} without an expiry, the oldest made {age} ago"
    notes = [*_soon(now), *_too_old(now)]
    word = HealthStatus.DEGRADED if notes else HealthStatus.OK
    return HealthCheck(name="API keys", word=word, saw=saw, note=" ".join(notes))


def _soon(now: datetime) -> list[str]:
    """Return the sentence about keys that expire soon. A key with a live successor ends as planned."""
    ending = (
        ApiKey.objects.live(now)
        .not_replaced(now)
        .filter(expires_at__lte=now + WARNED_BEFORE)
        .select_related("agent", "user")
    )
    soon = [key for key in ending.order_by("expires_at") if key.expires_soon(now)]
    return [f"{_named(soon)} will expire soon: rotate."] if soon else []


def _too_old(now: datetime) -> list[str]:
    if not settings.A2A_KEY_MAX_AGE:
        return []
    outlived = Q(expires_at=None) | Q(created_at__lt=now - settings.A2A_KEY_MAX_AGE)
    old = list(
        ApiKey.objects.live(now)
        .not_replaced(now)
        .filter(outlived)
        .select_related("agent", "user")
        .order_by("created_at")
    )
    return [f"{_named(old)} may live longer than A2A_KEY_MAX_AGE_MS: rotate or revoke."] if old else []


def _named(keys: list[ApiKey]) -> str:
    named = ", ".join(f"{key} of {key.owner}" for key in keys[:NAMED])
    return f"{named} and {len(keys) - NAMED} more" if len(keys) > NAMED else named
