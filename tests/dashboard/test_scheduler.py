import json
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from django_q.models import Schedule

from a2aproject.settings.environment import Read
from mailbox.background import jobs
from mailbox.models import LastPass, Lease, Task
from mailbox.repairs import retry
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of
from tests.dashboard.test_leases import aged
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db

RUN = "/ops/scheduler/run-once/"


def stale(alice, bob, **fields):
    fields = {"idempotency": factories.idempotent(), **fields}
    return aged(factories.leased_task(alice, bob, **fields), hours=1)


def run(browser, reason="bob is gone"):
    return browser.post(RUN, {**fields_of(browser.get(RUN)), "reason": reason}, follow=True)


def test_each_bound_shows_the_variable_that_sets_it(ana, settings):
    settings.A2A_AUTO_RETRY = {**settings.A2A_AUTO_RETRY, "MAX_ATTEMPTS": "7", "SCAN_LIMIT": "50"}
    given = ["A2A_AUTO_RETRY_MAX_ATTEMPTS", "COVENANT_A2A_AUTO_RETRY_SCAN_LIMIT"]
    settings.A2A_ENVIRONMENT_READ = settings.A2A_ENVIRONMENT_READ | {
        name: Read(value="7", is_set=True, is_default=False) for name in given
    }

    rows = {bound.name: (meaning, bound.set_by) for bound, meaning in ana.get("/ops/scheduler/").context["bounds"]}
    text = ana.get("/ops/scheduler/").text

    assert rows["MAX_ATTEMPTS"] == ("7", "A2A_AUTO_RETRY_MAX_ATTEMPTS")
    assert rows["MIN_LEASE_AGE_MS"] == ("5 m", "")
    assert "alias of A2A_AUTO_RETRY_SCAN_LIMIT" in " ".join(text.split()).replace("&#x27;", "'")
    assert "<b>Automatic retry is off.</b>" in text


def test_the_page_shows_the_next_pass_and_a_running_cluster(ana, auto_retry_on):
    with time_machine.travel(timezone.now(), tick=False):
        jobs.sweep_pass()
        Schedule.objects.update(next_run=timezone.now() + timedelta(seconds=40))

        text = ana.get("/ops/scheduler/").text

    assert "On, every 1 m." in text
    assert "Next run in 40 s" in text
    assert "Background worker running" in text
    assert "which holds <code>a2a.repair.requeue" in text


def test_the_page_shows_the_interval_in_force_beside_the_setting(ana, settings):
    settings.A2A_AUTO_RETRY = {**settings.A2A_AUTO_RETRY, "SCHEDULER": "1", "INTERVAL_MS": "90000"}
    jobs.register()
    jobs.sweep_pass()
    Schedule.objects.update(next_run=timezone.now() + timedelta(seconds=40))

    page = ana.get("/ops/scheduler/")

    bounds = {bound.name: (meaning, bound.value) for bound, meaning in page.context["bounds"]}
    assert bounds["INTERVAL_MS"] == ("2 m", "90000")
    assert "On, every 2 m." in page.text


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(minutes=-30), "Background worker not running"),
        (timedelta(days=1), "The background worker's last report is dated"),
    ],
)
def test_the_page_shows_that_the_cluster_has_stopped(ana, auto_retry_on, span, text):
    jobs.sweep_pass()
    LastPass.objects.update(finished_at=timezone.now() + span)

    page = ana.get("/ops/scheduler/")

    assert "the background worker is not running" in page.text
    assert text in page.text


def test_the_page_shows_a_cluster_that_never_ran_and_its_missing_grant(ana):
    text = ana.get("/ops/scheduler/").text

    assert "never seen on this database" in text
    assert "a2a grant give scheduler@hub a2a.repair.requeue" in text


def test_the_history_lists_every_pass_including_failed_passes(ana, alice, bob, auto_retry_on, monkeypatch):
    lease = stale(alice, bob)
    jobs.retry_pass()
    monkeypatch.setattr(retry, "retry_stale", lambda *_: 1 / 0)
    jobs.retry_pass()

    page = ana.get("/ops/scheduler/")
    failed, done = page.context["scans"]

    assert "division by zero" in page.text
    assert (done.event.fields["requeued"], failed.event.fields["error"]) == (1, "division by zero")
    shown = ana.get(f"/ops/scheduler/scans/{done.event.pk}/").text
    assert "1 requeued" in shown
    assert str(lease.task.uuid) in shown
    assert "division by zero" in ana.get(f"/ops/scheduler/scans/{failed.event.pk}/").text
    assert ana.get("/ops/scheduler/scans/1/").status_code == 404


def test_the_history_is_paged_and_can_be_downloaded(ana, auto_retry_on):
    for _ in range(27):
        jobs.retry_pass()

    page = ana.get("/ops/scheduler/").context["page"]
    rest = ana.get("/ops/scheduler/", {"cursor": page.next_cursor}).context["page"]
    rows = [json.loads(line) for line in b"".join(ana.get("/ops/scheduler/scans.jsonl")).decode().splitlines()]

    assert (len(page.items), len(rest.items), len(rows)) == (25, 2, 27)
    assert rows[0]["requeued"] == 0


def test_the_search_of_the_runs_stands_between_the_state_and_the_runs(ana, auto_retry_on):
    jobs.retry_pass()

    page = ana.get("/ops/scheduler/").text

    state, limits, box, runs = (
        page.index(text) for text in ('id="standing"', "<h2>Limits</h2>", 'class="filters"', 'aria-label="Runs"')
    )
    assert state < limits < box < runs


def test_the_page_needs_few_queries_and_is_resent_only_if_changed(ana, auto_retry_on, django_assert_max_num_queries):
    jobs.retry_pass()
    with django_assert_max_num_queries(10):
        page = ana.get("/ops/scheduler/")

    with time_machine.travel(timezone.now(), tick=False):
        seen = ana.get("/ops/scheduler/", headers={"hx-request": "true", "x-seen": page.context["version"]})

    assert seen.status_code == 204


def test_a_dry_run_gives_each_lease_its_verdict_and_changes_nothing(ana, alice, bob, settings):
    settings.A2A_AUTO_RETRY = {**settings.A2A_AUTO_RETRY, "MAX_REQUEUES": "1", "MAX_ATTEMPTS": "2"}
    first, second = stale(alice, bob), stale(alice, bob)
    keyless, unsafe = stale(alice, bob, idempotency=None), stale(alice, bob, idempotency=factories.unsafe())
    tired = stale(alice, bob)
    Lease.objects.filter(pk=tired.pk).update(attempt=2)
    young = factories.leased_task(alice, bob, idempotency=factories.idempotent())
    before = factories.journal_length()

    page = ana.get("/ops/scheduler/dry-run/")

    assert {one.lease.pk: one.verdict for one in page.context["found"]} == {
        first.pk: "would requeue",
        second.pk: "max requeues",
        keyless.pk: "no key",
        unsafe.pk: "unsafe",
        tired.pk: "max attempts",
        young.pk: "too young",
    }
    assert page.context["found"][0].lease == first
    assert len(ana.get("/ops/scheduler/dry-run/?verdict=no+key").context["found"]) == 1
    assert factories.journal_length() == before
    assert not Task.objects.queued().exists()


def test_a_pass_run_by_a_person_is_journalled_with_its_reason(ana, alice, bob):
    lease = stale(alice, bob)

    response = run(ana)

    (scan,) = factories.journal(Kind.AUTO_RETRY_SCAN)
    assert response.redirect_chain == [(f"/ops/scheduler/scans/{scan.pk}/", 303)]
    assert "Scanned 1 lease: 1 requeued, 0 skipped." in response.text
    assert "bob is gone" in response.text
    assert str(lease.task.uuid) in response.text
    assert (scan.actor, scan.fields["reason"], scan.fields["enabled"]) == ("user:ana", "bob is gone", True)
    lease.task.refresh_from_db()
    assert lease.task.state == Task.State.QUEUED


def test_a_form_sent_twice_runs_one_pass(ana, alice, bob):
    stale(alice, bob)
    stale(alice, bob)
    form = {**fields_of(ana.get(RUN)), "reason": "bob is gone"}

    first, second = ana.post(RUN, form), ana.post(RUN, form)

    assert (first.status_code, second.status_code) == (303, 303)
    assert len(factories.journal(Kind.AUTO_RETRY_SCAN)) == 1
    assert Task.objects.queued().count() == 1


def test_a_pass_without_a_reason_is_refused(ana, alice, bob):
    stale(alice, bob)

    assert run(ana, reason="  ").status_code == 422
    assert factories.journal(Kind.AUTO_RETRY_SCAN) == []


def test_the_form_shows_what_a_pass_would_requeue(ana, alice, bob):
    stale(alice, bob, intent_text="book a hotel")

    text = squeezed(ana.get(RUN).text)

    assert "requeue <b>1</b>" in text
    assert "book a hotel" in text


def test_a_viewer_may_see_a_dry_run_and_run_no_pass(vic, alice, bob):
    stale(alice, bob)
    before = factories.journal_length()

    assert "Run once: needs capability a2a.repair.requeue" in vic.get("/ops/scheduler/").text
    assert "needs capability a2a.repair.requeue" in vic.get(RUN).text
    assert "would requeue" in vic.get("/ops/scheduler/dry-run/").text
    assert factories.journal_length() == before
    assert vic.post(RUN, {}).status_code == 403
