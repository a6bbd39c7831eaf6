import re
from datetime import timedelta
from html import unescape

import pytest
import time_machine
from django.utils import timezone

from mailbox.access.agents import peers
from mailbox.access.credentials import authentication, keys
from mailbox.models import ApiKey, AuditEvent, PairStock, Peer, SenderStock, SigningKey
from mailbox.upkeep import rollups
from mailbox.words import tokens
from mailbox.words.envelopes import ResultStatus
from tests.support import factories
from tests.support.chance import MOMENT
from tests.support.markup import squeezed
from tests.support.signing import Signer

pytestmark = pytest.mark.django_db

BOB = "/ops/agents/bob@local/"
HOSTILE = "<img src=x onerror=alert(1)> \u202eodd"


@pytest.mark.parametrize("has_rollups", [False, True])
def test_an_agent_page_shows_its_work_and_results(ana, alice, bob, has_rollups):
    for _ in range(3):
        factories.resolved_task(alice, bob)
    factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message="no", content=[])
    if has_rollups:
        rollups.roll(timezone.now() + timedelta(minutes=3))
    factories.leased_task(alice, bob)
    factories.sent_task(alice, bob)

    shown = ana.get(BOB).context

    row = shown["row"]
    assert (row.agent.queued, row.agent.leased, len(shown["held"])) == (1, 1, 1)
    assert (row.hour.results, row.hour.error, row.error_share) == (4, 1, 25)
    assert row.hour.p50 is not None
    assert (shown["totals"].ok, shown["totals"].error) == (3, 1)
    assert ana.get("/ops/agents/alice@local/").context["row"].hour.results == 0


def test_the_list_of_agents_shows_the_same_numbers(ana, alice, bob):
    factories.resolved_task(alice, bob)
    factories.sent_task(alice, bob)

    rows = {row.agent.display: row for row in ana.get("/ops/agents/").context["rows"]}

    assert (rows["bob@local"].agent.queued, rows["bob@local"].hour.results) == (1, 1)
    assert (rows["alice@local"].agent.queued, rows["alice@local"].hour.results) == (0, 0)


def test_a_backlog_is_counted_only_up_to_a_limit(ana, alice, bob, monkeypatch):
    monkeypatch.setattr("mailbox.inspection.statistics.backlogs.COUNTED_TO", 2)
    for _ in range(5):
        factories.sent_task(alice, bob)

    assert "2+" in ana.get("/ops/agents/").text


def test_waiting_duplicates_count_as_backlog(ana, alice, bob):
    for _ in range(3):
        factories.sent_task(alice, bob, idempotency=factories.idempotent("same"))

    assert ana.get(BOB).context["row"].agent.queued == 3
    assert len(ana.get("/ops/tasks/?q=to:bob@local&state=queued").context["page"].items) == 3


def test_a_bar_of_an_agents_chart_links_to_its_own_tasks(ana, alice, bob):
    factories.grant(bob, "a2a.send.*")
    factories.grant(alice, "a2a.respond.*")
    factories.resolved_task(alice, bob)
    factories.resolved_task(bob, alice)
    page = ana.get(BOB)
    (hit,) = page.context["links"]
    link = f"/ops/tasks/?q=to:bob@local&{hit.query}"

    assert link in unescape(page.text)
    (task,) = ana.get(link).context["page"].items
    assert task.recipient == factories.row_of(bob)


def test_the_last_call_of_an_agent_is_the_latest_use_of_any_key(ana, alice, bob):
    assert ana.get(BOB).context["agent"].last_called_at() is None
    now = timezone.now()
    for minutes in (50, 3):
        factories.key_of(bob)
        ApiKey.objects.filter(last_used_at=None).update(last_used_at=now - timedelta(minutes=minutes))
    factories.key_of(bob)

    assert ana.get(BOB).context["agent"].last_called_at() == now - timedelta(minutes=3)


def test_an_agent_page_shows_the_card_and_its_failed_checks(ana, bob):
    factories.profile(bob, tool_permissions=[HOSTILE], name=HOSTILE)

    page = ana.get(BOB)

    problems = {check.words: check.problem for check in page.context["checks"] if not check.passed}
    assert "Description" in problems
    assert HOSTILE in problems["All allowed tools are registered"]
    assert HOSTILE in page.context["card"]
    assert "<img" not in page.text


def test_an_agent_page_shows_the_status_of_each_peer(ana, bob):
    for name in ("fresh", "stale", "gone"):
        peers.announced(bob, name, name=f"{name} {HOSTILE}", url="https://x.example", capabilities="[]")
    Peer.objects.filter(peer_id="stale").update(last_seen_at=timezone.now() - timedelta(seconds=45))
    peers.left(bob, "gone")

    page = ana.get(BOB)

    assert {peer.peer_id: str(status) for peer, status in page.context["peers"]} == {
        "fresh": "online",
        "stale": "suspect",
        "gone": "offline",
    }
    assert "<img" not in page.text


def test_an_agent_page_and_its_refresh_need_few_queries(ana, alice, bob, django_assert_max_num_queries):
    factories.resolved_task(alice, bob)

    with django_assert_max_num_queries(36):
        ana.get(BOB)
    with django_assert_max_num_queries(22):
        ana.get(BOB, headers={"HX-Request": "true"})


@time_machine.travel(MOMENT, tick=False)  # the charts change with the minute
def test_an_unchanged_agent_page_is_not_sent_again(ana, alice, bob):
    factories.resolved_task(alice, bob)
    look = {"HX-Request": "true"}
    version = ana.get(BOB, headers=look).context["version"]

    assert ana.get(BOB, headers={**look, "X-Seen": version}).status_code == 204
    factories.sent_task(alice, bob)
    assert ana.get(BOB, headers={**look, "X-Seen": version}).status_code == 200


def test_the_page_of_an_agent_lists_its_live_keys(vic, alice):
    now = timezone.now()
    due = factories.key_of(alice, created_at=now - timedelta(days=300), expires_at=now + timedelta(days=9))
    gone = factories.key_of(alice, revoked_at=now)

    text = vic.get("/ops/agents/alice@local/").text

    assert str(tokens.public_id(due)) in text
    assert "Expires soon" in text
    assert str(tokens.public_id(gone)) not in text
    assert due not in text


def test_the_page_of_an_agent_without_a_key_says_how_to_add_one(vic, alice):
    assert "a2a key make --agent alice@local" in vic.get("/ops/agents/alice@local/").text


def test_the_page_of_an_agent_shows_the_key_that_signs_its_requests(vic, alice):
    signer = Signer(alice)

    shown = vic.get("/ops/agents/alice@local/").text
    SigningKey.objects.update(retired_at=timezone.now())
    after = vic.get("/ops/agents/alice@local/").text

    assert signer.pubkey in shown
    assert "manage.py a2a agents retire-key alice@local" in shown
    assert signer.pubkey not in after


@pytest.mark.django_db
def test_a_page_shows_how_much_of_each_quota_its_agent_uses(ana, alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = 4
    SenderStock.objects.create(agent=factories.row_of(alice), max_callbacks=7)
    PairStock.objects.create(sender=factories.row_of(alice), recipient=factories.row_of(bob), max_queued=2)
    factories.sent_task(alice, bob)

    html = ana.get("/ops/agents/alice@local/").content.decode()

    panel = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.partition('id="quotas"')[2].partition("</section>")[0]))
    assert "Queued tasks it sent 25 % 1 4 default" in panel
    assert "Pending callbacks 0 % 0 7 agent" in panel
    assert "Queued tasks for bob@local 50 % 1 2 agent" in panel
    assert ana.get("/ops/agents/?q=alice").context["rows"][0].used == 25


def test_the_page_of_an_agent_marks_a_key_that_was_replaced(vic, alice):
    old = factories.key_of(alice)
    keys.rotate_key(authentication.authenticate(old, source=AuditEvent.Source.API))

    text = vic.get("/ops/agents/alice@local/").text

    assert f"replaces a2a_{tokens.public_id(old)}_…" in text
    assert text.count("Replaced") == 1
    assert "Expires soon" not in text


def test_an_agents_page_counts_its_open_questions_and_those_it_must_answer(ana, alice, bob):
    factories.interrupted_task(alice, bob)

    asking, asked = (ana.get(f"/ops/agents/{name}@local/") for name in ("bob", "alice"))

    assert (asking.context["agent"].asks, asking.context["agent"].is_asked) == (1, 0)
    assert (asked.context["agent"].asks, asked.context["agent"].is_asked) == (0, 1)
    assert '1</strong> <span class="s"> longest' in squeezed(asking.text)
    assert ">1 waiting for its answer</a>" in squeezed(asked.text)
    for page, party in ((asking, "to:bob"), (asked, "from:alice")):
        assert f"?q={party}%40local&amp;state=interrupted" in page.text
        assert len(ana.get(f"/ops/tasks/?q={party}@local&state=interrupted").context["page"].items) == 1
