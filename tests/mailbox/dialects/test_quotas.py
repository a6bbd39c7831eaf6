"""The routes of quotas, and the quota of a request that sends several tasks."""

import pytest
from django.db import connection

from mailbox.access.callers import Role
from mailbox.models import SenderStock, Task
from tests.support import factories
from tests.support.api import Api

# A refusal undoes the statement of the fast form, and on PostgreSQL the test's own transaction with it.
pytestmark = pytest.mark.django_db(transaction=connection.vendor == "postgresql")


def test_a_line_beyond_the_quota_is_reported_beside_the_lines_that_were_sent(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = 1

    response = Api(alice).post("/a2a/inboxes/alice@local/delegate", {"text": "@delegate bob: one\n@delegate bob: two"})

    assert response.status_code == 200
    assert "quota" in response.content.decode()
    assert Task.objects.count() == 1


@pytest.mark.usefixtures("bob")
@pytest.mark.parametrize(("lines", "status"), [(100, 200), (101, 400)])
def test_a_request_delegates_at_most_a_hundred_lines_and_none_of_more(alice, lines, status):
    text = "\n".join(f"@delegate bob: {number}" for number in range(lines))

    response = Api(alice).post("/a2a/inboxes/alice@local/delegate", {"text": text})

    assert response.status_code == status
    assert Task.objects.count() == (lines if status == 200 else 0)


def test_an_admin_sets_an_agent_s_quotas_and_the_agent_reads_them(alice):
    admin = Api(factories.person("ada", Role.ADMIN))

    response = admin.post("/a2a/agents/alice/quotas", {"queued": 7, "cards": None})

    assert response.status_code == 200
    assert Api(alice).get("/a2a/agents/alice/quotas").json() == response.json()
    shown = {one["quota"]: (one["limit"], one["is_own"]) for one in response.json()["quotas"]}
    assert (shown["queued"], shown["cards"]) == ((7, True), (100, False))


@pytest.mark.parametrize("body", [{}, {"queued": -1}, {"queued": "7"}, {"cards": 5, "recipient": "bob"}, {"dreams": 5}])
@pytest.mark.usefixtures("bob")
def test_a_wrong_quota_is_refused(alice, body):
    response = Api(factories.person("ada", Role.ADMIN)).post("/a2a/agents/alice/quotas", body)

    assert (response.status_code, response.json()["code"]) == (400, "invalid_request")
    assert not SenderStock.objects.exists()


def test_other_agents_neither_read_nor_set_quotas(alice, mallory):
    for response in (
        Api(mallory).get("/a2a/agents/alice/quotas"),
        Api(alice).post("/a2a/agents/alice/quotas", {"queued": 10**6}),
    ):
        assert (response.status_code, response.json()["code"]) == (403, "capability_missing")
