import io
import re
import uuid

import pytest
from django.core.management.base import CommandError

from mailbox.models import AuditEvent, Result, Task


def test_a_task_reaches_its_recipient_and_its_result_the_sender(a2a_json, cast):
    sent = a2a_json("send", "--from", "alice", "--to", "bob", "count the words", "--json")
    received = a2a_json("recv", "bob", "--json")
    task_id, lease_id = received["task"]["id"], received["lease"]["lease_id"]
    posted = a2a_json("post-result", task_id, "--status", "ok", "--text", "3", "--lease-id", lease_id, "--json")
    drained = a2a_json("drain", "alice", "--json")

    assert sent == {"kind": "a2a_task_queued", "task_id": task_id}
    assert received["kind"] == "a2a_task_opt"
    assert received["task"] == {
        "id": task_id,
        "sender": cast["alice"],
        "recipient": cast["bob"],
        "intent_text": "count the words",
    }
    assert received["lease"]["attempt"] == 1
    assert posted == {"kind": "a2a_result_posted", "task_id": task_id}
    assert drained == {
        "kind": "a2a_result_opt",
        "result": {"task_id": task_id, "status": "ok", "content": [{"type": "text", "text": "3"}]},
    }


def test_delivered_lists_results_page_by_page_until_their_acknowledgement(a2a, a2a_json, cast):
    ids = []
    for _ in range(2):
        a2a("send", "--from", "alice", "--to", "bob", "count")
        ids.append(a2a_json("recv", "bob", "--json")["task"]["id"])
        a2a("post-result", ids[-1], "--status", "ok")
        a2a("drain", "alice")

    page = a2a_json("delivered", "alice", "--limit", 1, "--json")
    rest = a2a_json("delivered", "alice", "--cursor", page["next_cursor"], "--json")

    assert [one["task_id"] for one in page["results"] + rest["results"]] == ids
    assert [line.split()[:2] for line in a2a("delivered", "alice").splitlines()] == [[one, "ok"] for one in ids]
    (more,) = re.findall(r"^\(more: --cursor (\S+)\)$", a2a("delivered", "alice", "--limit", 1), re.MULTILINE)
    assert a2a_json("delivered", "alice", "--cursor", more, "--json") == rest
    assert a2a("delivered", "bob") == "(no result waits for an acknowledgement)"
    a2a("drain", "alice", "--ack", ids[0])
    assert [one["task_id"] for one in a2a_json("delivered", "alice", "--json")["results"]] == ids[1:]


def test_send_passes_all_options_on(a2a, a2a_json, cast):
    task_id, parent = str(uuid.uuid4()), str(uuid.uuid4())

    printed = a2a(
        *("send", "--from", "alice", "--to", "bob@local", "sum", "--id", task_id, "--kind", "math", "--parent", parent),
        *(
            "--deadline-ms",
            2**53,
            "--work-timeout-ms",
            1500,
            "--idempotency-key",
            "k",
            "--duplicate-safety",
            "idempotent",
        ),
    )

    leased = a2a_json("recv", "bob", "--json")
    task = leased["task"]
    assert (printed, leased["lease"]["work_timeout_ms"]) == (task_id, 1500)
    assert {name: task[name] for name in task if name not in ("sender", "recipient")} == {
        "id": task_id,
        "intent_text": "sum",
        "task_kind": "math",
        "parent": parent,
        "deadline_ms": 2**53,
        "idempotency": {"duplicate_safety": "idempotent", "key": "k"},
    }


def test_a_dash_reads_the_text_from_stdin(a2a, a2a_json, cast, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("two\nlines\n"))

    a2a("send", "--from", "alice", "--to", "bob", "-")

    assert a2a_json("recv", "bob", "--json")["task"]["intent_text"] == "two\nlines\n"


def test_recv_prints_a_readable_task(a2a, sent):
    head, text = a2a("recv", "bob").split("\n\n")

    assert head.splitlines()[0] == f"task   {sent}"
    assert head.splitlines()[-1].endswith("(attempt 1)")
    assert text == "count the words"


def test_an_empty_queue_is_not_an_error(a2a, a2a_json, cast):
    assert a2a_json("recv", "bob", "--json", "--wait-ms", 30) == {"kind": "a2a_task_opt", "task": None, "lease": None}
    assert a2a_json("drain", "alice", "--json") == {"kind": "a2a_result_opt", "result": None}
    assert a2a("recv", "bob") == "(no task waits)"
    assert a2a("drain", "alice") == "(no result waits)"


def test_the_same_attempt_id_receives_the_same_lease(a2a_json, sent):
    attempt_id = uuid.uuid4()

    first = a2a_json("recv", "bob", "--attempt-id", attempt_id, "--json")

    assert a2a_json("recv", "bob", "--attempt-id", attempt_id, "--json") == first
    assert first["task"]["id"] == sent


def test_a_repeated_drain_returns_the_result_until_it_is_acknowledged(a2a, a2a_json, leased):
    task_id, attempt_id = leased["task"]["id"], uuid.uuid4()
    a2a("post-result", task_id, "--status", "partial", "--content", '[{"type":"json","value":[1]}]')

    first = a2a("drain", "alice", "--attempt-id", attempt_id)
    again = a2a("drain", "alice", "--attempt-id", attempt_id)
    after = a2a("drain", "alice", "--attempt-id", attempt_id, "--ack", task_id)

    assert first == again == f'task  {task_id}  partial\n\n{{"type":"json","value":[1]}}'
    assert after == "(no result waits)"


def test_drain_acknowledges_and_returns_the_next_result_in_one_decision(a2a, cast):
    for text in ("first", "second"):
        a2a("send", "--from", "alice", "--to", "bob", text)
    first, second = list(Task.objects.order_by("pk"))
    for task in (first, second):
        a2a("post-result", task.uuid, "--status", "ok")
    a2a("drain", "alice")

    a2a("drain", "alice", "--ack", first.uuid)

    acked = AuditEvent.objects.get(kind="a2a_result_acked")
    delivered = AuditEvent.objects.get(kind="a2a_result_delivered", task_id=second.uuid)
    assert (acked.task_id, acked.at) == (first.uuid, delivered.at)


def test_a_refused_ack_drains_nothing(a2a, leased):
    a2a("post-result", leased["task"]["id"], "--status", "ok")
    stranger = uuid.uuid4()

    with pytest.raises(CommandError, match=f"no task {stranger}"):
        a2a("drain", "alice", "--ack", stranger)

    assert Result.objects.get().delivery == Result.Delivery.PENDING


def test_an_error_result_prints_its_message(a2a, leased):
    task_id = leased["task"]["id"]

    posted = a2a("post-result", task_id, "--status", "error", "--error-message", "no ink")

    assert posted == f"posted error for task {task_id}"
    assert a2a("drain", "alice") == f"task  {task_id}  error: no ink"


def test_a_result_is_posted_by_the_recipient(a2a, cast, leased):
    a2a("post-result", leased["task"]["id"], "--status", "ok")

    row = AuditEvent.objects.get(kind="a2a_result_posted")
    assert row.actor.startswith("cli:")
    assert row.actor_pubkey == cast["bob"]["pubkey"]


def test_a_result_for_an_unknown_task_is_refused_and_journalled(a2a):
    stranger = uuid.uuid4()

    with pytest.raises(CommandError, match=f"no task {stranger}"):
        a2a("post-result", stranger, "--status", "ok")

    assert AuditEvent.objects.get(kind="a2a_result_rejected").task_id == stranger


def test_a_stale_lease_id_changes_nothing(a2a, leased):
    with pytest.raises(CommandError, match="lease mismatch"):
        a2a("post-result", leased["task"]["id"], "--status", "ok", "--lease-id", uuid.uuid4())

    assert Task.objects.get(uuid=leased["task"]["id"]).state == "in_flight"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--from", "alice", "--to", "carol", "hi"], '"carol"'),
        (["--from", "carol", "--to", "bob", "hi"], '"carol"'),
        (["--from", "alice", "--to", "b ob", "hi"], "--to: invalid AgentId.display"),
        (["--from", "alice", "--to", "bob", "  "], "intent_text must not be empty"),
        (["--from", "alice", "--to", "bob", "a\x00b"], "NUL"),
        (["--from", "alice", "--to", "bob", "a\udcffb"], "lone surrogate"),
        (["--from", "alice", "--to", "bob", "hi", "--kind", ""], "task_kind must not be empty when present"),
        (
            ["--from", "alice", "--to", "bob", "hi", "--idempotency-key", " ", "--duplicate-safety", "unsafe"],
            "idempotency key must not be empty",
        ),
    ],
)
def test_the_error_for_an_unsendable_task_has_the_reason(a2a, cast, words, message):
    with pytest.raises(CommandError, match=message) as refusal:
        a2a("send", *words)

    assert refusal.value.returncode == 1
    assert not Task.objects.exists()


@pytest.mark.parametrize("words", [["--idempotency-key", "k"], ["--duplicate-safety", "unsafe"]])
def test_an_idempotency_key_without_a_safety_is_a_usage_error(a2a, cast, words):
    with pytest.raises(CommandError, match="give both --idempotency-key and --duplicate-safety") as refusal:
        a2a("send", "--from", "alice", "--to", "bob", "hi", *words)

    assert refusal.value.returncode == 2
