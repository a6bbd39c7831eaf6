from uuid import uuid4

import pytest

from mailbox.access.callers import Caller
from mailbox.dialects.marianne import inbox
from mailbox.journal.compacted_tasks import RESULT_DELETED
from mailbox.models import Lease, Task
from mailbox.upkeep import compaction
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db
INBOX = "/a2a/inboxes/bob"


@pytest.fixture
def sender(alice):
    return Api(alice)


@pytest.fixture
def owner(bob):
    return Api(bob)


def submit(sender, **fields):
    response = sender.post(f"{INBOX}/tasks", {"description": "review", "source_job_id": "j2", **fields})
    assert response.status_code == 200, response.content
    return response.json()["task"]


def test_a_submitted_task_is_pending_for_owner_and_sender(sender, owner):
    task = submit(sender, context={"a": [1]})

    assert task["status"] == "pending"
    assert task["context"] == {"a": [1]}
    assert owner.get(f"{INBOX}/tasks").json()["tasks"] == [task]
    assert sender.get(f"{INBOX}/tasks/{task['task_id']}").json()["task"] == task


def test_a_repeat_is_answered_with_the_task_as_it_is_now(sender, owner):
    name = str(uuid4())
    first = submit(sender, task_id=name)
    owner.post(f"{INBOX}/tasks/{name}/accept")
    second = submit(sender, task_id=name)
    owner.post(f"{INBOX}/tasks/{name}/complete", {"artifacts": {"r": 1}})
    third = submit(sender, task_id=name)

    assert [one["status"] for one in (first, second, third)] == ["pending", "accepted", "completed"]
    assert [one["artifacts"] for one in (first, second, third)] == [{}, {}, {"r": 1}]


def test_the_owner_accepts_completes_and_fails_tasks(sender, owner):
    first, second = submit(sender), submit(sender)

    accepted = owner.post(f"{INBOX}/tasks/{first['task_id']}/accept")
    completed = owner.post(f"{INBOX}/tasks/{first['task_id']}/complete", {"artifacts": {"r": 1}})
    failed = owner.post(f"{INBOX}/tasks/{second['task_id']}/fail", {"reason": "busy"})

    assert accepted.json()["task"]["status"] == "accepted"
    assert completed.json()["task"]["artifacts"] == {"r": 1}
    assert failed.json()["task"]["failure_reason"] == "busy"
    drained = sender.get("/a2a/results/next").json()["result"]
    assert drained == {"task_id": first["task_id"], "status": "ok", "content": [{"type": "json", "value": {"r": 1}}]}
    assert factories.life_of(Task.objects.get(uuid=second["task_id"]))[-1] == Kind.RESULT_POSTED


@pytest.mark.parametrize("step", ["accept", "complete", "fail"])
def test_only_the_owner_moves_a_task(sender, owner, mallory, step):
    task = submit(sender)
    body = {"reason": "x"} if step == "fail" else {}

    for stranger in (sender, Api(mallory)):
        response = stranger.post(f"{INBOX}/tasks/{task['task_id']}/{step}", body)
        assert response.status_code == 403
        assert response.json()["code"] == "not_your_inbox"
    assert not Lease.objects.exists()


def test_lists_page_and_filter_by_status(sender, owner):
    tasks = [submit(sender) for _ in range(3)]
    owner.post(f"{INBOX}/tasks/{tasks[0]['task_id']}/complete")

    first = owner.get(f"{INBOX}/tasks?status=pending&limit=1").json()
    rest = owner.get(f"{INBOX}/tasks?status=pending&cursor={first['next_cursor']}").json()

    assert [task["task_id"] for task in first["tasks"] + rest["tasks"]] == [task["task_id"] for task in tasks[1:]]
    assert rest["next_cursor"] is None


def test_an_export_goes_on_over_pages(sender, owner, monkeypatch):
    monkeypatch.setattr(inbox, "MOST_IN_EXPORT", 2)
    tasks = [submit(sender)["task_id"] for _ in range(3)]

    first = owner.get(f"{INBOX}/export").json()
    rest = owner.get(f"{INBOX}/export?cursor={first['next_cursor']}").json()

    assert [*first["tasks"], *rest["tasks"]] == tasks
    assert (len(first["tasks"]), rest.get("next_cursor")) == (2, None)


def test_the_context_is_markdown_and_accepts_nothing(sender, owner):
    submit(sender)

    response = owner.get(f"{INBOX}/context")

    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.content.decode().startswith("## A2A Inbox — Pending Tasks\n")
    assert owner.get(f"{INBOX}/tasks?status=pending").json()["tasks"]


def test_a_context_cut_short_gives_the_numbers_of_pending_and_shown_tasks(sender, owner, monkeypatch):
    monkeypatch.setattr(inbox, "MOST_IN_CONTEXT", 2)
    tasks = [submit(sender) for _ in range(3)]

    context = owner.get(f"{INBOX}/context").content.decode()

    assert "\nYou have 3 task(s) from other agents: The first 2 are:\n" in context
    assert [task["task_id"] in context for task in tasks] == [True, True, False]


def test_delegate_lines_outside_fences_become_tasks(bob, alice):
    factories.grant(bob, "a2a.send.alice@local")
    factories.agent("deep-thought")
    text = (
        "I will ask.\n@delegate alice: check the sums\n"
        "```\n@delegate alice: not me\n```\n"
        "and @delegate deep-thought: the answer\n@delegate nobody: hello\n@delegate alice:\n"
    )

    answer = Api(bob).post(f"{INBOX}/delegate", {"text": text}).json()
    delegated = answer["delegated"]

    assert answer["unclosed_fence"] is None
    assert [(one["agent"], one["description"]) for one in delegated] == [
        ("alice", "check the sums"),
        ("deep-thought", "the answer"),
        ("nobody", "hello"),
    ]
    assert delegated[0]["error"] is None
    assert "a2a.send.deep-thought@local" in delegated[1]["error"]
    assert delegated[2]["task_id"] is None
    assert Task.objects.get().intent_text == "check the sums"


@pytest.mark.parametrize(
    ("body", "field"),
    [({}, "description"), ({"description": 3}, "description"), ({"description": "x", "priority": 1}, "priority")],
)
def test_a_bad_task_is_refused_by_field(sender, owner, body, field):
    response = sender.post(f"{INBOX}/tasks", body)

    assert response.status_code == 400
    assert field in response.json()["fields"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("end", "said", "status"),
    [("complete", {"artifacts": {"score": 5}}, "completed"), ("fail", {"reason": "no paper"}, "failed")],
)
def test_repeats_about_a_compacted_task_show_what_they_contain(sender, owner, alice, end, said, status):
    task_id, context = str(uuid4()), {"a": [1]}
    task = submit(sender, task_id=task_id, context=context)
    ended = owner.post(f"{INBOX}/tasks/{task_id}/{end}", said).json()["task"]
    sender.post("/a2a/results/ack", {"task_ids": [task_id]})
    compaction.compact(Caller.command_line(), factories.AT_ONCE)

    sent = sender.post(
        f"{INBOX}/tasks", {"description": "review", "source_job_id": "j2", "task_id": task_id, "context": context}
    )
    again = owner.post(f"{INBOX}/tasks/{task_id}/{end}", said)
    other = owner.post(f"{INBOX}/tasks/{task_id}/fail", {"reason": "another"})

    note = RESULT_DELETED if status == "failed" else None
    assert (sent.status_code, sent.json()["compacted"]) == (200, True)
    assert sent.json()["task"] == {**task, "status": status, "failure_reason": note}
    assert (again.status_code, again.json()["compacted"]) == (200, True)
    assert again.json()["task"] == {**ended, "description": "", "source_job_id": "", "context": {}}
    assert (other.status_code, other.json()["code"]) == (409, "result_conflict")
    assert not Task.objects.exists()
