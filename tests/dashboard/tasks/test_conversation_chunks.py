"""An artifact of several chunks is the same for each of its readers, also as a copy for a duplicate of its task."""

import json

import pytest

from mailbox import Mailbox
from mailbox.dialects.corvid import handler
from mailbox.dialects.yeoman import tasks as yeoman
from mailbox.life import results
from mailbox.models import PushDelivery, Task
from tests.dashboard.conftest import path_of
from tests.support import factories, talking
from tests.support.api import Api
from tests.support.factories import text

pytestmark = pytest.mark.django_db

WHOLE = "one two"
DETAILS = {"name": "Offers", "description": "A list", "metadata": {"rows": 2}}
SHOWN = {"artifact_id": "report", **DETAILS}


@pytest.fixture(params=["the task itself", "its duplicate"])
def task(request, alice, bob):
    """A resolved task whose artifact was replaced, and then named and completed by a later chunk."""
    work = {
        "idempotency": factories.idempotent("k"),
        "intent_text": "work",
        "callback_url": "https://alice.example/done",
    }
    leader = factories.leased_task(alice, bob, **work).task
    waiter = factories.sent_task(alice, bob, **work)
    talking.made(bob, leader, "old", name="Old", extensions=["https://e.example/gone"])
    talking.made(bob, leader, "log", artifact_id="log")
    talking.made(bob, leader, "one ", name="Draft", description="A list", metadata={"page": 1})
    talking.made(bob, leader, "two", append=True, last_chunk=True, name="Offers", metadata={"rows": 2})
    results.post_result(bob, factories.result_envelope(leader, content=()))
    return Task.objects.get(pk=(leader if request.param == "the task itself" else waiter).pk)


def told(blocks):
    return "".join(block["text"] for block in blocks)


def test_the_artifacts_are_the_same_by_route_in_process_and_in_the_file_of_the_task(ana, alice, task):
    route = Api(alice).get(f"/a2a/tasks/{task.uuid}/artifacts").json()["artifacts"]
    file = json.loads(ana.get(path_of(task, "json")).getvalue())["artifacts"]
    in_process = [
        {"artifact_id": one.artifact_id, "content": one.blocks, "last_chunk": one.is_complete, **one.details}
        for one in Mailbox().artifacts(task.uuid)
    ]

    for log, report in (route, file, in_process):
        is_complete = report["last_chunk"] if "last_chunk" in report else report["is_complete"]
        assert (log["artifact_id"], told(log["content"])) == ("log", "log")
        assert {key: report.get(key) for key in SHOWN} == SHOWN
        assert (told(report["content"]), is_complete, "extensions" in report) == (WHOLE, True, False)


def test_the_page_of_the_task_shows_the_same(ana, task):
    log, report = ana.get(path_of(task)).context["made"].shown

    assert (log.title, [part.text for part in log.parts]) == ("log", ["log"])
    assert (report.title, report.description, [part.text for part in report.parts]) == ("Offers", "A list", [WHOLE])
    assert json.loads(report.details) == {"metadata": DETAILS["metadata"]}
    assert report.artifact.is_complete


def test_the_result_names_the_same(alice, task):
    result = Api(alice).get(f"/a2a/tasks/{task.uuid}/result").json()["result"]

    named = [(one["artifact_id"], one.get("name"), one["last_chunk"]) for one in result["artifacts"]]
    assert named == [("log", None, False), ("report", "Offers", True)]


def test_the_answers_of_other_dialects_and_the_callback_have_the_same_parts(alice, task):
    content = [*text("log"), *text(WHOLE)]

    in_corvid = handler.handle_task_get(alice, task.uuid)

    assert in_corvid is not None
    assert in_corvid["messages"][-1]["parts"] == text(f"log\n{WHOLE}")
    assert yeoman.record(alice, str(task.uuid))["result"] == {"content": content}
    assert json.loads(PushDelivery.objects.get(task_uuid=task.uuid).body)["result"] == {"content": content}
