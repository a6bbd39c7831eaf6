"""The command line at a terminal: what is typed, what moves, and what fits."""

import pytest

from mailbox.life import leasing, results, updates
from mailbox.models import Message, Task
from mailbox.words.conversation import Update, UpdateStatus
from tests.support import factories
from tests.support.hub import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_login_asks_for_the_url_and_for_a_key_that_it_does_not_show(a2a, alice):
    key = factories.key_of(alice)

    with a2a.at_a_terminal("login", "--name", "home") as terminal:
        terminal.await_text("URL of the hub [http://127.0.0.1:3000]:")
        terminal.type(a2a.url)
        terminal.await_text("API key: ")  # its last space comes once what is typed is hidden
        terminal.type(key)
        assert terminal.code() == 0

    assert "as agent alice@local. The context is home" in " ".join(terminal.shown.split())
    assert key not in terminal.shown
    assert key in a2a.config.read_text()


def test_a_watched_task_shows_its_state_its_messages_and_its_result(a2a, alice, bob):
    lease = factories.leased_task(alice, bob, intent_text="count")
    task_id = lease.task.uuid

    with a2a.at_a_terminal("task", "watch", task_id, by=alice) as terminal:
        terminal.await_text("in flight")
        said = [Update(progress=0.4, note="reading"), Update(message=factories.text("so far"))]
        updates.post_updates(bob, task_id, said, lease_id=lease.lease_id)
        terminal.await_text("so far")
        answer = factories.result_envelope(lease.task, content=factories.text("two words"), lease_id=lease.lease_id)
        results.post_result(bob, answer)
        assert terminal.code() == 0

    assert "> count" in terminal.shown
    assert "40% reading" in terminal.shown
    assert terminal.shown.rstrip().endswith("two words")


def test_a_question_is_answered_at_the_terminal(a2a, alice, bob):
    with a2a.at_a_terminal("ask", "bob", "paint", by=alice) as terminal:
        terminal.await_text("queued")
        (lease,) = leasing.lease_tasks(bob)
        question = Update(status=UpdateStatus.INPUT_REQUIRED, message=factories.text("which one?"))
        updates.post_updates(bob, lease.task.uuid, [question], lease_id=lease.lease_id)
        terminal.await_text("which one?")
        terminal.type("the second")
        wait_until(lambda: Task.objects.get().state == "queued")
        (again,) = leasing.lease_tasks(bob)
        *_, newest = Message.objects.filter(task=again.task).in_order()
        painted = factories.text(f"painted {newest.blocks[0]['text']}")
        results.post_result(bob, factories.result_envelope(again.task, content=painted, lease_id=again.lease_id))
        assert terminal.code() == 0

    assert terminal.shown.rstrip().endswith("painted the second")


def test_ctrl_c_ends_a_watch_quietly(a2a, alice, bob):
    task = factories.sent_task(alice, bob)

    with a2a.at_a_terminal("task", "watch", task.uuid, by=alice) as terminal:
        terminal.await_text("queued")
        terminal.interrupt()
        assert terminal.code() == 130

    assert "Traceback" not in terminal.shown


@pytest.mark.parametrize("columns", [30, 80, 200])
def test_a_table_fits_the_terminal(a2a, alice, bob, columns):
    task = factories.sent_task(alice, bob, intent_text="count the words of this long text, " * 9)

    with a2a.at_a_terminal("task", "list", by=alice, columns=columns) as terminal:
        assert terminal.code() == 0

    lines = terminal.shown.splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= columns
    assert lines[1].split()[:2] == [str(task.uuid)[:8], "queued"]
    assert ("TEXT" in lines[0]) == (columns > 30)


def test_states_have_colours_at_a_terminal_and_none_with_no_color(a2a, alice, bob):
    factories.sent_task(alice, bob)

    with a2a.at_a_terminal("task", "list", by=alice) as coloured:
        coloured.code()
    with a2a.at_a_terminal("task", "list", by=alice, NO_COLOR="1") as plain:
        plain.code()

    assert "\x1b[36mqueued" in coloured.raw
    assert "\x1b[36m" not in plain.raw
