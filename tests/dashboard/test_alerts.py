import json
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.utils import timezone
from django_q.models import Schedule

from dashboard import alerts
from mailbox.background import jobs
from mailbox.database.timetable import ALERT_JOB
from mailbox.life import results
from mailbox.models import Alert, LastPass
from tests.support import factories
from tests.support.receiver import receiver
from tools.screenshots import hub

pytestmark = pytest.mark.django_db


@pytest.fixture
def hook(settings):
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.1"]
    with receiver() as found:
        settings.A2A_ALERT_URL = found.url
        yield found


def test_the_job_is_planned_only_with_a_channel(settings):
    jobs.register()
    without = Schedule.objects.filter(func=ALERT_JOB).exists()
    settings.A2A_ALERT_URL = "https://hooks.example.org/a"
    jobs.register()

    assert not without
    assert Schedule.objects.get(func=ALERT_JOB).minutes == 1
    settings.A2A_ALERT_URL = ""
    jobs.register()
    assert not Schedule.objects.filter(func=ALERT_JOB).exists()


def test_a_stale_lease_is_reported_after_ten_minutes_and_its_end_too(hook, ana, alice, bob):
    start = timezone.now()
    with time_machine.travel(start - timedelta(minutes=6), tick=False):
        lease = factories.leased_task(alice, bob)
    with time_machine.travel(start, tick=False) as clock:
        for _ in range(10):
            alerts.alert_pass()
            clock.shift(timedelta(minutes=1))
        before = len(hook.calls)
        alerts.alert_pass()
        results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
        for _ in range(4):
            clock.shift(timedelta(minutes=1))
            alerts.alert_pass()

    first, second = (json.loads(body) for _, body in hook.calls)
    assert before == 0
    assert [one["key"] for one in first["decisions"]] == ["leases"]
    assert first["text"] == "1 stale lease (over 5 min)"
    assert [one["key"] for one in second["resolved"]] == ["leases"]
    assert second["decisions"] == []


def test_the_decisions_of_a_hub_in_trouble_are_noted(hook, vic):
    hub.on_fire()

    alerts.alert_pass()

    keys = set(Alert.objects.values_list("key", flat=True))
    assert {"leases", "errors:payments@local"} <= keys
    assert LastPass.objects.get(job=ALERT_JOB).failed_at is None


def test_a_hub_without_people_reports_its_decisions(hook):
    hub.on_fire()
    User.objects.all().delete()

    alerts.alert_pass()

    assert "leases" in set(Alert.objects.values_list("key", flat=True))


def test_every_page_of_an_alert_opens(hook, vic):
    hub.on_fire()
    alerts.alert_pass()

    pages = [vic.get(path).status_code for path in Alert.objects.values_list("path", flat=True)]

    assert len(pages) > 1
    assert set(pages) == {200}
