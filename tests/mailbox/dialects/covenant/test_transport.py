from __future__ import annotations

import base64
import errno
import gzip
import json
import threading
import time
from functools import partial

import pytest
from django.db import InterfaceError, OperationalError, connection

from mailbox.models import ApiKey, AuditEvent, Task
from mailbox.models.task_queries import TaskQuerySet
from mailbox.verbs.hot import plain
from mailbox.words import tokens
from tests.support import factories
from tests.support.api import Api, error_of, task_to
from tests.support.hub import PATIENCE

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.mark.parametrize(
    "content_type", ["text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml"]
)
def test_a_body_of_another_type_is_refused(alice, bob, content_type):
    answer = Api(alice).call("POST", "/a2a/tasks", task_to(bob), content_type=content_type)

    assert error_of(answer) == (415, "unsupported_media_type")
    assert not Task.objects.exists()


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON; charset=utf-8"])
def test_a_json_body_with_a_charset_is_accepted(alice, bob, content_type):
    assert Api(alice).call("POST", "/a2a/tasks", task_to(bob), content_type=content_type).status_code == 200


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "x"])
def test_an_encoded_body_is_refused(alice, bob, encoding):
    body = gzip.compress(json.dumps(task_to(bob)).encode())

    answer = Api(alice).call("POST", "/a2a/tasks", body, headers={"Content-Encoding": encoding})

    assert error_of(answer) == (415, "unsupported_media_type")


def test_a_chunked_body_is_refused(alice, bob):
    answer = Api(alice).call("POST", "/a2a/tasks", task_to(bob), headers={"Transfer-Encoding": "chunked"})

    assert error_of(answer) == (411, "length_required")
    assert not Task.objects.exists()


@pytest.mark.parametrize("length", ["x", "-1", "1.5", "٣"])
def test_an_invalid_content_length_is_refused(alice, bob, length):
    answer = Api(alice).call("POST", "/a2a/tasks", task_to(bob), CONTENT_LENGTH=length)

    assert error_of(answer) == (411, "length_required")


@pytest.mark.parametrize("encoding", ["identity", "Identity"])
def test_a_body_of_content_encoding_identity_is_accepted(alice, bob, encoding):
    assert Api(alice).post("/a2a/tasks", task_to(bob), headers={"Content-Encoding": encoding}).status_code == 200


def test_options_answers_the_methods_of_a_route_without_a_body(alice):
    answer = Api(alice).call("OPTIONS", "/a2a/queue")

    assert (answer.status_code, answer.content) == (204, b"")
    assert set(answer["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


def test_a_body_of_three_megabytes_is_refused(alice, bob):
    answer = Api(alice).post("/a2a/tasks", task_to(bob, intent_text="x" * 3_000_000))

    assert error_of(answer) == (413, "body_too_large")
    assert not Task.objects.exists()


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


@pytest.mark.parametrize("form", ["Bearer", "bearer", "X-API-Key", "Basic", "Basic with a name"])
def test_a_key_is_accepted_in_each_of_its_headers(alice, bob, form):
    key = factories.key_of(alice)
    headers = {
        "Bearer": {"Authorization": f"Bearer {key}"},
        "bearer": {"Authorization": f"bearer  {key} "},
        "X-API-Key": {"X-API-Key": key},
        "Basic": {"Authorization": f"Basic {base64.b64encode(f':{key}'.encode()).decode()}"},
        "Basic with a name": {"Authorization": f"Basic {base64.b64encode(f'alice:{key}'.encode()).decode()}"},
    }[form]

    assert Api(headers=headers).post("/a2a/tasks", task_to(bob)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer x"},
        {"Authorization": "Basic ***"},
        {"Authorization": f"Basic {base64.b64encode(bytes([255])).decode()}"},
        {"Authorization": f"Basic {base64.b64encode(b'alice').decode()}"},
        {"Authorization": "Digest username=alice"},
        {"X-API-Key": ""},
        {"X-API-Key": "é"},
        pytest.param({"X-API-Key": tokens.mint().key}, id="X-API-Key of nobody"),
    ],
    ids=lambda headers: "; ".join(f"{name} {value}" for name, value in headers.items())[:40] or "none",
)
@pytest.mark.parametrize("path", ["/a2a/tasks", "/a2a/queue", "/audit/recent"])
def test_a_request_without_a_valid_key_is_401(alice, headers, path):
    answer = Api(headers=headers).call("POST" if path == "/a2a/tasks" else "GET", path)

    assert error_of(answer) == (401, "unauthenticated")
    assert answer["WWW-Authenticate"] == "Bearer"
    assert [event.kind for event in AuditEvent.objects.all()] == ["authentication_failed"]


def test_a_session_of_the_dashboard_is_401_on_the_api(olga, client, django_user_model):
    client.force_login(django_user_model.objects.get())

    assert error_of(client.get("/a2a/queue")) == (401, "unauthenticated")


@pytest.mark.django_db(transaction=True)
def test_a_long_poll_returns_a_task_that_is_sent_meanwhile(alice, bob):
    answers = []
    api = Api(bob)

    def wait():
        answers.append(api.get("/a2a/tasks/next", wait_ms=20_000))
        connection.close()

    waiter = threading.Thread(target=wait)
    waiter.start()
    task = factories.sent_task(alice, bob)
    waiter.join(PATIENCE)

    assert [answer.json()["task"]["id"] for answer in answers] == [str(task.uuid)]


@pytest.mark.django_db(transaction=True)
def test_a_long_poll_returns_a_result_that_is_posted_meanwhile(alice, bob):
    answers = []
    api, task = Api(alice), factories.sent_task(alice, bob)

    def wait():
        answers.append(api.post("/a2a/results/next", {"wait_ms": 20_000}))
        connection.close()

    waiter = threading.Thread(target=wait)
    waiter.start()
    Api(bob).post("/a2a/results", {"task_id": str(task.uuid), "status": "ok"})
    waiter.join(PATIENCE)

    assert [answer.json()["result"]["task_id"] for answer in answers] == [str(task.uuid)]


@pytest.mark.parametrize("path", ["/a2a/tasks/next", "/a2a/results/next"])
def test_a_long_poll_without_a_task_ends_after_its_wait(bob, path):
    began = time.monotonic()

    answer = Api(bob).get(path, wait_ms=60)

    assert answer.status_code == 200
    assert 0.06 <= time.monotonic() - began < PATIENCE
