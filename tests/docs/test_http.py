import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.urls import Resolver404, URLResolver, get_resolver, resolve

from mailbox.database.outages import Outage
from tests.support import factories, pages
from tests.support.api import Api

pytestmark = pytest.mark.one_database

ROUTE = re.compile(r"^\| `([A-Z, ]+) (/\S*)` \|", re.MULTILINE)
PARAMETER = re.compile(r"<[\w:]+>")
SAMPLE_ID = "00000000-0000-4000-8000-000000000000"


def served_routes(patterns: Iterable[Any], prefix: str = "/") -> Iterator[tuple[str, str]]:
    """Yield (method, path) for all that these patterns serve outside the admin."""
    for pattern in patterns:
        path = prefix + PARAMETER.sub("<>", str(pattern.pattern))
        if path.startswith("/admin/"):
            continue
        if isinstance(pattern, URLResolver):
            yield from served_routes(pattern.url_patterns, path)
            continue
        view = getattr(pattern.callback, "view_class", None) or getattr(pattern.callback, "cls", None)
        methods = ["get"] if view is None else [name for name in view.http_method_names if hasattr(view, name)]
        yield from ((name.upper(), path) for name in methods if name not in ("head", "options"))


def listed_routes() -> set[tuple[str, str]]:
    listed = ROUTE.findall(pages.page("docs/reference/http.md"))
    return {(method, PARAMETER.sub("<>", path)) for methods, path in listed for method in methods.split(", ")}


def test_the_route_tables_list_what_is_served() -> None:
    assert listed_routes() - {("GET", "/admin/")} == set(served_routes(get_resolver().url_patterns))


def test_each_listed_route_leads_to_a_view() -> None:
    dead = []
    for path in sorted({path for _, path in listed_routes()}):
        try:
            resolve(path.replace("<>", SAMPLE_ID))
        except Resolver404:
            dead.append(path)

    assert dead == []


@pytest.mark.django_db
def test_the_body_of_a_batch_posts_a_result_and_leases_a_task() -> None:
    ((_, body),) = pages.BLOCK.findall(pages.page("docs/reference/http.md"))
    alice, bob = (factories.agent(name, "a2a.send.*", "a2a.respond.*") for name in ("alice", "bob"))
    lease, waiting = factories.leased_task(alice, bob), factories.sent_task(alice, bob)
    named = body.replace('"lease_id": "<id>"', f'"lease_id": "{lease.lease_id}"').replace("<id>", str(lease.task.uuid))

    answer = Api(bob).post("/a2a/tasks/lease", json.loads(named.replace("<uuid>", SAMPLE_ID))).json()

    assert [one["task"]["id"] for one in answer["leases"]] == [str(waiting.uuid)]
    assert (answer["posted"], answer["refused"]) == ([str(lease.task.uuid)], [])


def test_each_reason_of_the_readiness_probe_is_listed() -> None:
    listed = pages.page("docs/reference/http.md")

    assert [outage for outage in Outage if f"| `{outage}` |" not in listed] == []
