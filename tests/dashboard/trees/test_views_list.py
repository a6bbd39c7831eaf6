import uuid
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.life import leasing, results
from mailbox.words.envelopes import ResultStatus
from tests.support import factories

pytestmark = pytest.mark.django_db


def shown(browser, query=""):
    page = browser.get(f"/ops/trees/{query}")
    return [one["tree"].root for one in page.context["trees"]]


def tree(sender, recipient, **fields):
    """Return a root with one child."""
    root = factories.sent_task(sender, recipient, **fields)
    factories.sent_task(sender, recipient, parent=root.uuid)
    return root


def test_the_list_shows_size_states_times_and_the_parties(vic, alice, bob):
    root = tree(alice, bob, intent_text="plan the trip")

    page = vic.get("/ops/trees/")
    (one,) = page.context["trees"]

    assert (one["size"], one["ended"]) == (2, None)
    assert [(part.state, part.count, part.width) for part in one["mix"]] == [("queued", 2, 100)]
    assert f'href="/ops/trees/{root.uuid}/"' in page.text
    assert "plan the trip" in page.text
    assert "alice@local" in page.text


def test_trees_are_filtered_by_state_agent_and_time(vic, alice, bob):
    with time_machine.travel(timezone.now() - timedelta(hours=2), tick=False):
        failed = tree(alice, bob)
        lease = leasing.lease_task(bob, failed.uuid)
        no = {"status": ResultStatus.ERROR, "error_message": "no", "content": []}
        results.post_result(bob, factories.result_envelope(failed, lease_id=lease.lease_id, **no))
    good = tree(alice, bob)

    assert shown(vic) == [good.uuid, failed.uuid]
    assert shown(vic, "?state=failed") == [failed.uuid]
    assert shown(vic, "?state=open") == [good.uuid, failed.uuid]
    assert shown(vic, "?state=ended") == shown(vic, "?state=stale") == shown(vic, "?agent=carol") == []
    assert shown(vic, "?agent=ALI") == [good.uuid, failed.uuid]
    assert shown(vic, "?since=1h") == [good.uuid]


def test_the_pages_of_the_list_follow_each_other(vic, alice, bob, monkeypatch):
    monkeypatch.setattr("dashboard.trees.views.ROWS", 2)
    roots = [tree(alice, bob).uuid for _ in range(3)]

    first = vic.get("/ops/trees/?agent=alice")
    second = vic.get(f"/ops/trees/{first.context['next']}")

    assert [one["tree"].root for one in first.context["trees"]] == [roots[2], roots[1]]
    assert [one["tree"].root for one in second.context["trees"]] == [roots[0]]
    assert (second.context["first"], second.context["next"]) == ("?agent=alice", "")


def test_a_removed_root_is_named_as_such(vic, alice, bob):
    factories.sent_task(alice, bob, parent=uuid.UUID(int=7))

    assert "Removed task" in vic.get("/ops/trees/").text


@pytest.mark.parametrize("query", ["?state=junk", "?since=2y"])
def test_an_unknown_choice_is_refused(vic, query):
    assert vic.get(f"/ops/trees/{query}").status_code == 400


@pytest.mark.parametrize(
    "query", ["?cursor=x", "?cursor=-1", "?cursor=9999999999999999999999", "?state=&since=&agent="]
)
def test_an_invalid_cursor_shows_the_newest_trees(vic, alice, bob, query):
    root = tree(alice, bob)

    assert shown(vic, query) == [root.uuid]


def test_an_empty_list_says_what_makes_a_tree(vic):
    assert "Tasks that name a parent task appear here" in vic.get("/ops/trees/").text
    assert "No matching trees" in vic.get("/ops/trees/?state=open").text
