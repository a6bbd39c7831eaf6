"""Hostile text from agents: task pages show it exactly, and no page runs it."""

import re
from typing import Any

import pytest
from django.urls import get_resolver
from django.utils.html import escape

from mailbox.models import AuditEvent
from tests.support import hostile
from tests.support.hostile import BACKWARDS, HUGE, LONG, MARKUP, Reader

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

OWN_SCRIPT = re.compile(r"/static/(ops|django_htmx)/[\w.-]+\.js")
DANGEROUS = re.compile(r"\s*(javascript|data|vbscript):", re.IGNORECASE)
QUERIES = {"": "", "leases/": "?q=state:in_flight", "tasks/": "?q=state:in_flight", "results/": "?delivery=all"}


@pytest.fixture
def world(db):
    return hostile.world()


def paths(world):
    """Yield one path for each GET route under /ops/, with ids of the world's rows filled in."""
    event = AuditEvent.objects.newest_first()[0]
    numbers = {"cached-result": world.entry.pk, "scan": world.scan.pk, "audit-event": event.pk, "plan": world.plan.pk}
    ids = {"delivery": world.delivery.delivery_id, "lease": world.lease.lease_id, "tree": world.task.uuid}
    ops: Any = next(one for one in get_resolver().url_patterns if getattr(one, "app_name", None) == "ops")
    for pattern in ops.url_patterns:
        if "get" not in pattern.callback.view_class.http_method_names or not hasattr(
            pattern.callback.view_class, "get"
        ):
            continue
        values = {
            "lease_id": world.lease.lease_id,
            "task_id": world.answered.uuid,
            "delivery_id": world.delivery.delivery_id,
            "root": ids["tree"],
            "name": world.task.recipient.display,
            "number": numbers.get(pattern.name, 1),
            "form": "csv",
            "part": "intent",
        }
        path = str(pattern.pattern)
        for name in re.findall(r"<\w+:(\w+)>", path):
            path = re.sub(rf"<\w+:{name}>", str(values.get(name, 1)), path)
        yield f"/ops/{path}{QUERIES.get(path, '')}"


def read(browser, path):
    response = browser.get(path)
    assert response.status_code in (200, 302, 404, 410), path
    return Reader(response.text) if response.get("Content-Type", "").startswith("text/html") else None


def test_no_page_runs_stored_text_or_lets_it_reverse_other_text(ana, world):
    seen = {path: page for path in paths(world) if (page := read(ana, path))}
    for other in (world.task, world.waiting, world.asking):
        seen[f"task {other.uuid}"] = read(ana, f"/ops/tasks/{other.uuid}/")

    assert len(seen) > 25
    wrong = {
        path: (
            [script for script in page.scripts if not OWN_SCRIPT.fullmatch(script)],
            page.handlers,
            [target for target in page.targets if DANGEROUS.match(target)],
            page.loose,
        )
        for path, page in seen.items()
    }
    assert {path: faults for path, faults in wrong.items() if any(faults)} == {}


def test_no_page_exceeds_700_kilobytes(ana, world):
    for path in (*paths(world), f"/ops/tasks/{world.asking.uuid}/"):
        response = ana.get(path)
        if response.get("Content-Type", "").startswith("text/html"):
            assert len(response.content) < 700_000, path


def test_a_task_page_shows_the_first_64_kib_of_a_text_exactly(ana, world):
    path = f"/ops/tasks/{world.answered.uuid}/"
    page = read(ana, path)

    assert f'<p class="words"><bdi>{escape(LONG[: 64 * 1024])}</bdi></p>' in ana.get(path).text
    shown = [text.removeprefix("\n") for text in page.pre]
    assert any(f'"n": {HUGE}' in text and MARKUP.replace('"', '\\"') in text for text in shown)


def test_task_parts_are_downloaded_exactly_as_they_were_sent(ana, world):
    path = f"/ops/tasks/{world.answered.uuid}/parts/"

    assert ana.get(f"{path}intent").text == LONG
    assert ana.get(f"{path}0").text == LONG
    assert ana.get(f"{path}metadata").json() == {MARKUP: [HUGE, MARKUP], "n": HUGE}
    assert ana.get(f"{path}2")["Content-Type"] == "application/octet-stream"
    assert BACKWARDS in ana.get(f"{path}3").text


def test_markup_in_a_query_is_escaped(ana, world):
    for path in ("leases", "tasks", "audit", "idempotency", "deliveries", "agents"):
        page = ana.get(f"/ops/{path}/", {"q": MARKUP[:400]})

        assert Reader(page.text).handlers == []
        assert "<script>alert" not in page.text
