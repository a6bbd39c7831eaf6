import json
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from mailbox.access.agents import grants
from mailbox.access.callers import Role
from mailbox.access.credentials import keys, public_routes
from mailbox.life import leasing, results, sending, updates
from mailbox.models import AuditEvent, PublicRoute, Task
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words import tokens
from mailbox.words.conversation import Update
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError, UnknownRouteError, WrongPartyError
from mailbox.words.kinds import Kind
from tests.mailbox.dialects.conformance.routes import ROUTES
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]


@pytest.fixture
def route(alice, bob, olga):
    return public_routes.add(olga, alice.agent, rate_limit=1000)


@pytest.fixture
def client():
    return Client(raise_request_exception=False)


def send(client, token, message="hi"):
    return client.post(f"/p/{token}/a2a/tasks/send", json.dumps({"message": message}), content_type="application/json")


def nothing_there(client):
    response = client.get("/nowhere")
    return response.status_code, response.content, response["Content-Type"]


def shown(response):
    return response.status_code, response.content, response["Content-Type"]


def test_a_client_without_a_key_sends_and_polls_as_the_agent_of_its_route(client, route, alice, bob):
    sent = send(client, route.token).json()
    [lease] = leasing.lease_tasks(bob)
    results.post_result(bob, factories.result_envelope(lease.task))
    polled = client.get(f"/p/{route.token}/a2a/tasks/{sent['id']}").json()

    assert lease.task.sender == alice.agent
    assert str(lease.task.uuid) == sent["id"]
    assert polled["state"] == "completed"


def test_several_slashes_after_the_token_count_as_one(client, route):
    response = client.post(
        f"/p/{route.token}//a2a/tasks/send", json.dumps({"message": "hi"}), content_type="application/json"
    )

    assert response.status_code == 200


def test_a_hub_has_no_public_route_at_first(client, alice, bob):
    assert not PublicRoute.objects.exists()
    assert shown(send(client, tokens.mint(tokens.ROUTE).key)) == nothing_there(client)


@pytest.mark.parametrize(
    "path",
    [
        *("/admin/", "/admin/login/", "/api/schema/", "/api/docs/", "/healthz", "/readyz", "/", "", "/nowhere"),
        *("/static/admin/css/base.css", "/p/x/a2a/tasks/send"),
    ],
)
def test_a_path_of_no_dialect_is_404_under_a_route(client, route, path):
    for method in ("GET", "POST"):
        assert shown(client.generic(method, f"/p/{route.token}{path}")) == nothing_there(client)


def test_no_other_routes_are_open_than_sends_reads_of_tasks_and_cards():
    found = {
        f"{method} {one.template}"
        for routes in ROUTES.values()
        for one in routes
        for method in one.view.open_to_routes
        if not one.template.startswith("/example/")
    }

    assert found == {
        *("POST /a2a/tasks/send", "GET /a2a/tasks/{task_id}", "POST /api/agents/{name}/invoke"),
        *("GET /.well-known/agent-card.json", "GET /.well-known/agents/{name}", "GET /.well-known/a2a-agent"),
        *("GET /api/v1/a2a/capabilities", "POST /api/v1/a2a/receive", "POST /api/v1/a2a/tasks"),
        *("POST /api/v1/a2a/peers/local", "GET /api/tasks", "POST /api/tasks", "GET /api/tasks/{task_id}"),
        *("GET /api/v1/tasks", "POST /api/v1/tasks", "GET /api/v1/tasks/{task_id}"),
    }


def test_unknown_revoked_and_malformed_tokens_get_one_answer(client, route, olga):
    public_routes.revoke(olga, route.route.public_id)
    stranger = tokens.mint(tokens.ROUTE).key
    same_public_part = f"{route.token[:-8]}zz{route.token[-6:]}"

    for token in (route.token, stranger, same_public_part, "x", "", factories.key_of(factories.agent("dora"))):
        assert shown(send(client, token)) == nothing_there(client)


def test_a_forged_secret_with_a_good_checksum_is_refused(client, route):
    public, body = route.route.public_id, "x" * 32
    forged = f"p_{public}_{body}"
    forged += f"_{tokens._checksum(forged)}"

    assert tokens.public_id(forged, tokens.ROUTE) == public
    assert shown(send(client, forged)) == nothing_there(client)


def test_a_malformed_token_costs_no_query(client, db):
    with CaptureQueriesContext(connection) as queries:
        send(client, "p_12345678_short_123456")

    assert len(queries) == 0


def test_revocation_acts_on_the_next_request(client, route, olga):
    before = send(client, route.token).status_code

    public_routes.revoke(olga, route.route.public_id)

    assert before == 200
    assert send(client, route.token).status_code == 404


def test_a_route_reads_tasks_that_its_agent_sent_and_no_other_tasks(client, route, alice, bob):
    factories.grant(bob, "a2a.send.*")
    own = factories.sent_task(alice, bob)
    received = factories.sent_task(bob, alice)
    foreign = factories.sent_task(bob, factories.agent("carol"))

    statuses = [client.get(f"/p/{route.token}/a2a/tasks/{task.uuid}").status_code for task in (own, received, foreign)]

    assert statuses == [200, 404, 404]


ACTS = {
    "lease the oldest task": lambda caller, task: leasing.lease_tasks(caller),
    "lease one task": lambda caller, task: leasing.lease_task(caller, task.uuid),
    "release": lambda caller, task: leasing.release(caller, task.uuid, reason="r"),
    "send a heartbeat": lambda caller, task: leasing.heartbeat(caller, task.uuid),
    "post updates": lambda caller, task: updates.post_updates(caller, task.uuid, [Update(progress=0.5)]),
    "post a result": lambda caller, task: results.post_result(caller, factories.result_envelope(task)),
    "drain": lambda caller, task: results.drain_results(caller),
    "acknowledge": lambda caller, task: results.ack_results(caller, [task.uuid]),
    "cancel": lambda caller, task: sending.cancel(caller, task.uuid),
    "requeue": lambda caller, task: repair.requeue(
        caller, task.uuid, reason="r", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED
    ),
    "pass on a grant": lambda caller, task: grants.grant(caller, task.sender, "a2a.send.*"),
    "revoke a grant": lambda caller, task: grants.revoke(caller, uuid4()),
    "add a key": lambda caller, task: keys.add_key(caller, agent=caller.agent),
    "revoke a key": lambda caller, task: keys.revoke_key(caller, "0" * 16),
}


@pytest.mark.parametrize("leased", [False, True], ids=["queued", "leased"])
@pytest.mark.parametrize("act", ACTS)
def test_the_verbs_refuse_a_route_every_act_but_sending(route, alice, bob, act, leased):
    for action in ("a2a.send.*", "a2a.respond.*", "a2a.repair.requeue"):
        factories.grant(alice, action)
    factories.grant(bob, "a2a.send.*")
    received = factories.leased_task(bob, alice).task if leased else factories.sent_task(bob, alice)
    life = factories.life_of(received)

    with pytest.raises(WrongPartyError, match="can only send"):
        ACTS[act](public_routes.caller(route.route, request_id=""), received)

    assert factories.life_of(received) == life


def test_a_key_beside_a_route_changes_nothing(route, mallory, alice):
    client = Client(headers={"Authorization": f"Bearer {factories.key_of(mallory)}"})

    sent = send(client, route.token).json()

    assert Task.objects.get(uuid=sent["id"]).sender == alice.agent


def test_each_route_has_its_own_rate_limit(client, alice, bob, olga, settings):
    settings.A2A_INBOUND_RATE_LIMIT_PER_MIN = 1000
    slow, fast = (public_routes.add(olga, alice.agent, rate_limit=rate) for rate in (2, 100))

    answers = [send(client, slow.token) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 1 <= int(answers[-1]["Retry-After"]) <= 60
    assert send(client, fast.token).status_code == 200


@pytest.mark.parametrize("rate", [0, -1, 1_000_001])
def test_an_invalid_rate_limit_is_refused(olga, alice, rate):
    with pytest.raises(InvalidRequestError):
        public_routes.add(olga, alice.agent, rate_limit=rate)


def test_a_route_is_added_and_revoked_in_the_journal_without_its_token(route, olga, alice):
    public_routes.revoke(olga, route.route.public_id)
    public_routes.revoke(olga, route.route.public_id)

    [added] = factories.journal(Kind.ROUTE_ADDED)
    [revoked] = factories.journal(Kind.ROUTE_REVOKED)
    assert added.fields == {"agent": "alice@local", "public_id": route.route.public_id, "rate_limit": 1000}
    assert (added.actor, revoked.actor) == ("user:olga", "user:olga")
    assert not AuditEvent.objects.filter(data__contains=route.token[11:]).exists()


@pytest.mark.parametrize("role", [Role.VIEWER, None])
def test_only_operators_and_admins_can_add_and_revoke_routes(route, alice, role):
    stranger = alice if role is None else factories.person("vera", role)

    with pytest.raises(CapabilityMissingError):
        public_routes.add(stranger, alice.agent, rate_limit=1)
    with pytest.raises(CapabilityMissingError):
        public_routes.revoke(stranger, route.route.public_id)

    assert PublicRoute.objects.live().count() == 1


def test_an_unknown_route_cannot_be_revoked(olga):
    with pytest.raises(UnknownRouteError, match='No route has the public id "12345678"'):
        public_routes.revoke(olga, "12345678")


def test_a_task_s_journal_names_the_route(client, route):
    sent = send(client, route.token).json()

    event = AuditEvent.objects.of_task(sent["id"]).get()
    assert event.actor == f"alice@local (route {route.route.public_id})"


def test_a_database_out_of_reach_is_503_under_a_route(client, monkeypatch):
    def fail(token):
        raise OperationalError

    monkeypatch.setattr(public_routes, "recognise", fail)

    response = send(client, "x")

    assert response.status_code == 503
    assert response["Retry-After"] == "1"
    assert response.json()["code"] == "unavailable"


def test_use_is_noted_once_a_minute(client, route, time_machine):
    time_machine.move_to("2026-01-01T00:00:00Z", tick=False)
    send(client, route.token)
    first = PublicRoute.objects.get().last_used_at
    time_machine.shift(30)
    send(client, route.token)
    second = PublicRoute.objects.get().last_used_at
    time_machine.shift(31)
    send(client, route.token)

    assert first == second
    assert PublicRoute.objects.get().last_used_at == timezone.now()
