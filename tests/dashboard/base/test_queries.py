"""All lists share one search language. Every list refuses an unknown key or value."""

import pytest
from django.urls import reverse
from django.utils.html import escape

from dashboard import guide
from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.background import jobs
from mailbox.models import ApiKey
from mailbox.repairs import retry
from mailbox.words.envelopes import ResultStatus
from tests.dashboard.test_leases import aged
from tests.dashboard.test_scheduler import stale
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db

ROUTES = ["leases", "tasks", "results", "agents", "idempotency", "scheduler", "deliveries", "repairs", "plans", "audit"]
ODD = {
    "foo:bar": "Unknown key “foo”. Available keys: ",
    "Foo:bar": "Unknown key “Foo”. Available keys: ",
    "-min_age:5m": "Unknown key “min_age”. Available keys: ",
    'x "a b': "Close the quotes",
    '""': "The quotes are empty.",
}


def download_path(route):
    return reverse(f"ops:{'scans' if route == 'scheduler' else route}-twin", args=["csv"])


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("text", "message"), ODD.items())
def test_an_invalid_query_is_explained_beside_the_search_box(vic, route, text, message):
    page = vic.get(reverse(f"ops:{route}"), {"q": text})

    assert page.status_code == 400
    assert escape(message) in page.text
    assert page.text.count('aria-describedby="query-problem"') == page.text.count('id="query-problem"') == 1
    assert vic.get(download_path(route), {"q": text}).status_code == 400


TABS = {
    "leases": ("state", "stale"),
    "tasks": ("state", "queued"),
    "agents": ("state", "quiet"),
    "deliveries": ("state", "disabled"),
    "results": ("delivery", "acked"),
}


@pytest.mark.parametrize("route", ROUTES)
def test_the_box_has_the_chosen_tab_and_can_be_cleared(vic, route):
    at, (tab, value) = reverse(f"ops:{route}"), TABS.get(route, ("state", "stale"))

    page = squeezed(vic.get(at, {tab: value, "q": "since:1h"}).text)

    assert f'value="{f"since:1h {tab}:{value}" if route in TABS else "since:1h"}"' in page
    assert f'href="{at}">Clear</a>' in page


@pytest.mark.parametrize(
    ("address", "box", "tab"),
    [
        ("tasks/", "", ""),
        ("tasks/?state=error", "state:error", "error"),
        ("tasks/?q=state:error", "state:error", "error"),
        ("tasks/?q=to:bob+State:error+-state:ok&state=stale", "to:bob -state:ok state:stale", "stale"),
        ("tasks/?q=state:error+to:bob&state=all", "to:bob", ""),
        ("tasks/?q=state:error,ok", "state:error,ok", ""),
        ("tasks/?q=-state:error", "-state:error", ""),
        ("results/", "delivery:pending", "pending"),
        ("results/?q=", "", ""),
        ("results/?delivery=all", "", ""),
        ("results/?q=from:bob", "from:bob", ""),
        ("results/?status=error", "status:error", ""),
        ("results/?q=delivery:acked", "delivery:acked", "acked"),
        ("results/?q=delivery:acked&delivery=pending", "delivery:pending", "pending"),
    ],
)
def test_tabs_and_the_search_box_are_one_state(vic, address, box, tab):
    context = vic.get(f"/ops/{address}").context

    assert (context["q"], context["chosen"]) == (box, tab)


@pytest.mark.parametrize("route", ROUTES)
def test_a_search_key_without_a_value_is_refused(vic, route):
    (known,) = [known for _, at, known, _ in [*guide.LANGUAGES, REPAIRS] if at == f"ops:{route}"]

    for key in known:
        for text in (f"{key}:", f'{key}:""', f"{key}:,", f"-{key.upper()}:"):
            page = vic.get(reverse(f"ops:{route}"), {"q": text})
            assert (page.status_code, "needs a value" in page.text) == (400, True), text


REPAIRS = ("Repairs", "ops:repairs", guide.EVENT_KEYS, "")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("results/?delivery=junk", "Unknown delivery “junk”. Use one of: pending"),
        ("results/?status=junk", "Unknown status “junk”. Use one of: ok"),
        ("results/?within=junk", "a duration. Examples: &gt;90s"),
        ("results/?posted=junk", "a time range. Examples: 02:14"),
        ("agents/?state=junk", "Unknown state “junk”. Use one of: "),
        ("tasks/?state=junk", "Unknown state “junk”. Use one of: "),
        ("leases/?state=junk", "Unknown state “junk”. Use one of: "),
        ("deliveries/?state=junk", "Unknown state “junk”. Use one of: "),
        ("scheduler/?q=outcome:junk", "Unknown outcome “junk”. Use one of: "),
    ],
)
def test_an_unknown_filter_value_is_refused(vic, address, message):
    page = vic.get(f"/ops/{address}")

    assert page.status_code == 400
    assert message in page.text


def test_a_url_parameter_without_a_name_is_ignored(vic):
    assert vic.get("/ops/audit/?=junk").status_code == 200


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Book", {"Book hotel", "book a flight"}),
        ("-Book", {"pay 10:30"}),
        ('-"Book hotel"', {"book a flight", "pay 10:30"}),
        ("book -flight", {"Book hotel"}),
        ("10:30", {"pay 10:30"}),
        ("State:queued pay", {"pay 10:30"}),
    ],
)
@pytest.mark.parametrize("route", ["tasks", "leases"])
def test_words_search_the_intent_and_a_minus_excludes_them(vic, alice, bob, route, text, expected):
    for intent in ("Book hotel", "book a flight", "pay 10:30"):
        make = factories.sent_task if route == "tasks" else factories.leased_task
        make(alice, bob, intent_text=intent)

    rows = vic.get(f"/ops/{route}/", {"q": text.replace("queued", "queued" if route == "tasks" else "in_flight")})

    shown = {getattr(row, "intent_text", None) or row.task.intent_text for row in rows.context["page"].items}
    assert shown == expected


@pytest.fixture
def ended(alice, bob):
    """A waiting result and a waiting error, beside a drained result."""
    factories.drained_task(alice, bob)
    good = factories.resolved_task(alice, bob)
    bad = factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message="no", content=[])
    return good, bad


@pytest.mark.parametrize(
    ("address", "count"),
    [
        ("", 2),
        ("?delivery=all", 3),
        ("?delivery=delivered", 1),
        ("?q=delivery:delivered", 1),
        ("?q=status:error", 1),
        ("?q=-status:error", 2),
        ("?status=error&delivery=pending", 1),
        ("?q=from:alice@local+to:bob", 3),
        ("?q=from:bob", 0),
        ("?q=agent:bob@local", 3),
        ("?q=age:<1h", 3),
        ("?within=1h&delivery=all", 3),
        ("?posted=2001-01-01T00:00..2001-01-02T00:00", 0),
    ],
)
def test_a_search_of_results_and_its_download_agree(ana, ended, address, count, django_assert_max_num_queries):
    with django_assert_max_num_queries(7):
        page = ana.get(f"/ops/results/{address}")
    table = b"".join(ana.get(f"/ops/results.csv{address}")).decode().splitlines()

    assert len(page.context["page"].items) == page.context["total"].value == len(table) - 1 == count


def test_filters_from_a_link_are_shown_kept_and_can_be_cleared(ana, ended):
    page = ana.get("/ops/results/?delivery=all&status=error&posted=2026-01-01T00:00..")

    assert 'value="status:error posted:2026-01-01T00:00.."' in page.text
    assert page.context["chosen"] == ""
    assert "1</b> result matching, newest first" in squeezed(page.text)
    assert '<a class="clear" href="/ops/results/">' in squeezed(page.text)
    assert page.text.count("status=error&amp;posted=") >= 4
    assert 'class="clear"' not in ana.get("/ops/results/?delivery=all").text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"alice", "bob", "carol"}),
        ("state:quiet", {"bob"}),
        ("state:paused", {"carol"}),
        ("-state:paused -state:quiet", {"alice"}),
        ("name:bob", {"bob"}),
        ("name:bo*", {"bob"}),
        ("name:carol@local,bob", {"bob", "carol"}),
        ("ALI", {"alice"}),
        ("-li", {"bob", "carol"}),
        ("age:>1h", set()),
    ],
)
def test_agents_are_searched_by_state_name_and_words(ana, alice, bob, text, expected):
    carol = factories.AgentFactory.create(display="carol@local", local="carol")
    factories.key_of(bob)
    lease = factories.leased_task(alice, bob)
    aged(lease, hours=2)
    ApiKey.objects.update(created_at=lease.task.sent_at.replace(year=2020))
    registration.pause_agent(Caller.command_line(), carol, reason="disk full")

    page = ana.get("/ops/agents/", {"q": text})

    assert {row.agent.local for row in page.context["rows"]} == expected
    assert len(b"".join(ana.get("/ops/agents.jsonl", {"q": text})).splitlines()) == len(expected)


def test_retry_passes_are_searched_by_outcome_and_actor(ana, alice, bob, auto_retry_on, monkeypatch):
    jobs.retry_pass()
    stale(alice, bob)
    jobs.retry_pass()
    monkeypatch.setattr(retry, "retry_stale", lambda *_: 1 / 0)
    jobs.retry_pass()

    def outcomes(text):
        return [act.event.fields["requeued"] for act in ana.get("/ops/scheduler/", {"q": text}).context["scans"]]

    assert outcomes("outcome:failed,requeued") == [0, 1]
    assert outcomes("outcome:unchanged") == [0]
    assert outcomes("-outcome:failed actor:scheduler@hub source:scheduler since:1h") == [1, 0]
    assert outcomes("actor:user:ana") == []
    assert len(b"".join(ana.get("/ops/scheduler/scans.jsonl", {"q": "outcome:requeued"})).splitlines()) == 1
