import errno
import json
import threading
from functools import partial

import pytest
from django.db import InterfaceError, OperationalError, connection

from mailbox.database import waiting
from mailbox.database.bell.waiters import Waiter
from mailbox.life.fast_path import plain
from mailbox.models import ApiKey, AuditEvent
from mailbox.models.task import TaskQuerySet
from tests.support import factories
from tests.support.api import Api, error_of, task_to
from tests.support.pauses import Clock

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.mark.parametrize(
    "how",
    [
        *({"content_type": one} for one in ("application/json", "Application/JSON; charset=utf-8")),
        *({"headers": {"Content-Encoding": one}} for one in ("identity", "Identity")),
    ],
    ids=str,
)
def test_a_json_body_with_a_charset_or_the_identity_encoding_is_accepted(alice, bob, how):
    assert Api(alice).call("POST", "/a2a/tasks", task_to(bob), **how).status_code == 200


@pytest.mark.parametrize("length", ["x", "-1", "1.5", "٣"])
def test_an_invalid_content_length_is_refused(alice, bob, length):
    answer = Api(alice).call("POST", "/a2a/tasks", task_to(bob), CONTENT_LENGTH=length)

    assert error_of(answer) == (411, "length_required")


@pytest.mark.parametrize(("beyond", "status"), [(0, 200), (1, 413)])
def test_the_limit_of_a_body_is_exact_to_the_byte(alice, bob, settings, beyond, status):
    body = task_to(bob, intent_text="")
    room = settings.A2A_MAX_BODY_BYTES - len(json.dumps(body))

    answer = Api(alice).post("/a2a/tasks", body | {"intent_text": "x" * (room + beyond)})

    assert answer.status_code == status


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "image/png, */*;q=0.1", ""])
def test_the_answer_is_json_for_every_accept_header(alice, accept):
    answer = Api(alice).get("/a2a/queue", headers={"Accept": accept})

    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")


@pytest.mark.parametrize("failure", [OperationalError, InterfaceError, MemoryError, partial(OSError, errno.EMFILE)])
@pytest.mark.parametrize("when", ["authenticating", "deciding", "looking"])
def test_a_hub_without_database_memory_or_files_answers_503_with_retry_after(alice, bob, monkeypatch, failure, when):
    def fail(*args, **kwargs):
        raise failure("server closed the connection: secret detail")

    api = Api(alice)
    target, name = {
        "authenticating": (type(ApiKey.objects.all()), "credential_rows"),
        "deciding": (plain, "send_task"),
        "looking": (TaskQuerySet, "visible_to"),
    }[when]
    monkeypatch.setattr(target, name, fail)

    answer = api.get("/a2a/queue") if when == "looking" else api.post("/a2a/tasks", task_to(bob))

    assert error_of(answer) == (503, "unavailable")
    assert answer["Retry-After"] == "1"
    assert b"secret detail" not in answer.content


@pytest.mark.parametrize(
    ("given", "kept"), [("abc-1.2_3", True), ("x" * 64, True), ("x" * 65, False), ("a b", False), ("é", False)]
)
def test_a_plain_request_id_of_the_caller_is_kept(alice, bob, given, kept):
    answer = Api(alice).post("/a2a/tasks", task_to(bob), headers={"X-Request-Id": given})

    assert (answer["X-Request-Id"] == given) is kept
    assert {event.request_id for event in AuditEvent.objects.all()} == {answer["X-Request-Id"]}


def polled(poll, meanwhile):
    """Return the answer of a poll that waits, and what ``meanwhile`` returns."""
    answers = []

    def wait():
        answers.append(poll().json())
        connection.close()

    waiter = threading.Thread(target=wait)
    waiter.start()
    done = meanwhile()
    waiter.join()
    return answers[0], done


@pytest.mark.django_db(transaction=True)
def test_a_long_poll_returns_a_task_or_result_that_comes_meanwhile(alice, bob):
    receive = partial(Api(bob).get, "/a2a/tasks/next", wait_ms=600_000)
    drain = partial(Api(alice).post, "/a2a/results/next", {"wait_ms": 600_000})

    leased, task = polled(receive, lambda: factories.sent_task(alice, bob))
    body = {"task_id": str(task.uuid), "status": "ok"}
    drained, _ = polled(drain, lambda: Api(bob).post("/a2a/results", body))

    assert leased["task"]["id"] == drained["result"]["task_id"] == str(task.uuid)


@pytest.mark.parametrize("path", ["/a2a/tasks/next", "/a2a/results/next"])
def test_a_long_poll_without_a_task_ends_after_its_wait(bob, monkeypatch, path):
    waits = []
    monkeypatch.setattr(waiting, "time", Clock())
    monkeypatch.setattr(Waiter, "wait", lambda _, seconds: waits.append(seconds))

    answer = Api(bob).get(path, wait_ms=60)

    assert answer.status_code == 200
    assert waits == pytest.approx([0.06])
