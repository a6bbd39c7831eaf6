"""Callers and agents: keys, open agents, tenants; and bugs in the shape of the binding."""

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentcards import official_agents
from mailbox.access.agents import grants, own_agent_setup
from mailbox.access.callers import Caller
from mailbox.access.own_agents import ANONYMOUS
from tests.support import factories
from tests.support.a2a import OfficialClient, message, state, whole
from tests.support.api import Api

pytestmark = pytest.mark.django_db

NOW = {"returnImmediately": True}


def test_an_agent_that_is_not_there_is_404_with_its_own_reason(alice):
    api = Api(alice, headers={"A2A-Version": "1.0"})
    rpc = api.post("/agents/nobody/a2a", {"jsonrpc": "2.0", "id": 1, "method": "ListTasks"})
    rest = api.get("/agents/nobody/rest/tasks")

    assert (rpc.status_code, rest.status_code) == (404, 404)
    assert rpc.json()["error"]["data"][0]["reason"] == "AGENT_NOT_FOUND"
    assert rest.json()["error"]["details"][0] == rpc.json()["error"]["data"][0]


def test_an_open_agent_takes_messages_without_a_key(bob, holder):
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    client = OfficialClient(None, bob)
    sent = client.send("hello")
    context = {"contextId": sent["contextId"]}
    assert state(client.get(sent["id"])) == "SUBMITTED"
    assert client.rpc("ListTasks")["tasks"] == []
    assert [task["id"] for task in client.rpc("ListTasks", context)["tasks"]] == [sent["id"]]
    assert client.response("GetExtendedAgentCard").status_code == 401

    holder.take()
    holder.answer("hi")
    assert state(client.get(sent["id"])) == "COMPLETED"


def test_a_caller_without_a_key_names_no_context_but_one_that_the_hub_made(bob):
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    client, named = OfficialClient(None, bob), {"Idempotency-Key": "k"}
    context = client.send("hello")["contextId"]
    words = {"message": message("under a key"), "configuration": NOW}
    under_a_key, again = (client.rpc("SendMessage", words, **named)["task"]["contextId"] for _ in range(2))
    anonymous = Caller.local(own_agent_setup.hub_agent(ANONYMOUS))
    factories.sent_task(anonymous, bob, dialect="a2a", context_id="default")  # as earlier versions stored

    assert client.send("more", contextId=context)["contextId"] == context
    assert under_a_key == again != context
    assert client.send("more", contextId=again)["contextId"] == again
    for guess in ("default", context[:-1], context.partition(":")[0], f"{uuid4()}:{context.partition(':')[2]}"):
        refused = {"message": message(contextId=guess), "configuration": NOW}
        assert client.error("SendMessage", refused) == (-32602, "INVALID_PARAMS")
        assert client.rpc("ListTasks", {"contextId": guess})["tasks"] == []


def test_an_agent_is_open_and_closed_at_the_next_request(bob):
    client = OfficialClient(None, bob)
    found = [client.response("ListTasks").status_code]
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    found.append(client.response("ListTasks").status_code)
    grants.close_to_anyone(Caller.command_line(), bob.agent)
    found.append(client.response("ListTasks").status_code)

    assert found == [401, 200, 401]


@pytest.fixture
def remembered(monkeypatch):
    """Let the process remember agents for the whole test, also on a busy machine."""
    monkeypatch.setattr(official_agents, "KEPT_FOR", 3600)


@pytest.mark.usefixtures("remembered")
def test_only_a_refusal_without_a_key_costs_a_query(bob):
    client = OfficialClient(None, bob)
    client.response("ListTasks")
    refused, _ = queries_of(client)
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    remembered_as_closed, grants_read = queries_of(client)
    official_agents.forget()
    client.response("ListTasks")

    assert refused == 1
    assert queries_of(client) == (remembered_as_closed, grants_read) == (remembered_as_closed, 1)


@pytest.mark.usefixtures("remembered")
def test_a_stranger_beyond_its_rate_costs_no_query(bob, settings):
    settings.A2A_ADDRESS_REQUESTS_PER_S, settings.A2A_ADDRESS_REQUESTS_BURST = 0.001, settings.WEB_WORKERS
    client = OfficialClient(None, bob)
    assert client.response("ListTasks").status_code == 401

    assert (client.response("ListTasks").status_code, queries_of(client)) == (429, (0, 0))


def queries_of(client):
    """Return the numbers of queries of a request, and of those that read grants."""
    with CaptureQueriesContext(connection) as queries:
        client.response("ListTasks")
    found = [
        query["sql"] for query in queries.captured_queries if not query["sql"].startswith(("SAVEPOINT", "RELEASE"))
    ]
    return len(found), sum('FROM "mailbox_capabilitygrant"' in sql for sql in found)


def test_anonymous_requests_have_a_limit_of_their_own(bob, settings):
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    settings.A2A_ANONYMOUS_RATE_LIMIT_PER_MIN = 2 * settings.WEB_WORKERS
    client = OfficialClient(None, bob)
    found = [client.response("ListTasks").status_code for _ in range(3)]

    assert found == [200, 200, 429]


def test_a_wrong_key_is_not_anonymous(bob):
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    client = OfficialClient(None, bob, Authorization="Bearer nonsense")

    assert client.response("ListTasks").status_code == 401


def test_the_extended_card_needs_a_key_and_can_be_off(client, bob):
    assert client.rpc("GetExtendedAgentCard")["name"] == "bob"
    factories.profile(bob, extended_card=False)
    official_agents.forget()
    assert client.error("GetExtendedAgentCard") == (-32004, "UNSUPPORTED_OPERATION")


def test_an_open_agent_without_an_extended_card_says_so_to_callers_without_a_key(bob):
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    client, rest = OfficialClient(None, bob), Api(None, headers={"A2A-Version": "1.0"})
    assert client.response("GetExtendedAgentCard").status_code == 401

    factories.profile(bob, extended_card=False)
    official_agents.forget()
    refused = rest.get(f"/agents/{bob.agent.display}/rest/extendedAgentCard")

    assert client.error("GetExtendedAgentCard") == (-32004, "UNSUPPORTED_OPERATION")
    assert (refused.status_code, refused.json()["error"]["status"]) == (400, "FAILED_PRECONDITION")


def test_a_tenant_names_the_agent_on_the_shared_urls(alice, bob):
    api = Api(alice, headers={"A2A-Version": "1.0"})
    params = {"message": message(), "configuration": NOW, "tenant": bob.agent.display}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
    sent = api.post("/tenants/a2a", body).json()["result"]["task"]

    read = api.get(f"/tenants/rest/{bob.agent.display}/tasks/{sent['id']}")
    assert state(read.json()) == "SUBMITTED"
    for wrong in ({"tenant": ""}, {"tenant": 7}, {}):
        response = api.post("/tenants/a2a", {**body, "params": {**params, "tenant": None, **wrong}})
        assert response.status_code == 404


def test_on_an_agents_own_url_the_tenant_is_that_agent_or_none(client, bob):
    for tenant in ("", bob.agent.display, bob.agent.local):
        assert client.rpc("ListTasks", {"tenant": tenant})["tasks"] == []
    assert client.error("ListTasks", {"tenant": "other"}) == (-32602, "INVALID_PARAMS")


# ---- bugs


def test_a_bug_is_an_internal_error_in_the_shape_of_the_binding(client, rest, monkeypatch, caplog):
    def fails(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("mailbox.inspection.official_tasks.listing", fails)
    rpc, http = client.response("ListTasks"), rest.get("/tasks")

    assert whole(rpc)["error"]["code"] == -32603
    assert (http.status_code, http.json()["error"]["status"]) == (500, "INTERNAL")
    assert "ZeroDivisionError" in caplog.text
