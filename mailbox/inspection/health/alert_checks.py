"""The health check of the alerts."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings

from mailbox.inspection.health.checks import HealthCheck, HealthStatus
from mailbox.models import Alert


def channels(now: datetime) -> HealthCheck:
    """Report whether the channels took the newest alerts."""
    if not settings.A2A_ALERT_URL and not settings.A2A_ALERT_MAIL:
        return HealthCheck(name="Alerts", word=HealthStatus.OK, saw="off: no webhook and no mail address is set")
    failed = Alert.objects.exclude(error="").order_by("-seen_at", "pk").first()
    if failed is not None:
        note = "Run `manage.py a2a alerts test` to test the channels."
        return HealthCheck(name="Alerts", word=HealthStatus.DEGRADED, saw=failed.error, note=note)
    reported = Alert.objects.exclude(reported_at=None).count()
    saw = f"{reported} decision{'' if reported == 1 else 's'} reported"
    return HealthCheck(name="Alerts", word=HealthStatus.OK, saw=saw)
