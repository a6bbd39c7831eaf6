"""A task of another dialect, as the inbox of its recipient shows it."""

import pytest

from mailbox.dialects.marianne.inbox import A2AInbox
from tests.support import factories, yeoman
from tests.support.api import Api

pytestmark = pytest.mark.django_db
INBOX = "/a2a/inboxes/bob"


@pytest.mark.parametrize("context", ["prev step output", ["a", 1], {"a": {"b": 1}}, 7, True, None, ""], ids=repr)
@pytest.mark.parametrize("way", ["receive", "workflow"])
def test_a_peers_context_of_any_shape_leaves_the_inbox_whole(alice, bob, context, way):
    factories.profile(bob, default_project="main")
    peer, owner = yeoman.Peer(alice), Api(bob)
    if way == "receive":
        delegated = peer.send("a2a:delegate", {"task": "work", "context": context}, toPeerId="bob")
        task_id = delegated["task_id"]
    else:
        assert peer.post("/api/v1/a2a/tasks", {"task": "work", "context": context}).status_code < 300
        task_id = owner.get(f"{INBOX}/tasks").json()["tasks"][0]["task_id"]

    [listed] = owner.get(f"{INBOX}/tasks").json()["tasks"]
    markdown = owner.get(f"{INBOX}/context")
    exported = owner.get(f"{INBOX}/export").json()["tasks"]
    accepted = owner.post(f"{INBOX}/tasks/{task_id}/accept")
    completed = owner.post(f"{INBOX}/tasks/{task_id}/complete", {"artifacts": {"r": 1}})

    assert listed["context"]["context"] == context
    assert (markdown.status_code, exported[task_id]) == (200, listed)
    assert f"  - context: {context}" in markdown.content.decode()
    assert accepted.json()["task"]["status"] == "accepted"
    assert completed.json()["task"]["status"] == "completed"


def test_the_fields_of_a_peer_s_task_are_the_context_that_its_worker_reads(alice, bob):
    said = {"title": "Audit", "target_url": "https://example.org/", "priority": "high", "agents": ["a", "b"]}
    callback = {"callback_url": "https://example.org/end", "callback_secret": "hush"}
    task = {"description": "Audit the site", **said, **callback}
    yeoman.Peer(alice).send("a2a:delegate", task, toPeerId="bob")

    [pending] = A2AInbox("j", "bob").get_pending_tasks()
    markdown = A2AInbox("j", "bob").render_pending_context()

    assert said.items() <= pending.context.items()
    assert pending.source_job_id == ""
    assert "  - target_url: https://example.org/\n" in markdown
    assert "hush" not in markdown
    assert "/end" not in markdown


def test_metadata_of_another_dialect_is_shown_as_the_context(alice, bob):
    factories.sent_task(alice, bob, metadata={"source_job_id": [1], "context": "text"})

    [pending] = A2AInbox("j", "bob").get_pending_tasks()

    assert pending.context == {"source_job_id": [1], "context": "text"}
    assert pending.source_job_id == ""
