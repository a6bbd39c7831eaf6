from uuid import UUID, uuid4

import pytest

from mailbox.models import Task
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_task_is_sent_and_its_id_is_printed(a2a, alice, bob):
    sent = a2a("task", "send", "bob", "count the words", "--kind", "count", "--key", "k1", "--deadline", "1h", by=alice)

    task = Task.objects.get(uuid=sent.out.strip())
    assert (task.intent_text, task.task_kind, task.idempotency_key) == ("count the words", "count", "k1")
    assert task.deadline_ms is not None


def test_the_json_of_a_send_is_the_answer(a2a, alice, bob):
    chosen = uuid4()

    sent = a2a("task", "send", "bob", "-", "--id", chosen, "-o", "json", by=alice, typed="from stdin")

    assert sent.json == {"kind": "a2a_task_queued", "task_id": str(chosen)}
    assert Task.objects.get().intent_text == "from stdin"


def test_a_task_is_shown_with_its_result(a2a, alice, bob):
    result = factories.resolved_task(alice, bob, content=factories.text("two words"))

    shown = a2a("task", "show", result.task.uuid, by=alice)

    names = {row[0]: row[1] for row in shown.rows}
    assert names["state"] == "ok"
    assert names["to"] == "bob@local"
    assert names["result"] == "two words"


def test_a_task_is_found_by_the_first_characters_of_its_id(a2a, alice, bob):
    task = factories.sent_task(alice, bob)

    assert a2a("task", "show", str(task.uuid)[:6], "-o", "json", by=alice).json["entry"]["task"]["id"] == str(task.uuid)


def test_characters_of_two_ids_choose_neither(a2a, alice, bob):
    for last in "12":
        factories.sent_task(alice, bob, id=UUID(f"abcdef00-0000-4000-8000-00000000000{last}"))

    refused = a2a("task", "cancel", "abcd", by=alice)

    assert refused.code == 1
    assert refused.err.startswith('a2a: "abcd" is the beginning of 2 ids: abcdef00-')
    assert Task.objects.filter(state="queued").count() == 2


def test_a_task_is_found_by_the_first_characters_of_its_id_however_many_are_newer(a2a, alice, bob):
    wanted = factories.sent_task(alice, bob, id=UUID("abcdef00-0000-4000-8000-000000000001"))
    now = wanted.sent_at
    Task.objects.bulk_create(
        Task(
            uuid=uuid4(), sender=wanted.sender, recipient=wanted.recipient, intent_text="x", sent_at=now, queued_at=now
        )
        for _ in range(1001)
    )

    assert a2a("task", "show", "abcdef00-0000", by=alice).rows[0] == ["task", str(wanted.uuid)]


def test_a_refusal_lists_no_more_than_a_few_ids(a2a, alice, bob):
    for last in "123456":
        factories.sent_task(alice, bob, id=UUID(f"abcdef00-0000-4000-8000-00000000000{last}"))

    refused = a2a("task", "cancel", "abcd", by=alice).err

    assert refused.startswith('a2a: "abcd" is the beginning of more than 5 ids: ')
    assert refused.count("abcdef00-") == 5


def test_characters_of_no_id_are_refused(a2a, alice):
    refused = a2a("task", "show", "abcd", by=alice)

    assert refused.err == 'a2a: no task that this key may see has an id that begins with "abcd"\n'


def test_a_tree_is_shown_below_its_root(a2a, alice, bob):
    root = factories.sent_task(alice, bob)
    child = factories.sent_task(alice, bob, parent=root.uuid)

    shown = a2a("task", "tree", root.uuid, by=alice)

    assert [row[0] for row in shown.rows[1:]] == [str(root.uuid), str(child.uuid)]
    assert [row[2] for row in shown.rows[1:]] == ["bob@local", "· bob@local"]
    assert len(a2a("task", "tree", root.uuid, "-o", "json", by=alice).json["nodes"]) == 2


def test_the_timeline_and_the_messages_are_shown(a2a, alice, bob):
    task = factories.interrupted_task(alice, bob)

    timeline, messages = (a2a("task", noun, task.uuid, by=alice) for noun in ("timeline", "messages"))

    assert [row[1] for row in timeline.rows[1:]][:2] == ["a2a_task_sent", "a2a_task_leased"]
    assert messages.rows[2][2:] == ["agent", "which one?"]
    assert len(a2a("task", "messages", task.uuid, "-o", "jsonl", by=alice).jsonl) == 2
    assert a2a("task", "timeline", task.uuid, "-o", "json", by=alice).json["events"][0]["kind"] == "a2a_task_sent"


def test_the_sender_says_something_and_cancels(a2a, alice, bob):
    task = factories.interrupted_task(alice, bob)

    said = a2a("task", "say", task.uuid, "the second", by=alice)
    cancelled = a2a("task", "cancel", task.uuid, "--reason", "too late", by=alice)

    assert said.out == f"sent to the agent of task {task.uuid}\n"
    assert cancelled.out == f"cancelled task {task.uuid}\n"
    assert factories.journal("a2a_task_cancelled")


def test_an_operator_requeues_a_leased_task(a2a, alice, bob, ada):
    lease = factories.leased_task(alice, bob)

    words = ("task", "requeue", lease.task.uuid, "--reason", "bob is off", "--duplicate-risk", "operator_accepted")
    done = a2a(*words, "--lease-id", lease.lease_id, "-o", "json", by=ada)

    assert done.json["outcome"]["state"] == "queued"
    assert factories.journal("a2a_repair_applied")


def test_an_operator_fails_a_leased_task(a2a, alice, bob, ada):
    lease = factories.leased_task(alice, bob)

    done = a2a("task", "fail", lease.task.uuid, "--message", "no ink", "--reason", "bob is off", by=ada)

    assert done.out == f"task {lease.task.uuid} is result pending\n"
    assert a2a("result", "show", lease.task.uuid, by=alice).rows[2] == ["error", "no ink"]


def test_a_holder_releases_its_task(a2a, alice, bob):
    lease = factories.leased_task(alice, bob)

    assert a2a("task", "release", lease.task.uuid, "--reason", "lunch", by=bob).code == 0
    assert Task.objects.get().state == "queued"


def test_stale_leases_are_requeued_only_when_that_is_asked_for(a2a, alice, bob, ada):
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent())
    words = ("task", "retry-stale", "--min-lease-age", "0s")

    dry = a2a(*words, by=ada)
    state = Task.objects.get().state
    applied = a2a(*words, "--apply", by=ada)

    assert dry.out.splitlines() == [
        f"would requeue {lease.task.uuid}",
        "Dry run: nothing was changed. --apply requeues.",
    ]
    assert (state, Task.objects.get().state) == ("in_flight", "queued")
    assert applied.out == f"requeued {lease.task.uuid}\n"


def test_a_result_is_received_once_and_acknowledged(a2a, alice, bob):
    task = factories.resolved_task(alice, bob, content=factories.text("two")).task

    received = a2a("result", "next", by=alice)
    again = a2a("result", "next", "--ack", task.uuid, by=alice)

    assert received.rows == [["task", str(task.uuid)], ["status", "ok"], ["result", "two"]]
    assert (again.code, again.err) == (1, "a2a: no result waits\n")
    assert a2a("result", "list", "--delivered", by=alice).err == "No results.\n"


def test_the_json_of_no_result_is_the_answer_and_the_exit_code_that_of_the_table(a2a, alice, bob):
    task = factories.sent_task(alice, bob)

    none, nothing = (
        a2a("result", "next", "-o", "json", by=alice),
        a2a("result", "show", task.uuid, "-o", "json", by=bob),
    )

    assert (none.code, none.json["results"], none.err) == (1, [], "a2a: no result waits\n")
    assert (nothing.code, nothing.json["result"]) == (1, None)
    assert nothing.err == f"a2a: task {task.uuid} has no result yet\n"


@pytest.mark.parametrize("deadline_ms", [2**63 - 1, 10**15])
def test_a_task_with_a_far_deadline_is_shown_with_its_distance(a2a, alice, bob, deadline_ms):
    task = factories.sent_task(alice, bob)
    Task.objects.update(deadline_ms=deadline_ms)

    shown = a2a("task", "show", task.uuid, by=alice)

    assert dict(shown.rows)["deadline"].startswith("in ")


@pytest.mark.parametrize("time", ["999999999999d", "9" * 400 + "d", "2999999d", "0001-01-01T00:00"])
def test_a_deadline_that_no_calendar_has_is_wrong_usage(a2a, alice, time):
    refused = a2a("task", "send", "bob", "x", "--deadline", time, by=alice)

    assert refused.code == 2
    assert "Invalid value for --deadline" in refused.err
