from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from django_q.models import Schedule

from a2aproject.settings.environment import Read
from mailbox.background import jobs
from mailbox.database import vitals
from mailbox.inspection.health import report
from mailbox.inspection.health.checks import HealthStatus
from mailbox.inspection.health.cluster import SILENT_AFTER
from mailbox.journal import seals
from mailbox.life import results
from mailbox.models import LastPass, PushDelivery, Seal
from mailbox.upkeep import rollups, sealing
from tests.support import factories, tampering

pytestmark = pytest.mark.django_db


def check(name):
    return next(one for one in report.look(timezone.now()).checks if one.name == name)


def broken(*_):
    raise DatabaseError("password=hunter2")


def full():
    raise OSError("the disk is full")


def test_every_health_check_has_a_status_and_a_finding(vic):
    page = vic.get("/ops/health/")

    seen = page.context["seen"]
    assert page.status_code == 200
    assert len(seen.checks) == 19
    assert all(one.saw and one.word in HealthStatus for one in seen.checks)


@pytest.mark.parametrize(
    ("seconds", "answers", "clocks"),
    [
        (0.001, HealthStatus.OK, HealthStatus.OK),
        (0.2, HealthStatus.DEGRADED, HealthStatus.OK),
        (5, HealthStatus.FAILING, HealthStatus.DEGRADED),
        (-90, HealthStatus.OK, HealthStatus.FAILING),
    ],
)
def test_database_delay_and_clock_skew_decide_the_status(monkeypatch, seconds, answers, clocks):
    span = timedelta(seconds=seconds)
    monkeypatch.setattr(vitals, "answer", lambda: vitals.RoundTrip(took=max(span, timedelta(0)), ahead=span))

    assert (check("Database answers").word, check("Clocks agree").word) == (answers, clocks)


@pytest.mark.parametrize("what", ["answer", "tables", "size", "version"])
def test_a_failing_check_hides_no_other_check_and_leaks_no_secret(vic, monkeypatch, what):
    monkeypatch.setattr(vitals, what, broken)

    page = vic.get("/ops/health/")

    assert page.status_code == 200
    assert "could not be measured" in page.text or "unknown" in page.text
    assert "hunter2" not in page.text
    assert "Background worker" in page.text
    assert vic.get("/ops/health.txt").status_code == 200


def test_a_silent_cluster_and_an_overdue_job_are_degraded(vic, monkeypatch):
    monkeypatch.setattr(vitals, "answer", lambda: vitals.RoundTrip(took=timedelta(0), ahead=timedelta(0)))
    jobs.register()
    assert check("Background worker").saw == "no sweep finished yet"
    assert check("Background worker").word is HealthStatus.DEGRADED
    jobs.sweep_pass()
    assert check("Background worker").word is HealthStatus.OK

    LastPass.objects.update(finished_at=timezone.now() - timedelta(hours=1, minutes=1))
    Schedule.objects.update(next_run=timezone.now() - SILENT_AFTER)

    assert check("Background worker").word is HealthStatus.DEGRADED
    assert "last sweep 1 h 1 m" in check("Background worker").saw
    assert check("Background jobs").word is HealthStatus.DEGRADED
    assert check("Background jobs").saw == "1 job pending, the longest for 2 m 30 s"
    assert vic.get("/ops/health/").context["seen"].word is HealthStatus.DEGRADED


def test_a_sweep_in_the_future_is_degraded():
    jobs.sweep_pass()
    LastPass.objects.update(finished_at=timezone.now() + timedelta(days=1))

    assert check("Background worker").word is HealthStatus.DEGRADED
    assert "ahead of this clock" in check("Background worker").saw


def test_a_failed_step_of_the_sweep_is_degraded_for_a_limited_time(vic, monkeypatch):
    monkeypatch.setattr(rollups, "roll", full)
    assert check("Sweep").word is HealthStatus.OK

    jobs.sweep_pass()

    assert (check("Sweep").word, check("Sweep").saw) == (
        HealthStatus.DEGRADED,
        "failed to roll up minutes: the disk is full",
    )
    (sweep,) = [one for one in report.look(timezone.now() + SILENT_AFTER).checks if one.name == "Sweep"]
    assert sweep.word is HealthStatus.OK


def test_a_late_callback_fails_its_check(alice, bob):
    assert check("Callbacks").saw == "nothing due"
    lease = factories.leased_task(alice, bob, callback_url="https://example.org/hook")
    results.post_result(bob, factories.result_envelope(lease.task))
    assert check("Callbacks").word is HealthStatus.OK

    PushDelivery.objects.update(next_attempt_at=timezone.now() - timedelta(hours=2))

    assert check("Callbacks").word is HealthStatus.FAILING


def test_the_health_page_lists_the_tables_with_few_queries(vic, alice, bob, django_assert_max_num_queries):
    factories.resolved_task(alice, bob)

    with django_assert_max_num_queries(31):
        names = [table.name for table in vic.get("/ops/health/").context["seen"].tables]

    assert {"mailbox_task", "mailbox_lease", "mailbox_auditevent"} <= set(names)


def test_changed_settings_are_listed_without_secrets(vic, settings):
    settings.A2A_ENVIRONMENT_READ = {
        "PORT": Read(value=3000, is_set=False, is_default=True),
        "A2A_HUB_NAME": Read(value="<b>Hub</b>", is_set=True, is_default=False),
        "SECRET_KEY": Read(value="t0psecret", is_set=True, is_default=False),
        "DATABASE_URL": Read(value="postgresql://user:t0psecret@host/name", is_set=True, is_default=False),
        "A2A_CAPABILITIES": Read(value="x" * 500, is_set=True, is_default=False),
    }

    for path in ("/ops/health/", "/ops/health.txt"):
        text = vic.get(path).text
        assert "SECRET_KEY" in text
        assert "DATABASE_URL" in text
        assert "t0psecret" not in text
        assert "PORT" not in text
        assert "x" * 101 not in text
    assert "<b>Hub" not in vic.get("/ops/health/").text


def test_the_health_page_exists_as_plain_text(vic):
    response = vic.get("/ops/health.txt")

    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert "Database answers" in response.text
    assert "Python" in response.text


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no such lock")
@pytest.mark.django_db(transaction=True)
def test_a_held_write_lock_is_degraded(vic):
    assert check("Write lock").word is HealthStatus.OK
    with transaction.atomic():
        assert check("Write lock").word is HealthStatus.DEGRADED


def test_the_head_of_the_journal_is_shown_and_missing_seals_are_failing(vic):
    tampering.old_rows(2)
    sealing.seal()
    head = Seal.objects.get().block.hash

    assert check("Audit log seals").word is HealthStatus.OK
    assert head in vic.get("/ops/health/").content.decode()
    kept = seals.head_file().read_bytes()
    seals.head_file().unlink()
    assert check("Audit log seals").word is HealthStatus.OK
    assert "the newest blocks are not proven" in vic.get("/ops/health/").content.decode()
    seals.head_file().write_bytes(kept)
    Seal.objects.all().delete()
    assert check("Audit log seals").word is HealthStatus.FAILING


def test_a_row_that_waits_long_for_its_seal_degrades_the_health():
    tampering.old_rows(1, at=timezone.now() - timedelta(minutes=20))

    assert check("Audit log seals").word is HealthStatus.DEGRADED
