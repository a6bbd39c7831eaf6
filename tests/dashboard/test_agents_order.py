"""The list of agents shows trouble first, sorts by its columns, and tells remote agents from others."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agentcards import profiles
from agentcards.models import RemoteCall, RemoteOutage
from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.inspection.statistics import agents, standing
from mailbox.models import ApiKey, Lease
from mailbox.upkeep import rollups
from mailbox.words.envelopes import ResultStatus
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db

NAMES = ("calm", "failing", "idle", "paused", "quiet", "remote", "stale")
ERROR = {"status": ResultStatus.ERROR, "error_message": "no", "content": []}


@pytest.fixture
def troubled(alice):
    """Agents in each kind of trouble, by their names."""
    found = {name: factories.agent(name, "a2a.respond.*") for name in NAMES}
    for caller in found.values():
        factories.grant(alice, f"a2a.send.{caller.name}")
    factories.resolved_task(alice, found["calm"])
    for _ in range(standing.ALL_ERRORS):
        factories.resolved_task(alice, found["failing"], **ERROR)
    factories.resolved_task(alice, found["calm"], **ERROR)
    rollups.roll(timezone.now() + timedelta(minutes=3))
    registration.pause_agent(Caller.command_line(), factories.row_of(found["paused"]), reason="a test", renews=False)
    factories.key_of(found["quiet"])
    ApiKey.objects.update(created_at=timezone.now() - timedelta(hours=1))
    factories.sent_task(alice, found["quiet"])
    factories.leased_task(alice, found["stale"])
    Lease.objects.filter(ended_at=None).update(leased_at=timezone.now() - timedelta(hours=1))
    told = {"card_url": "https://far.example/agents/x/"}
    profiles.update_profile(Caller.command_line(), factories.row_of(found["remote"]), told)
    return found


def listed(browser, sort=""):
    page = browser.get("/ops/agents/", {"sort": sort} if sort else {})
    return [row.agent.local for row in page.context["rows"]]


def test_agents_in_trouble_come_first(ana, troubled):
    RemoteOutage.extend(factories.row_of(troubled["remote"]), "https://far.example/agents/x/", timezone.now())

    page = ana.get("/ops/agents/")

    states = {row.agent.local: row.state for row in page.context["rows"]}
    assert [row.agent.local for row in page.context["rows"]][:5] == ["quiet", "remote", "failing", "stale", "paused"]
    assert states["remote"] == "unreachable"
    assert (states["failing"], states["calm"]) == ("mostly_errors", "leasing")
    assert "Mostly errors" in page.text
    assert 'aria-sort="descending"' in page.text


@pytest.mark.parametrize(
    ("sort", "first"), [("-queued", "quiet"), ("-leased", "stale"), ("-errors", "failing"), ("name", "alice")]
)
def test_each_column_sorts_the_agents(ana, troubled, sort, first):
    assert listed(ana, sort)[0] == first
    assert listed(ana, sort.removeprefix("-"))[-1 if sort != "name" else 0] == first


def test_the_last_call_sorts_agents_and_those_that_never_called_are_last(ana, troubled):
    ApiKey.objects.update(last_used_at=timezone.now())

    assert listed(ana, "-called")[0] == "quiet"
    assert listed(ana, "called")[-1] == "quiet"


def test_the_pages_of_a_sorted_list_have_each_agent_once(ana, monkeypatch, troubled):
    monkeypatch.setattr("dashboard.agents.AgentList.most", 3)
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = ana.get("/ops/agents/", {"sort": "-errors", "cursor": cursor} if cursor else {"sort": "-errors"})
        seen += [row.agent.local for row in page.context["rows"]]
        cursor = page.context["page"].next_cursor

    assert sorted(seen) == sorted({*NAMES, "alice"})
    assert ana.get("/ops/agents/", {"sort": "name", "cursor": "x"}).status_code == 400


def test_too_many_agents_are_listed_by_name(ana, monkeypatch, troubled):
    monkeypatch.setattr(agents, "SORTED_TO", 3)

    assert listed(ana)[:2] == ["alice", "calm"]
    assert "Listed by name" in ana.get("/ops/agents/").text


def test_an_unknown_order_is_refused(ana):
    assert ana.get("/ops/agents/", {"sort": "mood"}).status_code == 400


def test_a_remote_agent_is_shown_as_one(ana, alice, troubled):
    remote, now = factories.row_of(troubled["remote"]), timezone.now()
    lease = factories.leased_task(alice, troubled["remote"])
    RemoteCall.begin(lease, "https://far.example/agents/x/", RemoteCall.Protocol.OFFICIAL)
    listing = squeezed(ana.get("/ops/agents/").text)
    before = squeezed(ana.get("/ops/agents/remote@local/").text)
    RemoteOutage.extend(remote, "https://far.example/agents/x/", now - timedelta(minutes=4))
    after = squeezed(ana.get("/ops/agents/remote@local/").text)

    assert "remote · A2A · <bdi>far.example</bdi>" in listing
    assert "The hub submits its tasks." in before
    assert "<code>https://far.example/agents/x/</code>" in before
    assert "<dt>In flight there</dt> <dd>1</dd>" in before
    assert "Receiving tasks" not in before
    assert "Unreachable" not in before
    assert "Unreachable" in after
    assert "Next attempt" in after


def test_a_remote_url_is_shown_without_its_credentials(ana, alice):
    factories.profile(factories.agent("far"), remote_url="https://user:pa55@far.example/x")

    for text in (ana.get("/ops/agents/").text, ana.get("/ops/agents/far@local/").text):
        assert "far.example" in text
        assert "pa55" not in text


def test_an_agent_with_a_key_that_never_called_is_told_from_one_without(ana, troubled):
    quiet, calm = (squeezed(ana.get(f"/ops/agents/{name}@local/").text) for name in ("quiet", "calm"))

    assert '<strong>never</strong> <span class="s">has an API key</span>' in quiet
    assert "no API key" in calm


def test_an_agent_page_begins_with_the_state_and_ends_with_the_card(ana, alice, troubled):
    text = ana.get("/ops/agents/stale@local/").text
    parts = ['id="pausing"', 'id="state"', 'class="tiles"', 'id="held"', 'id="counterparts"', 'id="card"']

    places = [text.index(part) for part in parts]

    assert places == sorted(places)
    assert '<details class="acting" id="pausing">' in text
    assert "Requeue" in text
    assert "is not encrypted" not in text or "✕ 1 problem" not in text


def test_a_viewer_gets_no_form_to_pause(vic, troubled):
    text = vic.get("/ops/agents/stale@local/").text

    assert 'name="act"' not in text
    assert "Pausing this agent needs capability a2a.agents.pause" in squeezed(text)


def test_the_message_of_a_pause_leads_to_the_resume(ana, troubled):
    form = ana.get("/ops/agents/calm@local/").context["form"]
    sent = {"form_token": form["form_token"].value(), "seen": "", "act": "pause", "reason": "disk full"}

    page = ana.post("/ops/agents/calm@local/", sent, follow=True)

    assert '<a href="/ops/agents/calm@local/#id_reason">Resume</a>' in page.text


def test_counterparts_are_the_latest_and_count_both_directions(alice, bob):
    factories.grant(bob, "a2a.send.*")
    for _ in range(2):
        factories.sent_task(alice, bob)
    factories.sent_task(bob, alice)

    (found,) = agents.counterparts(factories.row_of(bob), most=5)

    assert (found.display, found.sent, found.received) == ("alice@local", 2, 1)
