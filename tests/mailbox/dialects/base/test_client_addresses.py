"""The network address of a client stands in every journal row of its requests, and only people read it."""

import json

import pytest
from django.test import Client

from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import authentication, public_routes
from mailbox.dialects.base.view import PREFIX
from mailbox.life import leasing, results
from mailbox.models import AuditEvent
from mailbox.words.kinds import Kind
from tests.dashboard.admin.test_admin import staff_client
from tests.dashboard.conftest import fields_of
from tests.support import factories
from tests.support.api import Api, task_to

pytestmark = pytest.mark.django_db

ADDRESS = "2001:db8::7"


def addresses(kind: str | None = None) -> set[str]:
    rows = AuditEvent.objects.filter(kind=kind) if kind else AuditEvent.objects.all()
    return set(rows.values_list("address", flat=True))


@pytest.fixture
def seen(alice, bob):
    """The journal has one send from `ADDRESS`, with its check."""
    Api(alice).call("POST", "/a2a/tasks", task_to(bob), REMOTE_ADDR=ADDRESS)
    return AuditEvent.objects.get(kind=Kind.TASK_SENT)


def test_an_agents_whole_task_is_journalled_with_its_addresses(alice, bob):
    task_id = Api(alice).call("POST", "/a2a/tasks", task_to(bob), REMOTE_ADDR="192.0.2.1").json()["task_id"]
    Api(bob).call("GET", "/a2a/tasks/next", REMOTE_ADDR="192.0.2.2")
    Api(bob).call("POST", "/a2a/results", {"task_id": task_id, "status": "ok"}, REMOTE_ADDR="192.0.2.3")
    Api(alice).call("GET", "/a2a/results/next", REMOTE_ADDR="192.0.2.4")

    life = AuditEvent.objects.of_task(task_id).values_list("kind", "address")
    assert list(life) == [
        (Kind.TASK_SENT, "192.0.2.1"),
        (Kind.TASK_LEASED, "192.0.2.2"),
        (Kind.RESULT_POSTED, "192.0.2.3"),
        (Kind.RESULT_DELIVERED, "192.0.2.4"),
    ]


def test_a_refusal_is_journalled_with_the_address(mallory, bob):
    assert Api(mallory).call("POST", "/a2a/tasks", task_to(bob), REMOTE_ADDR=ADDRESS).status_code == 403

    assert addresses(Kind.CAPABILITY_CHECK) == {ADDRESS}


def test_counted_failures_are_journalled_with_the_newest_address(alice):
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.3"):
        Api().call("GET", "/a2a/agents", REMOTE_ADDR=address)
    authentication._failures["missing"].noted_at = float("-inf")
    Api(alice).get("/a2a/agents")

    rows = AuditEvent.objects.filter(kind=Kind.AUTHENTICATION_FAILED).order_by("pk")
    assert [(row.fields["count"], row.address) for row in rows] == [(1, "192.0.2.1"), (2, "192.0.2.3")]


@pytest.mark.usefixtures("default_agent")
def test_a_request_by_a_public_route_is_journalled_with_its_address(alice, olga):
    route = public_routes.add(olga, alice.agent, rate_limit=100)
    sent = Client(REMOTE_ADDR=ADDRESS).post(
        f"{PREFIX}{route.token}/a2a/tasks/send", json.dumps({"message": "hi"}), content_type="application/json"
    )

    assert AuditEvent.objects.of_task(sent.json()["id"]).get().address == ADDRESS


def test_callers_without_a_network_have_no_address(alice, bob):
    trusted = Caller.command_line(alice.agent)
    task = factories.sent_task(trusted, bob)
    leasing.lease_tasks(Caller.local(bob.agent))
    results.post_result(Caller.local(bob.agent), factories.result_envelope(task))
    results.drain_results(trusted)

    assert addresses() == {""}


def test_an_act_on_the_dashboard_is_journalled_with_its_address(bob):
    client, path = staff_client("operator", "olga"), f"/ops/agents/{bob.name}/"
    client.post(path, {**fields_of(client.get(path)), "reason": "it hangs"}, REMOTE_ADDR=ADDRESS)

    assert addresses(Kind.AGENT_PAUSED) == {ADDRESS}


def test_a_change_in_the_admin_is_journalled_with_its_address():
    client = staff_client("admin")
    form = {"name": "grep", "description": "Finds text", "parameters": "{}", "tags": "[]", "is_default": ""}
    client.post("/admin/agentcards/tool/add/", form, REMOTE_ADDR=ADDRESS)

    assert addresses(Kind.TOOL_CHANGED) == {ADDRESS}


def test_people_read_addresses_in_the_api_and_agents_do_not(seen, alice, bob):
    path = f"/a2a/tasks/{seen.task_id}/timeline"
    of_person = Api(factories.person("vera", Role.VIEWER)).get("/audit/recent").json()["events"]
    own = Api(alice).get(path).json()["events"]
    others = Api(bob).get(path).json()["events"]

    assert {event["address"] for event in of_person} == {ADDRESS}
    assert own
    assert others
    assert not any("address" in event for event in [*own, *others])


def test_people_read_and_search_addresses_on_the_dashboard_and_in_the_admin(seen, alice, bob):
    factories.sent_task(alice, bob)
    client = staff_client("viewer")
    export = client.get("/ops/audit.jsonl", {"q": f'address:"{ADDRESS}"'})

    assert ADDRESS in client.get(f"/ops/audit/{seen.pk}/").content.decode()
    assert ADDRESS in client.get("/ops/audit/").content.decode()
    assert ADDRESS in client.get("/admin/mailbox/auditevent/").content.decode()
    assert [json.loads(line)["address"] for line in b"".join(export.streaming_content).decode().splitlines()] == [
        ADDRESS,
        ADDRESS,
    ]
