import json
import re
import uuid
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from dashboard import guide
from dashboard.templatetags.ops import short
from mailbox.access.agents import registration
from mailbox.access.callers import Caller, Role
from mailbox.inspection.search import keys
from mailbox.life import results
from mailbox.models import Lease, PushDelivery, Task
from tests.dashboard.test_leases import aged
from tests.support import factories
from tests.support.markup import squeezed
from tests.support.plans import planned

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def destination(browser, text):
    response = browser.get("/ops/go/", {"id": text})
    return response["Location"] if response.status_code == 302 else response.status_code


def test_the_search_box_opens_the_page_of_an_exact_name_or_id(vic, alice, bob, olga):
    lease = factories.leased_task(alice, bob)
    plan = planned(olga, [lease])
    number = factories.last_event().pk
    task = lease.task
    known = {
        str(lease.task.uuid): f"/ops/tasks/{lease.task.uuid}/",
        lease.task.uuid.hex: f"/ops/tasks/{lease.task.uuid}/",
        f"  {lease.lease_id} ": f"/ops/leases/{lease.lease_id}/",
        str(number): f"/ops/audit/{number}/",
        f"#{number}": f"/ops/audit/{number}/",
        f"journal {number}": f"/ops/audit/{number}/",
        task.uuid.hex[:8]: f"/ops/tasks/{task.uuid}/",
        str(task.uuid)[:13].upper(): f"/ops/tasks/{task.uuid}/",
        short(task.uuid): f"/ops/tasks/{task.uuid}/",
        short(task.uuid).replace("…", "..."): f"/ops/tasks/{task.uuid}/",
        short(lease.lease_id): f"/ops/leases/{lease.lease_id}/",
        f"repair #{plan.pk}": f"/ops/repairs/{plan.pk}/",
        f"Plan {plan.pk}": f"/ops/repairs/{plan.pk}/",
        "bob@local": "/ops/agents/bob@local/",
        "BOB@local": "/ops/agents/bob@local/",
        "bob": "/ops/agents/bob@local/",
        "bo": "/ops/agents/bob@local/",
        bob.agent.pubkey: "/ops/agents/bob@local/",
        "": "/ops/tasks/",
    }

    assert {text: destination(vic, text) for text in known} == known


@pytest.mark.parametrize(
    ("text", "list_of"),
    [
        ("agent:hotels state:stale", "tasks"),
        ("holder agent:bob", "tasks"),
        ("actor:ana", "audit"),
        ("kind:a2a_repair_* since:1h", "audit"),
        ("status:error", "results"),
        ("nobody", "tasks"),
        ("no@body", "tasks"),
        ("deadbeef", "tasks"),
        ("<b>", "tasks"),
        ("http://x", "tasks"),
        ("\x00", "tasks"),
        ("x" * 900, "tasks"),
    ],
)
def test_other_text_is_searched_for_in_the_list_that_knows_its_keys(vic, text, list_of):
    assert destination(vic, text) == f"/ops/{list_of}/?{urlencode({'q': text})}"


@pytest.mark.parametrize("text", [str(uuid.UUID(int=9)), "99999999", "repair 99", "cd53…2a87", "#7000000", "7f3c"])
def test_an_unknown_id_or_number_gets_a_404_page_with_a_way_on(vic, text):
    response = vic.get("/ops/go/", {"id": text})

    assert response.status_code == 404
    assert f"No item has the ID or number <q><bdi>{text}</bdi></q>." in squeezed(response.text)
    assert f"/ops/tasks/?{urlencode({'q': text})}" in response.text


def found_by(browser, text):
    return [(one.kind, one.name) for one in browser.get("/ops/go/", {"id": text}).context["found"]]


def test_a_name_of_several_things_lists_them(vic, bob):
    for display in ("bob@elsewhere", "ben@elsewhere", "ben@far"):
        factories.AgentFactory.create(display=display)

    assert found_by(vic, "ben") == [("Agent", "ben@elsewhere"), ("Agent", "ben@far")]
    assert destination(vic, "bob") == "/ops/agents/bob@local/"


def test_the_first_characters_of_several_ids_list_them(vic, alice, bob):
    ids = [uuid.UUID(f"cd53{number}{'0' * 26}{end}") for number, end in (("0", "1"), ("1", "2"), ("2", "1"))]
    lease = factories.leased_task(alice, bob, callback_url="https://x.example/")
    for one in ids:
        Task.objects.filter(pk=factories.sent_task(alice, bob).pk).update(uuid=one)
    Lease.objects.filter(pk=lease.pk).update(lease_id=uuid.UUID(f"cd54{'0' * 27}1"))
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=uuid.UUID(f"cd54{'0' * 27}1")))
    PushDelivery.objects.update(delivery_id=uuid.UUID(f"cd54{'0' * 27}2"))

    assert found_by(vic, "cd53") == [("Task", str(one)) for one in ids]
    assert found_by(vic, "CD53…0001") == [("Task", str(ids[0])), ("Task", str(ids[2]))]
    assert [kind for kind, _ in found_by(vic, "cd54")] == ["Lease", "Callback"]
    assert destination(vic, "cd54…0002") == f"/ops/deliveries/{PushDelivery.objects.get().delivery_id}/"


def test_keys_and_conversations_lead_to_what_has_them(vic, alice, bob):
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent("inv-7"))
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    for _ in range(2):
        factories.sent_task(alice, bob, context_id="talk-9")

    assert destination(vic, "talk-9") == "/ops/tasks/?q=context%3Atalk-9"
    assert found_by(vic, "inv-7") == [("Task", str(lease.task.uuid)), ("Cached result", "inv-7")]


@pytest.mark.parametrize("language", [name for name in vars(keys) if name.endswith("_KEYS") and name != "SPOKEN_KEYS"])
def test_the_help_page_explains_every_search_key(language):
    assert set(getattr(guide, language)) == set(getattr(keys, language))


def test_the_example_queries_of_the_help_page_are_valid(vic):
    for _, route, _, example in guide.LANGUAGES:
        assert vic.get(reverse(route), {"q": example}).status_code == 200


@pytest.mark.parametrize(
    ("role", "is_staff", "links"),
    [(Role.VIEWER, True, 1), (Role.OPERATOR, True, 1), (Role.ADMIN, False, 0), (Role.ADMIN, True, 2)],
)
def test_pages_link_to_the_admin_only_for_who_may_open_it(sign_in, role, is_staff, links):
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
    for path in ("", "leases/", "tasks/", "results/", "agents/", "audit/", "settings/", "help/", "go/?id=cd53…2a87"):
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
    assert notes == {"leases": "1 stale", "results": "1 waiting", "agents": "1 paused", "deliveries": "1 failed"}


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
