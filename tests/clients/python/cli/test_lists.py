"""Each command that lists: a table, and the hub's JSON."""

import httpx
import pytest

from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def life(alice, bob):
    """Fill the hub with a resolved, a leased and a queued task, and with access."""
    factories.resolved_task(alice, bob)
    lease = factories.leased_task(alice, bob, intent_text="leased")
    factories.sent_task(alice, bob, intent_text="queued\x1b[31m")
    factories.route(bob)
    factories.PushDeliveryFactory.create(sender=factories.row_of(alice))
    return lease


LISTS = [
    (("task", "list"), "/a2a/tasks", "entries"),
    (("task", "list", "--state", "queued"), "/a2a/queue?state_filter=queued", "tasks"),
    (("lease", "list"), "/a2a/queue?state_filter=in_flight", "tasks"),
    (("result", "list"), "/a2a/results/recent", "results"),
    (("agent", "list"), "/a2a/agents", "agents"),
    (("grant", "list"), "/capabilities/recent", "capabilities"),
    (("person", "list"), "/a2a/people", "people"),
    (("route", "list"), "/a2a/routes", "routes"),
    (("delivery", "list"), "/a2a/deliveries", "deliveries"),
]


@pytest.mark.parametrize(("words", "route", "key"), LISTS, ids=[" ".join(words) for words, *_ in LISTS])
def test_a_list_is_a_table_of_the_answer_or_the_answer_itself(a2a, ada, life, words, route, key):
    headers = {"Authorization": f"Bearer {factories.key_of(ada)}"}
    answer = httpx.get(httpx.URL(a2a.url + route).copy_merge_params({"limit": 50}), headers=headers).json()

    table, whole, lines = (a2a(*words, "-o", form, by=ada) for form in ("table", "json", "jsonl"))

    assert len(table.out.splitlines()) == 1 + len(answer[key])
    assert answer[key], "the list is empty"
    assert whole.json == answer
    assert lines.jsonl == answer[key]
    assert {table.code, whole.code, lines.code} == {0}


def test_keys_are_listed_without_secrets(a2a, ada):
    shown = a2a("key", "list", by=ada)

    assert shown.rows[0] == ["KEY", "OWNER", "STATE", "USED", "AGE", "EXPIRES", "MADE BY"]
    assert shown.rows[1][1:3] == ["ada (person)", "live"]


def test_the_audit_shows_the_newest_row_last(a2a, ada, life):
    table, lines = a2a("audit", "-n", 3, by=ada), a2a("audit", "-n", 3, "-o", "jsonl", by=ada)

    assert table.rows[0] == ["TIME", "KIND", "ACTOR", "TASK", "SOURCE", "DATA"]
    assert [row[1] for row in table.rows[1:]] == [event["kind"] for event in lines.jsonl]
    assert [event["id"] for event in lines.jsonl] == sorted(event["id"] for event in lines.jsonl)


def test_the_audit_in_json_is_the_answer(a2a, ada, life):
    events = a2a("audit", "-n", 3, "-o", "json", by=ada).json["events"]

    assert [event["id"] for event in events] == sorted((event["id"] for event in events), reverse=True)


def test_an_agent_lists_the_leases_that_it_holds(a2a, bob, life):
    table, whole = a2a("lease", "list", "--mine", by=bob), a2a("lease", "list", "--mine", "-o", "json", by=bob)

    assert table.rows[1][:2] == [str(life.task.uuid), str(life.lease_id)]
    assert [lease["lease_id"] for lease in whole.json["leases"]] == [str(life.lease_id)]


def test_a_list_follows_the_pages_up_to_its_limit(a2a, alice, bob):
    tasks = [factories.sent_task(alice, bob) for _ in range(103)]

    entries = a2a("task", "list", "-n", 102, "-o", "json", by=alice).json

    assert [entry["task"]["id"] for entry in entries["entries"]] == [str(task.uuid) for task in tasks[:0:-1]]
    assert entries["next_cursor"] is not None


def test_a_list_says_that_there_is_more(a2a, alice, bob):
    factories.sent_task(alice, bob)
    factories.sent_task(alice, bob)

    assert a2a("task", "list", "-n", 1, by=alice).err == "There are more than 1: --limit shows more.\n"


def test_an_empty_list_says_so_on_stderr(a2a, alice):
    shown = a2a("task", "list", by=alice)

    assert (shown.out, shown.err, shown.code) == ("", "No tasks.\n", 0)


def test_a_stranger_s_text_moves_no_cursor(a2a, alice, life):
    shown = a2a("task", "list", by=alice)

    assert "\x1b" not in shown.out
    assert "queued\\x1b[31m" in shown.out


def test_no_answer_has_colours_without_a_terminal(a2a, ada, life):
    assert "\x1b" not in a2a("task", "list", by=ada).out
