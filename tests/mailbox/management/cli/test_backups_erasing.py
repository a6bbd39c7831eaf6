import pytest
from django.core.management.base import CommandError

from mailbox.models import Task
from tests.support import factories


def test_a_finished_task_is_erased(a2a_json, a2a, alice, bob):
    task = factories.resolved_task(alice, bob).task

    shown = a2a_json("erase", "--task", task.uuid, "--reason", "their wish", "--json")

    assert shown["kind"] == "a2a_erasure"
    assert shown["erased"]["tasks"] == 1
    assert Task.objects.get().intent_text.startswith("[erased")
    assert a2a("erase", "--task", task.uuid, "--reason", "their wish").strip() == "nothing was left to erase"


def test_the_tasks_of_an_agent_are_erased(a2a, alice, bob):
    factories.resolved_task(alice, bob)

    assert a2a("erase", "--agent", "alice", "--reason", "their wish").startswith("erased ")
    assert Task.objects.get().intent_text.startswith("[erased")


def test_a_task_that_is_not_finished_stays(a2a, alice, bob):
    task = factories.sent_task(alice, bob)

    with pytest.raises(CommandError, match="finished"):
        a2a("erase", "--task", task.uuid, "--reason", "their wish")
    assert Task.objects.get().intent_text == task.intent_text
