"""The audit page: facets, bars, a range of time, words of reasons, one event with its links."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard import audit
from mailbox.access.agents import registration
from mailbox.access.callers import Role
from mailbox.models import AuditEvent
from mailbox.repairs import repair
from mailbox.words.errors import AlreadyResolvedError, LeaseMismatchError
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db


def event(**fields):
    usual = {"kind": "a2a_task_sent", "actor": "user:ana", "source": "api", "data": "{}", "at": timezone.now()}
    return AuditEvent.objects.create(**usual | fields)


def chips(page):
    return {facet.name: {chip.label: chip.count for chip in facet.chips} for facet in page.context["figures"].facets}


def shown(page):
    return [act.event.pk for act in page.context["acts"]]


def test_checks_of_capabilities_are_off_until_they_are_asked_for(vic):
    event(kind="capability_check")
    sent = event()

    assert shown(vic.get("/ops/audit/")) == [sent.pk]
    assert 'value="-kind:capability_check"' in vic.get("/ops/audit/").text
    assert len(shown(vic.get("/ops/audit/?q="))) == len(shown(vic.get("/ops/audit/?q=source:api"))) == 2


def test_facets_count_the_matching_rows_and_narrow_to_one(vic, bob):
    agent = factories.row_of(bob)
    for kind, actor, key in (
        ("agent_paused", "user:ana", None),
        ("a2a_task_sent", "bob@local", agent.pubkey),
        ("a2a_task_sent", "bob@local", agent.pubkey),
    ):
        event(kind=kind, actor=actor, actor_pubkey=key)
    page = vic.get("/ops/audit/?q=source:api")

    assert chips(page) == {
        "Event": {"sent": 2, "agent paused": 1},
        "Agent": {"bob@local": 2},
        "Other actor": {"user:ana": 1},
        "Source": {"api": 3},
    }
    (narrow,) = [chip for facet in page.context["figures"].facets for chip in facet.chips if chip.label == "bob@local"]
    assert (narrow.query, narrow.is_chosen) == ("source:api actor:bob@local", False)
    narrowed = vic.get("/ops/audit/", {"q": narrow.query})
    assert len(shown(narrowed)) == 2
    (wide,) = [
        chip
        for facet in narrowed.context["figures"].facets
        for chip in facet.chips
        if chip.is_chosen and facet.name == "Agent"
    ]
    assert wide.query == "source:api"


def test_bars_count_rows_over_time_and_narrow_to_their_span(vic):
    now = timezone.now().replace(microsecond=0)
    for age in (120, 60, 60, 0):
        event(at=now - timedelta(minutes=age))
    figures = vic.get("/ops/audit/").context["figures"]

    assert ([bar.count for bar in figures.bars], figures.peak, figures.count) == ([1, 2, 1], 2, 4)
    assert len(shown(vic.get("/ops/audit/", {"q": figures.bars[1].query}))) == 2


@pytest.mark.parametrize("span", [timedelta(seconds=30), timedelta(minutes=40), timedelta(days=9)])
def test_no_two_labels_of_the_time_axis_are_alike(vic, span):
    now = timezone.now()
    event(at=now - span)
    event(at=now)

    labels = [label for _, label in vic.get("/ops/audit/").context["figures"].ticks]

    assert len(labels) == len(set(labels)) == 5


def test_a_page_searches_its_words_once(vic):
    with CaptureQueriesContext(connection) as made:
        vic.get("/ops/audit/", {"q": "disk"})

    assert sum("_words" in query["sql"] and "disk" in query["sql"] for query in made) == 1


def test_the_figures_read_a_bounded_number_of_rows(vic, monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr(audit, "SAMPLE", 3)
    for _ in range(5):
        event()

    with django_assert_max_num_queries(8):
        assert vic.get("/ops/audit/").context["figures"].count == 3


def test_a_range_of_time_narrows_the_list_and_stands_in_the_box(vic):
    old, new = event(at=timezone.now() - timedelta(days=2)), event()
    middle = timezone.localtime(timezone.now() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")

    later = vic.get("/ops/audit/", {"q": "source:api", "from": middle})
    earlier = vic.get("/ops/audit/", {"q": "source:api at:02:00..", "to": middle})

    assert (shown(later), later.context["q"]) == ([new.pk], f"source:api at:{middle}..")
    assert (shown(earlier), earlier.context["q"]) == ([old.pk], f"source:api at:1970-01-02T00:00..{middle}")
    assert vic.get("/ops/audit/?from=junk").status_code == 400


def test_words_search_the_reasons(vic, bob):
    ana = factories.person("ops", Role.OPERATOR)
    registration.pause_agent(ana, bob.agent, reason="disk full, INC-4412")

    for text in ("INC-4412", "4412 disk", "inc* actor:ops"):
        assert [act.reason for act in vic.get("/ops/audit/", {"q": text}).context["acts"]] == ["disk full, INC-4412"]
    assert "No matching events." in vic.get("/ops/audit/?q=INC-9").text


def test_following_marks_the_list_that_shows_new_rows_by_itself(vic):
    event()

    assert 'data-list="follow"' in vic.get("/ops/audit/?follow=1").text
    assert "data-list>" in vic.get("/ops/audit/").text


def test_an_event_links_its_task_lease_agents_and_neighbours(vic, alice, bob):
    lease = factories.leased_task(alice, bob)
    leased = AuditEvent.objects.filter(kind="a2a_task_leased").get()
    older, newer = leased.pk - 1, event().pk
    page = squeezed(vic.get(f"/ops/audit/{leased.pk}/").text)

    for address in (f"tasks/{lease.task.uuid}", f"leases/{lease.lease_id}", "agents/bob@local", f"audit/{older}"):
        assert f'href="/ops/{address}/"' in page, address
    assert re.search(rf'rel="next" href="/ops/audit/{newer}/"', page)
    assert f"<bdi><code>lease_id</code></bdi> <bdi><code>&quot;{lease.lease_id}&quot;</code></bdi>" in page
    assert 'rel="next"' not in vic.get(f"/ops/audit/{newer}/").text


def test_a_refused_repair_keeps_the_reason_and_the_lease_and_says_why(vic, alice, bob):
    operator = factories.person("ops", Role.OPERATOR)
    lease = factories.leased_task(alice, bob)
    wrong = uuid4()
    with pytest.raises(LeaseMismatchError):
        repair.requeue(operator, lease.task.uuid, reason="pod lost", duplicate_risk="operator_accepted", lease_id=wrong)
    repair.force_error(operator, lease.task.uuid, reason="x", message="x")
    with pytest.raises(AlreadyResolvedError):
        repair.requeue(operator, lease.task.uuid, reason="INC-7", duplicate_risk="operator_accepted")

    first, second = AuditEvent.objects.filter(kind="a2a_repair_refused").order_by("pk")
    assert (first.fields["lease_id"], first.fields["given_reason"]) == (str(wrong), "pod lost")
    assert "lease_id" not in second.fields
    acts = vic.get("/ops/audit/?q=kind:a2a_repair_refused").context["acts"]
    assert [(act.what, act.reason) for act in acts] == [
        ("requeue refused: task was already resolved", "INC-7"),
        ("requeue refused: lease had changed", "pod lost"),
    ]
    assert [act.event for act in vic.get("/ops/audit/?q=INC-7").context["acts"]] == [second]
