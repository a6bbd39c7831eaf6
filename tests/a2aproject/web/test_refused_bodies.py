"""A web server without connections to cut refuses a body that it may not wait for."""

import io
from typing import Any

import pytest
from django.test import Client

from a2aproject.web.bodies import Body, Waits
from mailbox.models import Task
from tests.support import factories

pytestmark = pytest.mark.one_database


def refused(client: Client, path: str, content: str, content_type: str) -> Any:
    """Post a body that the process may not wait for, through a server whose connections cannot be cut."""
    none = Waits(most=lambda: 0, most_briefly=lambda: 0)
    body = Body({"wsgi.input": io.BytesIO(content.encode()), "REMOTE_ADDR": "192.0.2.1"}, none)
    extra: dict[str, Any] = {"wsgi.input": body}
    return client.generic("POST", path, content, content_type, **extra)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/a2a/tasks", "/a2a/tasks/send", "/api/v1/a2a/receive", "/a2a/inboxes/alice@local/delegate"]
)
def test_where_no_connection_can_be_cut_one_body_too_many_is_refused_in_the_dialects_shape(alice, path, caplog):
    api = Client(headers={"Authorization": f"Bearer {factories.key_of(alice)}"})

    answer = refused(api, path, "{}", "application/json")

    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert "did not arrive in time" in answer.content.decode()
    assert answer["Content-Type"] == "application/json"
    assert not Task.objects.exists()
    assert caplog.records == []  # a stranger cannot fill the log


@pytest.mark.django_db
def test_a_form_that_does_not_arrive_is_answered_with_a_plain_503(caplog):
    browser = Client(enforce_csrf_checks=True)
    browser.get("/ops/sign-in/")

    answer = refused(browser, "/ops/sign-in/", "username=ana", "application/x-www-form-urlencoded")

    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert caplog.records == []
