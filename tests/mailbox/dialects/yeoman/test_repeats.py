"""Repeated messages, names that fit several agents, and batches that are refused before the first send."""

import pytest

from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.journal.compacted_tasks import RESULT_DELETED
from mailbox.life import leasing, results
from mailbox.models import AuditEvent, Peer, Task
from mailbox.upkeep import compaction
from mailbox.words import tokens
from tests.support import factories, yeoman
from tests.support.yeoman import envelope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]
PATHS = ["/api/tasks", "/api/v1/tasks", "/api/v1/a2a/tasks"]
BODY = {"title": "t", "description": "d", "task": "d"}


def compacted(bob, alice):
    """Answer the one task there is, let its sender have the result, and drop it."""
    [lease] = leasing.lease_tasks(bob)
    results.post_result(bob, factories.result_envelope(lease.task))
    [result] = results.drain_results(alice)
    results.ack_results(alice, [result.task.uuid])
    compaction.compact(Caller.command_line(), factories.AT_ONCE)
    assert not Task.objects.exists()


def submit(peer, path, key, **changed):
    headers = {"Idempotency-Key": key} if key is not None else {}
    return peer.post(path, BODY | changed, headers=headers)


@pytest.mark.parametrize("path", PATHS)
def test_a_repeat_is_answered_with_the_task_as_it_is_now(peer, bob, path):
    first = submit(peer, path, "k").json()
    (lease,) = leasing.lease_tasks(bob)
    second = submit(peer, path, "k").json()
    results.post_result(bob, factories.result_envelope(lease.task))
    third = submit(peer, path, "k").json()

    assert [one["status"] for one in (first, second, third)] == ["pending", "running", "completed"]
    assert [one["result"] for one in (first, second, third)] == [None, None, {"content": factories.SOME_TEXT}]
    assert {one["task_id"] for one in (first, second, third)} == {str(lease.task.uuid)}


def test_a_name_that_fits_several_agents_is_refused(peer, bob):
    for name in ("carol@far", "carol@elsewhere"):
        registration.ensure_agent(Caller.command_line(), name)

    refused = peer.receive(envelope("a2a:delegate", {"task": "x"}, toPeerId="carol"))
    whole = peer.send("a2a:delegate", {"task": "x"}, toPeerId="carol@elsewhere")

    assert refused.status_code == 404
    assert refused.json()["detail"] == '"carol" is ambiguous: carol@elsewhere, carol@far.'
    assert Task.objects.get().recipient.display == "carol@elsewhere"
    assert str(Task.objects.get().uuid) == whole["task_id"]


@pytest.mark.parametrize("message_id", ["m-1", ""])
@pytest.mark.parametrize(
    "bad", [{"callback_url": "ftp://x"}, {"callback_url": "http://10.0.0.1/"}, {"callback_secret": "s"}]
)
def test_a_batch_with_a_callback_that_cannot_be_sends_nothing(peer, message_id, bad):
    tasks = [{"description": "good"}, {"description": "bad", **bad}]

    response = peer.receive(envelope("a2a:delegate_batch", {"tasks": tasks}, id=message_id))

    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["body", "payload", "tasks", 1, *bad]
    assert not Task.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("kind", "payload"), [("a2a:delegate", {"task": "x"}), ("a2a:delegate_batch", {"tasks": [{"task": "x"}]})]
)
def test_a_repeated_message_of_a_compacted_task_is_answered_as_before(peer, alice, bob, kind, payload):
    first = peer.send(kind, payload, id="m-1")
    compacted(bob, alice)

    again = peer.send(kind, payload, id="m-1")

    assert again.pop("warning").endswith("compacted since.")
    assert again == first
    assert not Task.objects.exists()


def test_a_message_id_that_is_used_again_is_named(peer):
    peer.send("a2a:delegate", {"task": "x"}, id="m-1")

    response = peer.receive(envelope("a2a:delegate", {"task": "y"}, id="m-1"))

    assert response.status_code == 409
    assert "'m-1' was used for another task" in response.json()["detail"]


@pytest.mark.parametrize("path", PATHS)
def test_without_a_key_each_submission_is_a_task(peer, path):
    for key in (None, "", "  "):
        assert submit(peer, path, key).status_code < 300

    assert Task.objects.count() == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", PATHS)
def test_a_submission_whose_task_was_compacted_is_answered_with_its_end(peer, alice, bob, path):
    first = submit(peer, path, "k-1")
    compacted(bob, alice)

    again, changed = submit(peer, path, "k-1"), submit(peer, path, "k-1", description="e", task="e")

    assert again.status_code == first.status_code
    shown = {**again.json(), "status": "pending", "updated_at": first.json()["updated_at"], "result": None}
    assert shown == first.json()
    assert again.json()["status"] == "completed"
    assert again.json()["result"] == {"content": [], "message": RESULT_DELETED}
    assert (changed.status_code, "used for another task" in changed.json()["detail"]) == (409, True)
    assert not Task.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_task_that_an_earlier_version_compacted_is_a_conflict(peer, alice, bob, monkeypatch):
    submit(peer, "/api/tasks", "k-1")
    factories.without_digests(monkeypatch)
    compacted(bob, alice)

    gone = submit(peer, "/api/tasks", "k-1")

    assert (gone.status_code, "compacted" in gone.json()["detail"]) == (409, True)


def test_a_key_that_is_too_long_is_422(peer):
    long = submit(peer, "/api/tasks", "k" * 501)

    assert (long.status_code, long.json()["detail"][0]["loc"]) == (422, ["header", "Idempotency-Key"])


@pytest.mark.parametrize("kind", ["provision_credentials", "revoke_credentials"])
def test_credentials_without_the_prefix_are_discarded_with_a_warning(peer, kind):
    assert "has discarded the payload" in peer.send(kind, {"api_key": "S1"})["warning"]


@pytest.mark.parametrize(
    "body",
    [
        [{"payload": {"api_key": "S1"}}],
        {"id": [{"deep": {"payload": "S1"}}]},
        {"extra": [[{"callback_secret": "S1"}]]},
        {"envelope": {"payload": {"api_key": "S1"}}},
    ],
)
def test_a_refusal_does_not_repeat_the_payload(peer, body):
    response = peer.receive(body)

    assert response.status_code == 422
    assert "S1" not in response.text


def test_a_person_s_heartbeat_is_answered_with_a_warning_and_shows_no_peer(olga):
    answer = yeoman.Peer(olga).send("a2a:heartbeat")

    assert (answer["accepted"], answer["timestamp"]) == (True, yeoman.TIMESTAMP)
    assert "agent" in answer["warning"]
    assert not Peer.objects.exists()


@pytest.mark.parametrize("kind", [tokens.KEY, tokens.ROUTE])
def test_a_secret_sent_as_request_id_is_neither_echoed_nor_journalled(peer, kind):
    secret = tokens.mint(kind).key
    body = envelope("a2a:delegate", {"task": "x"})

    response = peer.post(yeoman.RECEIVE, body, headers={"X-Request-Id": secret})

    assert response.status_code == 200
    assert secret not in response["X-Request-Id"]
    assert not AuditEvent.objects.filter(request_id__contains=secret[:12]).exists()
