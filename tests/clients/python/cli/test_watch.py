"""A task is watched without a terminal: lines, JSON, and an exit code for each outcome."""

import pytest

from mailbox.life import updates
from mailbox.words.conversation import Update, UpdateStatus
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_done_task_is_told_and_exits_with_0(a2a, alice, bob):
    result = factories.resolved_task(alice, bob, content=factories.text("two words"))

    watched = a2a("task", "watch", result.task.uuid, by=alice)

    assert (watched.code, watched.err) == (0, "")
    assert watched.out.splitlines() == [f"> {result.task.intent_text}", "two words"]


def test_the_lines_of_json_are_the_hub_s_messages_and_its_result(a2a, alice, bob):
    result = factories.resolved_task(alice, bob, content=factories.text("two words"))

    message, answer = a2a("task", "watch", result.task.uuid, "-o", "jsonl", by=alice).jsonl

    assert (message["seq"], message["role"]) == (1, "user")
    assert answer["result"]["content"] == factories.text("two words")


@pytest.mark.parametrize(
    ("fields", "code", "why"),
    [
        ({"status": "error", "content": (), "error_message": "no ink"}, 3, "error: no ink"),
        ({"status": "rejected", "content": (), "error_message": "not mine"}, 4, "rejected: not mine"),
        ({"status": "partial", "error_message": "half"}, 0, ""),
    ],
)
def test_each_outcome_has_its_exit_code(a2a, alice, bob, fields, code, why):
    result = factories.resolved_task(alice, bob, **fields)

    watched = a2a("task", "watch", result.task.uuid, by=alice)

    assert (watched.code, watched.err.strip()) == (code, f"a2a: {why}" if why else "")


def test_a_cancelled_task_exits_with_5(a2a, alice, bob):
    task = factories.sent_task(alice, bob)
    a2a("task", "cancel", task.uuid, "--reason", "too late", by=alice)

    watched = a2a("task", "watch", task.uuid, by=alice)

    assert (watched.code, watched.err) == (5, "a2a: cancelled by the sender: too late\n")


def test_a_question_exits_with_6_and_says_how_to_answer(a2a, alice, bob):
    task = factories.interrupted_task(alice, bob)

    watched = a2a("task", "watch", task.uuid, by=alice)

    assert watched.code == 6
    assert watched.out.splitlines()[-2:] == ["which one?", "[asks (input)]"]
    assert watched.err == f"a2a: task {task.uuid} asks for input: `a2a task say {task.uuid} TEXT` answers\n"


def test_a_required_authorization_exits_with_7(a2a, alice, bob):
    lease = factories.leased_task(alice, bob)
    question = Update(status=UpdateStatus.AUTH_REQUIRED, message=factories.text("sign in"))
    updates.post_updates(bob, lease.task.uuid, [question], lease_id=lease.lease_id)

    assert a2a("task", "watch", lease.task.uuid, by=alice).code == 7


def test_a_task_at_work_exits_with_8_after_the_timeout(a2a, alice, bob):
    sent = a2a("ask", "bob", "count", "--timeout", "0s", by=alice)

    assert (sent.code, sent.out) == (8, "[queued]\n")
    assert sent.err.endswith("is still at work\n")


def test_an_answered_question_is_not_told_again(a2a, alice, bob):
    task = factories.interrupted_task(alice, bob)
    a2a("task", "say", task.uuid, "the second", by=alice)

    watched = a2a("task", "watch", task.uuid, "--timeout", "0s", by=alice)

    assert watched.code == 8
    assert watched.out.splitlines()[-2:] == ["> the second", "[queued]"]
