"""Forms that the hub did not process: the token is bad or the person is signed out. The typed reason is kept."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from mailbox.access.callers import Role
from mailbox.models import RepairPlan, ReplayEntry
from tests.dashboard.test_idempotency import cached
from tests.support import bulk, factories

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

DIALOG = {"hx-request": "true", "hx-current-url": "http://testserver/ops/idempotency/"}
TYPED = {"reason": "prices changed, INC-7"}
AGAIN = "?reason=prices+changed%2C+INC-7"


@pytest.fixture
def drop(alice, bob):
    """The address of the form that drops a cached result."""
    cached(alice, bob)
    return f"/ops/idempotency/{ReplayEntry.objects.get().pk}/"


@pytest.fixture
def strict():
    """A signed-in browser that enforces CSRF checks and sends no CSRF token."""
    factories.person("ana", Role.OPERATOR)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(User.objects.get(username="ana"), backend="django.contrib.auth.backends.ModelBackend")
    return browser


def test_a_dialog_without_a_csrf_token_gets_a_panel_with_the_reason(strict, drop):
    refused = strict.post(drop, TYPED, headers=DIALOG)
    anew = strict.get(f"{drop}{AGAIN}", headers=DIALOG)

    assert refused.status_code == 403
    assert "<html" not in refused.text
    assert refused.text.count('id="panel-title"') == 1
    assert "<bdi>prices changed, INC-7</bdi>" in refused.text
    assert f'hx-get="{drop}{AGAIN}"' in refused.text
    assert 'value="prices changed, INC-7"' in anew.text
    assert ReplayEntry.objects.exists()


def test_a_page_without_a_csrf_token_keeps_the_reason(strict, drop):
    refused = strict.post(drop, TYPED)

    assert refused.status_code == 403
    assert refused.text.count("<main") == 1
    assert f'href="{drop}{AGAIN}"' in refused.text


def test_a_reason_sent_by_another_site_is_not_repeated(strict, drop):
    refused = strict.post(drop, TYPED, headers={"sec-fetch-site": "cross-site"})

    assert refused.status_code == 403
    assert "INC-7" not in refused.text


def test_a_signed_out_person_returns_to_the_form_and_reason_after_sign_in(drop):
    within, alone = Client().post(drop, TYPED, headers=DIALOG), Client().post(drop, TYPED)

    assert within.status_code == 403
    assert "signed out" in within.text
    User.objects.create_user("olga", password="correct horse battery")
    form = {"username": "olga", "password": "correct horse battery"}
    after = "/ops/sign-in/?next=%2Fops%2Fidempotency%2F"
    assert f'href="{after}' in within.text
    assert alone["Location"].startswith("/ops/sign-in/?next=/ops/idempotency/")
    assert Client().post("/ops/sign-in/", {**form, "next": f"{drop}{AGAIN}"})["Location"] == f"{drop}{AGAIN}"


@pytest.mark.parametrize("token", [{}, {"form_token": "junk"}, {"form_token": "\0"}], ids=["missing", "junk", "nul"])
def test_a_form_with_a_bad_token_links_to_a_fresh_form_with_the_reason(ana, drop, alice, bob, token):
    lease = factories.leased_task(alice, bob)
    bulk.plan(ana, [lease])
    paths = [
        drop,
        f"/ops/leases/{lease.lease_id}/requeue/",
        f"/ops/leases/{lease.lease_id}/force-error/",
        f"/ops/repairs/{bulk.the_plan().pk}/",
        "/ops/agents/bob@local/",
        "/ops/scheduler/run-once/",
    ]

    for path in paths:
        refused = ana.post(path, {**TYPED, **token, "posture": "operator_accepted", "act": "pause"})

        assert refused.status_code == 400
        assert f'href="{path}{AGAIN}"' in refused.text
        assert ana.get(f"{path}{AGAIN}").context["form"]["reason"].value() == TYPED["reason"]


def test_a_dialog_about_a_dropped_result_keeps_the_reason(ana, drop):
    ReplayEntry.objects.all().delete()

    answer = ana.post(drop, {**TYPED, "form_token": "00000000-0000-4000-8000-000000000001"}, headers=DIALOG)

    assert answer.status_code == 404
    assert "It may have been dropped" in answer.text
    assert "<bdi>prices changed, INC-7</bdi>" in answer.text


def test_an_unknown_path_is_answered_with_a_panel_inside_a_dialog(ana):
    within, alone = ana.get("/ops/nowhere/", headers=DIALOG), ana.get("/ops/nowhere/")

    assert (within.status_code, alone.status_code) == (404, 404)
    assert 'id="panel-title"' in within.text
    assert "<html" not in within.text
    assert "<html" in alone.text


def test_a_plan_page_fills_in_the_reason_from_its_url(ana, alice, bob):
    bulk.plan(ana, [factories.leased_task(alice, bob)])

    page = ana.get(f"/ops/repairs/{bulk.the_plan().pk}/?reason=pod+lost")

    assert 'value="pod lost"' in page.text


@pytest.mark.parametrize("token", [{}, {"form_token": "junk"}, {"form_token": "\0"}], ids=["missing", "junk", "nul"])
def test_a_form_with_a_bad_token_makes_no_plan(ana, alice, bob, token):
    lease = factories.leased_task(alice, bob)

    refused = ana.post("/ops/repairs/", {"verb": "requeue", "lease": str(lease.lease_id), **token})

    assert refused.status_code == 422
    assert "The form was incomplete. Go back, reload the page and select again." in refused.text
    assert not RepairPlan.objects.exists()
