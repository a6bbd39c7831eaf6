"""Code in this process may put anything in an envelope: each field is checked as its HTTP route checks it."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailbox import Mailbox
from mailbox.access.callers import Caller
from mailbox.words.envelopes import AgentRef, DuplicateSafety, Idempotency, ResultEnvelope, TaskEnvelope
from mailbox.words.errors import InvalidRequestError
from tests.mailbox.in_process.conftest import Refusal, Rows
from tests.support import factories

AN_ID = "8b7ee3e0-5c0d-4a43-9c0c-3f8a5f3d6a10"
ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)
DEEP: list[Any] = []
for _ in range(64):
    DEEP = [DEEP]


def task(**fields: Any) -> TaskEnvelope:
    return TaskEnvelope(
        **{"sender": AgentRef("alice@local"), "recipient": AgentRef("bob@local"), "intent_text": "x", **fields}
    )


def result(**fields: Any) -> ResultEnvelope:
    return ResultEnvelope(**{"task_id": UUID(AN_ID), "status": "ok", **fields})


def promise(**fields: Any) -> Idempotency:
    return Idempotency(**{"duplicate_safety": DuplicateSafety.IDEMPOTENT, "key": "k", **fields})


WRONG_TASKS: list[tuple[str, object]] = [
    ("id", "no id"),
    ("id", 7),
    ("parent", "no id"),
    ("parent", True),
    ("sender", "not a name"),
    ("sender", 7),
    ("recipient", ""),
    ("recipient", None),
    ("recipient", ["bob@local"]),
    ("recipient", "a" * 201),
    ("intent_text", ""),
    ("intent_text", " \n"),
    ("intent_text", None),
    ("intent_text", 7),
    ("task_kind", " "),
    ("task_kind", 7),
    ("task_kind", "k" * 501),
    ("deadline_ms", "1"),
    ("deadline_ms", 1.0),
    ("deadline_ms", True),
    ("deadline_ms", -1),
    ("deadline_ms", 2**63),
    ("callback_url", 7),
    ("callback_url", "ftp://example.com"),
    ("callback_url", "https://user@example.com"),
    ("callback_secret", 7),
    ("callback_secret", "for no URL"),
]


@pytest.mark.parametrize(("field", "value"), WRONG_TASKS)
def test_task_fields_are_rejected_as_over_http(
    box: Mailbox, rows: Rows, refusal: Refusal, field: str, value: object
) -> None:
    before = rows()
    wire = {"recipient": "bob@local", "intent_text": "x", field: value}

    with pytest.raises(InvalidRequestError) as refused:
        box.send_task(task(**{field: value}))

    assert set(refused.value.fields) == set(refusal("post", "/a2a/tasks", wire)) == {field}
    assert rows() == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("duplicate_safety", "banana"),
        ("duplicate_safety", None),
        ("duplicate_safety", 1),
        ("key", ""),
        ("key", None),
        ("key", 7),
        ("key", "k" * 501),
    ],
)
def test_idempotency_fields_are_rejected_as_over_http(
    box: Mailbox, rows: Rows, refusal: Refusal, field: str, value: object
) -> None:
    before = rows()
    said = {"duplicate_safety": "idempotent", "key": "k", field: value}
    wire = {"recipient": "bob@local", "intent_text": "x", "idempotency": said}

    with pytest.raises(InvalidRequestError) as refused:
        box.send_task(task(idempotency=promise(**{field: value})))

    assert refused.value.fields == refusal("post", "/a2a/tasks", wire)
    assert list(refused.value.fields) == [f"idempotency.{field}"]
    assert rows() == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sender", None),
        ("sender", AgentRef()),
        ("sender", AgentRef(7)),  # type: ignore[arg-type]
        ("recipient", AgentRef("bob@local", "no key")),
        ("recipient", AgentRef("\x00")),
        ("intent_text", "\x00"),
        ("intent_text", "\ud800"),
        ("idempotency", {"duplicate_safety": "unsafe", "key": "k"}),
        ("context_id", " "),
        ("context_id", 7),
        ("context_id", "c" * 501),
        ("metadata", None),
        ("metadata", [("a", 1)]),
        ("metadata", {"a": {1, 2}}),
        ("metadata", {"a": float("nan")}),
        ("metadata", {"a": "\x00"}),
        ("metadata", {7: "a"}),
        ("metadata", {"a": 10**4300}),
        ("metadata", {"a": ENDLESS}),
        ("metadata", {"a": DEEP}),
        ("work_timeout", 5),
        ("work_timeout", timedelta(0)),
        ("work_timeout", timedelta(seconds=-1)),
        ("work_timeout", timedelta.max),
        ("source", "robot"),
        ("source", None),
        ("dialect", ""),
        ("dialect", None),
        ("dialect", "d" * 21),
    ],
)
def test_task_fields_that_json_cannot_express_are_rejected(box: Mailbox, rows: Rows, field: str, value: object) -> None:
    before = rows()

    with pytest.raises(InvalidRequestError) as refused:
        box.send_task(task(**{field: value}))

    assert list(refused.value.fields) == [field]
    assert rows() == before


WRONG_RESULTS: list[tuple[str, object, str]] = [
    ("task_id", "no id", "task_id"),
    ("task_id", None, "task_id"),
    ("lease_id", "no id", "lease_id"),
    ("lease_id", 7, "lease_id"),
    ("status", "done", "status"),
    ("status", None, "status"),
    ("content", None, "content"),
    ("content", "text", "content"),
    ("content", {"type": "text", "text": "x"}, "content"),
    ("content", ["text"], "content.0"),
    ("content", [{"type": "text", "text": "x"}, {"type": "video"}], "content.1.type"),
    ("error_message", 7, "error_message"),
]


@pytest.mark.parametrize(("field", "value", "path"), WRONG_RESULTS)
def test_result_fields_are_rejected_as_over_http(
    box: Mailbox, rows: Rows, refusal: Refusal, field: str, value: object, path: str
) -> None:
    before = rows()

    with pytest.raises(InvalidRequestError) as refused:
        box.send_result(result(**{field: value}))

    assert refused.value.fields == refusal("post", "/a2a/results", {"task_id": AN_ID, "status": "ok", field: value})
    assert list(refused.value.fields) == [path]
    assert rows() == before


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("content", [{"type": "text", "text": "\x00"}], "content.0"),
        ("content", [{"type": "json", "value": ENDLESS}], "content.0"),
        ("content", [{"type": "json", "value": DEEP}], "content.0"),
        ("content", [{"type": "json", "value": b"bytes"}], "content.0"),
        ("content", iter(()), "content"),
        ("error_message", "\ud800", "error_message"),
    ],
)
def test_result_fields_that_json_cannot_express_are_rejected(
    box: Mailbox, field: str, value: object, path: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        box.send_result(result(**{field: value}))

    assert list(refused.value.fields) == [path]


@pytest.mark.parametrize("value", [None, "task", {}, result()])
def test_send_task_accepts_only_a_task_envelope(box: Mailbox, value: Any) -> None:
    with pytest.raises(InvalidRequestError, match="task: must be a TaskEnvelope"):
        box.send_task(value)


@pytest.mark.parametrize("value", [None, "result", {}, task()])
def test_send_result_accepts_only_a_result_envelope(box: Mailbox, value: Any) -> None:
    with pytest.raises(InvalidRequestError, match="result: must be a ResultEnvelope"):
        box.send_result(value)


def test_ids_can_be_given_as_text(box: Mailbox) -> None:
    sent = box.send_task(task(id=AN_ID, parent=str(uuid4())))
    repeated = box.send_task(task(id=sent.uuid, parent=sent.parent))
    lease = box.try_recv_task_for("bob")
    assert lease is not None

    posted = box.send_result(result(task_id=str(sent.uuid), lease_id=str(lease.lease_id)))

    assert (sent.uuid, repeated, posted.task) == (UUID(AN_ID), sent, sent)


def test_the_parties_of_a_task_can_be_given_in_every_form(box: Mailbox, alice: Caller, bob: Caller) -> None:
    rows_ = factories.row_of(alice), factories.row_of(bob)
    for sender, recipient in (("alice", "bob@local"), rows_, (factories.ref(alice), AgentRef(pubkey=rows_[1].pubkey))):
        sent = box.send_task(task(sender=sender, recipient=recipient))

        assert (sent.sender, sent.recipient) == rows_
