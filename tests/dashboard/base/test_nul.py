"""A NUL character in a URL parameter is refused and never a failure. PostgreSQL stores no NUL in a text."""

import base64
import json
from urllib.parse import quote

import pytest
from django.contrib import admin
from django.db import connection
from django.http import QueryDict
from django.urls import reverse

from dashboard import guide, urls
from mailbox.access.callers import Role
from tests.dashboard.admin.test_admin import staff_client
from tests.dashboard.base.test_queries import REPAIRS
from tests.support import factories

pytestmark = pytest.mark.django_db
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite stores a NUL in a text")

LANGUAGES = {reverse(route): known for _, route, known, _ in [*guide.LANGUAGES, REPAIRS]}
ODD = ("a\x00", "\x00", "a\ud800")


@pytest.fixture
def rows(alice, bob):
    """A resolved and a leased task, so that the lists have rows to compare a text with."""
    factories.resolved_task(alice, bob)
    return factories.leased_task(alice, bob, idempotency=factories.idempotent("inv-7"))


def pages():
    """Return the path of every page whose URL contains no id, and of each list's downloads."""
    paths = ["/ops/" + str(one.pattern) for one in urls.urlpatterns]
    downloads = [
        path.replace("<slug:form>", form) for path in paths for form in ("csv", "jsonl") if "<slug:form>" in path
    ]
    return [path for path in [*paths, *downloads] if "<" not in path]


def cursor(name, position):
    return base64.urlsafe_b64encode(json.dumps([name, *position]).encode()).decode()


@pytest.fixture
def read(monkeypatch):
    """The names of the parameters that views have read so far."""
    names: set[str] = set()

    def spied(method):
        def read_and_noted(self, name, *more):
            names.add(name)
            return method(self, name, *more)

        return read_and_noted

    for method in ("__getitem__", "getlist"):
        monkeypatch.setattr(QueryDict, method, spied(getattr(QueryDict, method)))
    return names


def test_every_searchable_list_is_among_the_tested_pages():
    assert set(LANGUAGES) <= set(pages())


@on_postgresql
@pytest.mark.both_databases
@pytest.mark.parametrize("path", pages())
def test_no_page_fails_on_a_nul_in_any_parameter(sign_in, rows, read, path):
    ana = sign_in("ana", Role.ADMIN)
    answers = {"": ana.get(path).status_code}

    def ask(*queries):
        answers.update({query: ana.get(f"{path}?{query}").status_code for query in queries})

    while unasked := [f"{name}=a%00" for name in read if f"{name}=a%00" not in answers]:
        ask(*unasked)
    if path in LANGUAGES:
        assert {"q", "cursor"} <= read
        ask(*(f"q={key}:a%00" for key in LANGUAGES[path]))
        names = {path.strip("/").rpartition("/")[2], "scans"}
        ask(*(f"cursor={cursor(name, [odd, 1])}" for name in names for odd in ODD))
    if "q" in read:
        ask(*(f"q={quote(odd, errors='surrogatepass')}" for odd in ODD))

    assert {query: status for query, status in answers.items() if status >= 500} == {}


@pytest.mark.parametrize("route", ["leases", "tasks", "audit", "deliveries", "idempotency", "plans"])
def test_a_list_and_its_download_refuse_a_nul_in_the_query(ana, rows, route):
    page = ana.get(f"{reverse(f'ops:{route}')}?q=a%00")

    assert page.status_code == 400
    assert 'id="query-problem"' in page.text
    assert ana.get(f"{reverse(f'ops:{route}-twin', args=['csv'])}?q=a%00").status_code == 400


admin.autodiscover()


@on_postgresql
@pytest.mark.both_databases
@pytest.mark.parametrize("model", admin.site._registry)
def test_no_admin_list_fails_on_a_nul_in_any_parameter(rows, model):
    client = staff_client(None, is_superuser=True)
    changelist = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    shown = client.get(changelist).context["cl"]
    names = {"q", "p", "o", "e", "all", "_facets", *shown.get_filters_params()}
    for spec in shown.filter_specs:
        names.update(spec.expected_parameters())
    names.update({"kind", "actor", "task", "holder", "date", "source", "status", "state", "action__exact", "id__exact"})

    answers = {name: client.get(f"{changelist}?{name}=a%00").status_code for name in sorted(names)}

    assert {name: status for name, status in answers.items() if status >= 500} == {}
