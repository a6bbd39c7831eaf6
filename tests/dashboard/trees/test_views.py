import json
import uuid
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.life import leasing, results
from mailbox.repairs import repair
from mailbox.words.envelopes import ResultStatus
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(alice, bob):
    return factories.leased_task(alice, bob, intent_text="plan the trip").task


def page(browser, root, query="", **options):
    return browser.get(f"/ops/trees/{root.uuid}/{query}", **options)


def test_a_tree_shows_its_tasks_and_their_failures(vic, alice, bob, root):
    failed = factories.leased_task(alice, bob, parent=root.uuid, intent_text="charge the card")
    results.post_result(
        bob, factories.result_envelope(failed.task, status=ResultStatus.ERROR, content=[], error_message="declined")
    )

    text = page(vic, root).text

    assert "2 tasks" in text
    assert "1 failed" in text
    assert "a task below failed" in text
    assert "charge the card" in text
    assert "declined" in page(vic, root, f"?focus={failed.task.uuid}").text


def test_a_tree_shows_the_person_who_requeued_an_attempt(vic, alice, bob, olga, root):
    lease = factories.leased_task(alice, bob, parent=root.uuid)
    repair.requeue(
        olga,
        lease.task.uuid,
        reason="x y",
        duplicate_risk=repair.DuplicateRisk.OPERATOR_ACCEPTED,
        lease_id=lease.lease_id,
    )

    text = page(vic, root).text

    assert "requeued by <bdi>user:olga</bdi>" in text
    assert f"/ops/audit/{factories.journal('a2a_repair_applied')[0].pk}/" in text


def test_only_the_focused_row_offers_repairs(ana, vic, root):
    assert "/requeue/" in page(ana, root, f"?focus={root.uuid}").text
    assert "needs capability" in page(vic, root, f"?focus={root.uuid}").text
    assert "/requeue/" not in page(ana, root).text


def test_a_task_page_links_to_its_tree(vic, root):
    assert f"/ops/trees/{root.uuid}/" in vic.get(f"/ops/tasks/{root.uuid}/").text


def test_links_of_a_tree_keep_its_filters_and_opened_groups(vic, alice, bob, root):
    for _ in range(7):
        factories.sent_task(alice, bob, parent=root.uuid, task_kind="fetch")

    folded = page(vic, root, "?only=open&min=").text
    opened = page(vic, root, f"?only=open&open={root.uuid}.0:20")

    assert f"?only=open&amp;open={root.uuid}.0%3A20" in folded
    assert "7 \N{MULTIPLICATION SIGN} <bdi>fetch</bdi>" in folded
    assert len(opened.context["rows"]) == 9


def test_an_opened_group_shows_how_many_rows_are_left(vic, alice, bob, root):
    for _ in range(27):
        factories.sent_task(alice, bob, parent=root.uuid, task_kind="fetch")

    assert ">show 7 more</a>" in page(vic, root, f"?open={root.uuid}.0:20").text


@pytest.mark.parametrize(
    "query",
    [
        "?focus=x",
        "?from=x&to=-4",
        "?from=9&to=3",
        "?depth=&min=&only=",
        "?depth=5",
        "?open=x:x&open=:",
        f"?focus={uuid.UUID(int=3)}",
    ],
)
def test_a_tree_ignores_empty_and_unmatched_parameters(vic, root, query):
    assert page(vic, root, query).status_code == 200


def test_an_unknown_tree_has_no_page(vic):
    assert vic.get(f"/ops/trees/{uuid.uuid4()}/").status_code == 404
    assert vic.get(f"/ops/trees/{uuid.uuid4()}/json").status_code == 404


def test_a_large_tree_needs_few_queries(vic, alice, bob, root, django_assert_max_num_queries):
    lease = factories.leased_task(alice, bob, parent=root.uuid)
    factories.resolved_task(alice, bob)
    for _ in range(30):
        factories.sent_task(alice, bob, parent=lease.task.uuid)

    with django_assert_max_num_queries(8):  # every page needs four of them
        page(vic, root)


def test_a_live_tree_is_resent_if_its_tasks_or_parameters_change(vic, alice, bob, root):
    seen = page(vic, root).context["version"]
    headers = {"hx-request": "true", "x-seen": seen}

    same = page(vic, root, headers=headers)
    other = page(vic, root, "?depth=1", headers=headers)
    factories.sent_task(alice, bob, parent=root.uuid)

    assert (same.status_code, other.status_code) == (204, 200)
    assert page(vic, root, headers=headers).status_code == 200


def test_a_tree_is_downloaded_whole_and_exactly(vic, alice, bob, root):
    factories.sent_task(alice, bob, parent=root.uuid, intent_text="x" * 5000)

    whole = json.loads(b"".join(vic.get(f"/ops/trees/{root.uuid}/json")))

    assert [task["parent"] for task in whole["tasks"]] == [None, str(root.uuid)]
    assert whole["tasks"][1]["intent_text"] == "x" * 5000
    assert whole["tasks"][0]["leases"][0]["holder"] == "bob@local"


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", "\u202eodd\u202c", "' onfocus='alert(1)", "w" * 100_000],
    ids=["html", "rtl", "quotes", "long"],
)
def test_hostile_text_in_a_tree_is_escaped(vic, alice, bob, root, text):
    factories.sent_task(alice, bob, parent=root.uuid, intent_text=text, task_kind=text[:400])

    response = page(vic, root, "?q=<script>")

    assert "<script>alert" not in response.text
    assert "<script>&quot;" not in response.text
    assert len(response.content) < 40_000


def test_a_tree_larger_than_a_page_says_so_and_is_downloaded_whole(vic, alice, bob, root, monkeypatch):
    monkeypatch.setattr("dashboard.trees.views.MOST_ROWS", 3)
    for _ in range(5):
        factories.sent_task(alice, bob, parent=root.uuid)

    text = page(vic, root).text

    assert "3+ tasks" in text
    assert "too large for one page" in text
    assert len(json.loads(b"".join(vic.get(f"/ops/trees/{root.uuid}/json")))["tasks"]) == 6


def test_a_lost_attempt_is_drawn_as_lost_whatever_the_task_became(vic, alice, bob, olga, root):
    lost = root.leases.get()
    repair.requeue(
        olga,
        root.uuid,
        reason="pod lost",
        duplicate_risk=repair.DuplicateRisk.OPERATOR_ACCEPTED,
        lease_id=lost.lease_id,
    )
    again = leasing.lease_task(bob, root.uuid)
    results.post_result(bob, factories.result_envelope(root, lease_id=again.lease_id))

    (row,) = page(vic, root).context["rows"]

    assert [part.tone for part in row["segments"] if part.kind == "leased"] == ["lost", "ok"]
    assert any(part.description.endswith("requeue by user:olga") for part in row["segments"])


def test_a_tree_shows_the_window_of_its_address_and_leads_to_others(vic, alice, bob):
    with time_machine.travel(timezone.now() - timedelta(seconds=100), tick=False):
        root = factories.sent_task(alice, bob)

    part, whole = page(vic, root, "?from=40000&to=60000&only=open"), page(vic, root)

    zooms = {words: address for words, _, address in part.context["zooms"]}
    assert zooms["Zoom in"] == "?only=open&from=45000&to=55000"
    assert zooms["Earlier"] == "?only=open&from=30000&to=50000"
    assert part.context["whole"] == "?only=open"
    assert part.context["window_words"] == ["40.0 s", "1 m"]
    assert [tick.label for tick in part.context["ticks"]] == ["40 s", "45 s", "50 s", "55 s", "1 m"]
    assert "Whole tree" in part.text
    assert "Whole tree" not in whole.text


def test_the_chart_draws_the_critical_path_and_a_legend(vic, alice, bob, root):
    factories.sent_task(alice, bob, parent=root.uuid, intent_text="child")

    text = page(vic, root).text

    assert text.count("<title>critical path</title>") == 2
    assert all(f"</svg> {word}" in text for word in ("queued", "leased", "lost", "between attempts", "critical path"))
