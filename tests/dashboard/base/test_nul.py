"""A NUL, which PostgreSQL takes in no text, in whatever an address asks for: refused, and never a failure."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from django.contrib import admin
from django.urls import reverse

from dashboard import urls
from dashboard.views import guide
from mailbox.gate.callers import Role
from tests.dashboard.admin.test_admin import at
from tests.support import factories

pytestmark = pytest.mark.django_db

PARAMETERS = (
    *("q", "state", "agent", "safety", "min_age", "max_age", "status", "delivery", "posted", "within", "finished"),
    *("sort", "range", "cursor", "id", "recipient", "parent", "intent_text", "verdict", "focus", "only", "depth"),
    *("act", "next"),
)
KEYS = sorted({key for _, _, known, _ in guide.LANGUAGES for key in known})
ODD = ("a\x00", "\x00", "a\ud800")


@pytest.fixture
def rows(alice, bob):
    """Something in each list that a text can be compared with."""
    factories.resolved_task(alice, bob)
    return factories.leased_task(alice, bob, idempotency=factories.idempotent("inv-7"))


def pages():
    """Return the address of every list, of its twins, and of every other page that needs no name."""
    paths = ["/ops/" + str(one.pattern) for one in urls.urlpatterns]
    twins = [path.replace("<slug:form>", form) for path in paths for form in ("csv", "jsonl") if "<slug:form>" in path]
    return [path for path in [*paths, *twins] if "<" not in path]


def cursor(name, position):
    return base64.urlsafe_b64encode(json.dumps([name, *position]).encode()).decode()


@pytest.mark.parametrize("path", pages())
def test_no_page_fails_over_it(sign_in, rows, path):
    ana = sign_in("ana", Role.ADMIN)
    asked = [*(f"{name}=a%00" for name in PARAMETERS), *(f"q={key}:a%00" for key in KEYS)]
    asked += [f"q={quote(odd, errors='surrogatepass')}" for odd in ODD]
    name = path.removeprefix("/ops/").strip("/")
    asked += [f"cursor={cursor(name, [odd, 1])}" for odd in ODD]

    answers = {query: ana.get(f"{path}?{query}").status_code for query in asked}

    assert {query: status for query, status in answers.items() if status >= 500} == {}


@pytest.mark.parametrize("route", ["leases", "tasks", "audit", "deliveries", "idempotency", "plans"])
def test_a_list_says_so_beside_the_box_and_its_twin_refuses(ana, rows, route):
    page = ana.get(f"{reverse(f'ops:{route}')}?q=a%00")

    assert page.status_code == 400
    assert 'id="query-problem"' in page.text
    assert ana.get(f"{reverse(f'ops:{route}-twin', args=['csv'])}?q=a%00").status_code == 400


admin.autodiscover()


@pytest.mark.parametrize("model", admin.site._registry)
def test_no_list_of_the_admin_fails_over_it(rows, model):
    client = at(None, is_superuser=True)
    changelist = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    shown = client.get(changelist).context["cl"]
    names = {"q", "p", "o", "e", "all", "_facets", *shown.get_filters_params()}
    for spec in shown.filter_specs:
        names.update(spec.expected_parameters())
    names.update({"kind", "actor", "task", "holder", "date", "source", "status", "state", "action__exact", "id__exact"})

    answers = {name: client.get(f"{changelist}?{name}=a%00").status_code for name in sorted(names)}

    assert {name: status for name, status in answers.items() if status >= 500} == {}
