from __future__ import annotations

import json
import re
import uuid

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from dashboard.views import guide
from mailbox.gate.callers import Caller, Role
from mailbox.inspection import search
from mailbox.models import PushDelivery
from mailbox.verbs.agents import registration
from mailbox.verbs.life import results
from tests.dashboard.views.test_leases import aged
from tests.support import factories
from tests.support.plans import planned

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def destination(browser, text):
    response = browser.get("/ops/go/", {"id": text})
    return response["Location"] if response.status_code == 302 else response.status_code


def test_the_search_box_opens_the_page_of_an_exact_name_or_id(vic, alice, bob, olga):
    lease = factories.leased_task(alice, bob)
    plan = planned(olga, [lease])
    number = factories.last_event().pk
    known = {
        str(lease.task.uuid): f"/ops/tasks/{lease.task.uuid}/",
        lease.task.uuid.hex: f"/ops/tasks/{lease.task.uuid}/",
        f"  {lease.lease_id} ": f"/ops/leases/{lease.lease_id}/",
        str(number): f"/ops/audit/{number}/",
        f"#{number}": f"/ops/audit/{number}/",
        f"repair #{plan.pk}": f"/ops/repairs/{plan.pk}/",
        f"Plan {plan.pk}": f"/ops/repairs/{plan.pk}/",
        "bob@local": "/ops/agents/bob@local/",
        "BOB@local": "/ops/agents/bob@local/",
        "bob": "/ops/agents/bob@local/",
        bob.agent.pubkey: "/ops/agents/bob@local/",
        "": "/ops/tasks/",
    }

    assert {text: destination(vic, text) for text in known} == known


def test_the_search_box_sends_a_query_to_the_list_of_tasks(vic):
    assert destination(vic, "agent:hotels state:stale") == "/ops/tasks/?q=agent%3Ahotels+state%3Astale"


@pytest.mark.parametrize(
    "text", ["nobody", "no@body", str(uuid.UUID(int=9)), "99999999", "repair 99", "\x00", "<b>", "x" * 900]
)
def test_an_unknown_name_in_the_search_box_gets_a_404_page(vic, text):
    response = vic.get("/ops/go/", {"id": text})

    assert response.status_code == 404
    assert "Nothing here is called that" in response.text
    assert "<b>\u201d" not in response.text


def test_a_local_name_shared_by_two_agents_opens_neither_unless_one_is_at_local(vic, bob):
    for display in ("bob@elsewhere", "ben@elsewhere", "ben@far"):
        factories.AgentFactory.create(display=display)

    assert destination(vic, "ben") == 404
    assert destination(vic, "bob") == "/ops/agents/bob@local/"


@pytest.mark.parametrize("language", [name for name in search.__all__ if name.endswith("_KEYS")])
def test_the_help_page_explains_every_search_key(language):
    assert set(getattr(guide, language)) == set(getattr(search, language))


def test_the_example_queries_of_the_help_page_are_valid(vic):
    for _, route, _, example in guide.LANGUAGES:
        assert vic.get(reverse(route), {"q": example}).status_code == 200


@pytest.mark.parametrize(
    ("role", "is_staff", "links"),
    [(Role.VIEWER, True, 0), (Role.OPERATOR, True, 0), (Role.ADMIN, False, 0), (Role.ADMIN, True, 1)],
)
def test_help_links_to_the_admin_only_for_staff_admins(sign_in, role, is_staff, links):
    browser = sign_in("ana", role)
    User.objects.update(is_staff=is_staff)

    assert browser.get("/ops/help/").text.count('href="/admin/"') == links


@pytest.mark.parametrize("is_built", [True, False])
def test_help_links_to_the_documentation_only_where_it_is_built(vic, settings, tmp_path, is_built):
    settings.A2A_SITE = tmp_path if is_built else tmp_path / "nowhere"

    assert ('href="/docs/"' in vic.get("/ops/help/").text) == is_built


def test_an_overlong_query_is_refused_rather_than_cut(vic):
    page = vic.get("/ops/go/", {"id": "to:bob " * 100}, follow=True)

    assert page.status_code == 400
    assert "longer than 500 characters" in page.text


def test_every_page_has_one_help_button_after_the_search_box(vic, alice, bob):
    for path in ("", "leases/", "tasks/", "results/", "agents/", "audit/", "settings/", "help/", "go/?id=nobody"):
        (header,) = re.findall(r"<header>.*</header>", vic.get(f"/ops/{path}").text, re.DOTALL)
        assert header.count('class="button help"') == 1, path
        assert header.index('role="search"') < header.index('class="button help"')


def test_the_menu_shows_how_many_rows_need_attention(ana, alice, bob, django_assert_num_queries):
    aged(factories.leased_task(alice, bob), hours=1)
    called = factories.leased_task(alice, bob, callback_url="https://x.example/")
    results.post_result(bob, factories.result_envelope(called.task, lease_id=called.lease_id))
    PushDelivery.objects.update(state=PushDelivery.State.DISABLED)
    registration.pause_agent(Caller.command_line(), alice.agent, reason="disk full")

    with django_assert_num_queries(4):  # session, person, groups, and all counts at once
        page = ana.get("/ops/help/")

    notes = {item.place.route: item.note for item in page.context["nav"] if item.note}
    assert notes == {"leases": "1 stale", "results": "1 waiting", "agents": "1 paused", "deliveries": "1 given up"}


def test_a_live_refresh_also_carries_the_menu_counts(ana, alice, bob):
    lease = factories.leased_task(alice, bob)
    seen = ana.get("/ops/leases/").context["version"]

    same = ana.get("/ops/leases/", headers={"hx-request": "true", "x-seen": seen})
    aged(lease, hours=1)
    changed = ana.get("/ops/leases/", headers={"hx-request": "true", "x-seen": seen})

    assert (same.status_code, json.loads(same["X-Attention"])) == (204, {"stale": 0, "notes": {}})
    assert json.loads(changed["X-Attention"]) == {"stale": 1, "notes": {"leases": "1 stale"}}


def test_a_slow_page_asks_the_browser_to_refresh_less_often(ana, monkeypatch):
    fast = ana.get("/ops/leases/", headers={"hx-request": "true"})
    monkeypatch.setattr("dashboard.base.page.SLOW", -1)

    slow = ana.get("/ops/leases/", headers={"hx-request": "true"})

    assert "HX-Trigger" not in fast
    assert slow["HX-Trigger"] == "live:slow"
