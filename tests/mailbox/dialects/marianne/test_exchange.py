"""Inboxes exported as JSON and imported: all tasks or no task, by admins and trusted code only."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest

from mailbox.access.callers import Caller, Role
from mailbox.dialects.marianne.inbox import A2AInbox
from mailbox.life import results
from mailbox.models import Agent, Lease, Task
from mailbox.upkeep import compaction
from mailbox.words.errors import InvalidRequestError, TaskConflictError
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.api import Api, error_of

pytestmark = pytest.mark.django_db
INBOX = "/a2a/inboxes/bob"


def kept(**fields):
    return {
        "task_id": str(uuid4()),
        "source_job_id": "j2",
        "source_agent": "forge",
        "target_agent": "bob",
        "description": "old work",
        "context": {},
        "status": "pending",
        "artifacts": {},
        "failure_reason": None,
        **fields,
    }


def export_of(*tasks, agent_name="bob"):
    return {"job_id": "j1", "agent_name": agent_name, "tasks": {task["task_id"]: task for task in tasks}}


@pytest.fixture
def admin():
    return Api(factories.person("ada", Role.ADMIN))


def test_an_inbox_survives_a_round_trip_through_json():
    inbox = A2AInbox("j1", "canyon")
    accepted, done, failed, _ = [inbox.submit_task("j2", "forge", "work", {"a": 1}) for _ in range(4)]
    inbox.mark_accepted(accepted.task_id)
    inbox.complete_task(done.task_id, {"out": [1]})
    inbox.fail_task(failed.task_id, "why")
    data = json.loads(json.dumps(inbox.to_dict()))

    assert A2AInbox.from_dict(data).to_dict() == data


def test_tasks_that_the_hub_does_not_know_are_imported_with_their_status():
    tasks = [
        kept(),
        kept(status="accepted"),
        kept(status="completed", artifacts={"a": 1}),
        kept(status="failed", failure_reason="why"),
        kept(status="failed"),
    ]
    data = export_of(*tasks)

    restored = A2AInbox.from_dict({**data, "unknown": 1})

    assert restored.to_dict() == data
    assert Lease.objects.live().count() == 1
    assert factories.life_of(Task.objects.get(uuid=tasks[2]["task_id"])) == [
        *(Kind.TASK_SENT, Kind.TASK_LEASED, Kind.RESULT_POSTED)
    ]
    assert len(results.drain_results(Caller.local(Agent.objects.get(display="forge@local")), limit=10)) == 3


@pytest.mark.parametrize("missing", ["job_id", "agent_name"])
def test_an_export_without_a_job_or_a_name_is_a_key_error(missing):
    data = export_of()
    del data[missing]

    with pytest.raises(KeyError):
        A2AInbox.from_dict(data)


@pytest.mark.parametrize(
    "bad",
    [
        {"task_id": "t2"},
        {"target_agent": "alice"},
        {"description": " "},
        {"description": "a\x00b"},
        {"source_agent": ""},
        {"source_agent": "a\x00"},
        {"source_agent": "\ud800"},
        {"source_agent": "\u5ba1" * 100},
        {"context": {"a": "\ud800"}},
        {"status": "completed", "artifacts": {"a": "\x00"}},
    ],
    ids=repr,
)
def test_one_bad_task_keeps_all_tasks_out(bad):
    with pytest.raises(InvalidRequestError):
        A2AInbox.from_dict(export_of(kept(), kept(**bad)))

    assert not Task.objects.exists()
    assert not Agent.objects.exists()


def test_a_task_of_another_inbox_keeps_all_tasks_out(alice, bob, mallory):
    taken = factories.sent_task(alice, mallory)

    with pytest.raises(TaskConflictError):
        A2AInbox.from_dict(export_of(kept(), kept(task_id=str(taken.uuid))))

    assert Task.objects.get() == taken
    assert not Agent.objects.filter(local="forge").exists()


def test_a_task_that_the_hub_knows_stays_as_it_is_and_is_counted(bob, admin):
    known, fresh = kept(), kept()
    admin.post(f"{INBOX}/import", export_of(known))

    answer = admin.post(f"{INBOX}/import", export_of({**known, "status": "completed"}, fresh)).json()

    assert (answer["imported"], answer["skipped"], answer["task_count"], answer["pending_count"]) == (1, 1, 2, 2)


def test_a_compacted_task_does_not_come_back(bob, admin):
    finished = kept(status="completed")
    admin.post(f"{INBOX}/import", export_of(finished))
    sender = Caller.local(Agent.objects.get(local="forge"))
    results.drain_results(sender, ack=[])
    results.ack_results(sender, [Task.objects.get().uuid])
    compaction.compact(Caller.local(), compaction.Retention(acked=timedelta(0), delivered=timedelta(0)))
    assert not Task.objects.exists()

    answer = admin.post(f"{INBOX}/import", export_of(finished)).json()

    assert (answer["imported"], answer["skipped"]) == (0, 1)


def test_only_admins_can_import_an_inbox(alice, bob, olga, admin):
    factories.grant(bob, "a2a.agents.register")
    forged = export_of(kept(source_agent="alice", status="completed", artifacts={"forged": True}))

    for caller in (bob, alice, olga):
        refused = Api(caller).post(f"{INBOX}/import", forged)
        assert error_of(refused) == (403, "capability_missing")
        assert "group" in refused.json()["message"]
    assert results.drain_results(alice) == []

    assert admin.post(f"{INBOX}/import", forged).json()["imported"] == 1
    sent = factories.journal(Kind.TASK_SENT)[-1]
    assert (sent.actor, sent.fields["imported"]) == ("user:ada", True)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (export_of(agent_name="alice"), "agent_name"),
        (export_of(kept(task_id="t1", target_agent="carol")), "tasks.t1.target_agent"),
    ],
)
def test_an_export_of_another_inbox_is_refused(bob, admin, data, field):
    response = admin.post(f"{INBOX}/import", data)

    assert error_of(response) == (400, "invalid_request")
    assert field in response.json()["fields"]


def test_an_export_under_the_full_name_of_the_agent_is_imported(bob, admin):
    data = export_of(kept(target_agent="bob@local"), agent_name="bob@local")

    assert admin.post(f"{INBOX}/import", data).json()["imported"] == 1
