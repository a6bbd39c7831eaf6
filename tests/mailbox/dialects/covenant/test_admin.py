from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.access.callers import Role
from mailbox.models import Agent, ApiKey, CapabilityGrant, Lease
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.api import Api, error_of, task_to

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin():
    return Api(factories.person("ada", Role.ADMIN))


@pytest.fixture
def viewer():
    return Api(factories.person("vera", Role.VIEWER))


def test_an_agent_registered_over_the_api_can_send_once_it_is_granted_to(admin, bob):
    made = admin.post("/a2a/agents", {"display": "research"}).json()
    api = Api(headers={"Authorization": f"Bearer {made['api_key']}"})
    assert error_of(api.post("/a2a/tasks", task_to(bob))) == (403, "capability_missing")

    granted = admin.post("/capabilities/grant", {"subject": "research", "action": "a2a.send.bob@local"})

    assert made["kind"] == "a2a_agent"
    assert made["agent"]["display"] == "research@local"
    assert made["private_key"]
    assert granted.json() == {
        "kind": "capability_granted",
        "grant_id": str(CapabilityGrant.objects.get(subject__local="research").grant_id),
        "subject_display": "research@local",
        "action": "a2a.send.bob@local",
    }
    assert api.post("/a2a/tasks", task_to(bob)).status_code == 200


def test_an_agent_registered_with_its_key_gets_no_private_key(admin):
    pubkey = factories.some_pubkey()

    made = admin.post("/a2a/agents", {"display": "research", "pubkey": pubkey}).json()

    assert (made["agent"]["pubkey"], made["private_key"]) == (pubkey, None)


@pytest.mark.parametrize(
    "body", [{}, {"display": "a b"}, {"display": 7}, {"display": "a", "pubkey": "x"}, {"name": "a"}]
)
def test_an_invalid_agent_is_refused(admin, body):
    assert error_of(admin.post("/a2a/agents", body)) == (400, "invalid_request")
    assert not Agent.objects.exists()


def test_a_grant_can_be_scoped_counted_and_limited_in_time(admin, alice, bob):
    soon = epoch_ms(timezone.now() + timedelta(hours=1))
    scope = {"version": 1, "peer_pubkey_b58": bob.agent.pubkey}

    answer = admin.post(
        "/capabilities/grant",
        {
            "subject": {"display": "alice@local", "pubkey": alice.agent.pubkey},
            "action": "a2a.respond.*",
            "scope": scope,
            "expires_at": soon,
            "max_uses": 3,
        },
    )

    listed = admin.get("/capabilities/recent", limit=1).json()["capabilities"][0]
    assert listed["grant_id"] == answer.json()["grant_id"]
    assert (listed["scope"], listed["expires_at"], listed["max_uses"], listed["uses"]) == (scope, soon, 3, 0)
    assert (listed["granted_by"], listed["revoked_at_ms"]) == ("user:ada", None)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"subject": 7}, "subject"),
        ({"action": "a2a.everything"}, "action"),
        ({"action": 7}, "action"),
        ({"scope": {"host": "x"}}, "scope.version"),
        ({"scope": []}, "scope"),
        ({"scope": {"version": True}}, "scope.version"),
        ({"max_uses": 0}, "max_uses"),
        ({"max_uses": 2**31}, "max_uses"),
        ({"max_uses": "1"}, "max_uses"),
        ({"expires_at": -1}, "expires_at"),
        ({"expires_at": 5}, "expires_at"),
        ({"expires_at": 253_402_300_800_000}, "expires_at"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"until": 1}, "until"),
    ],
)
def test_an_invalid_grant_is_refused_with_its_field(admin, alice, fields, field):
    before = CapabilityGrant.objects.count()

    answer = admin.post("/capabilities/grant", {"subject": "alice", "action": "a2a.send.*", **fields})

    assert error_of(answer) == (400, "invalid_request")
    assert field in answer.json()["fields"]
    assert CapabilityGrant.objects.count() == before


def test_a_revocation_acts_on_the_next_request(admin, alice, bob):
    api = Api(alice)
    assert api.post("/a2a/tasks", task_to(bob)).status_code == 200
    grant = CapabilityGrant.objects.get(subject=alice.agent)

    answer = admin.post("/capabilities/revoke", {"grant_id": str(grant.grant_id)})

    grant.refresh_from_db()
    assert answer.json() == {
        "kind": "capability_revoked",
        "grant_id": str(grant.grant_id),
        "revoked_at_ms": grant.revoked_at and epoch_ms(grant.revoked_at),
    }
    assert error_of(api.post("/a2a/tasks", task_to(bob))) == (403, "capability_missing")


def test_the_journal_is_read_from_a_given_time(admin, alice, bob):
    factories.sent_task(alice, bob)
    events = admin.get("/audit/recent").json()["events"]
    newest = events[0]["at_ms"]

    assert admin.get("/audit/recent", since_ms=0).json()["events"] == events
    later = admin.get("/audit/recent", since_ms=newest + 1).json()
    assert (later["events"], later["next_cursor"]) == ([], None)


def changes(lease):
    """Return every call that changes something, made well enough to be refused for the caller's sake only."""
    task_id, grant_id = str(lease.task.uuid), str(CapabilityGrant.objects.all()[0].grant_id)
    return {
        "/a2a/agents": {"display": "research"},
        "/a2a/agents/bob/pause": {"reason": "r"},
        "/a2a/agents/bob/resume": {"reason": "r"},
        "/a2a/keys": {"agent": "bob"},
        "/a2a/keys/revoke": {"public_id": ApiKey.objects.all()[0].public_id},
        "/a2a/compact": {},
        "/a2a/repair": {
            "task_id": task_id,
            "command": {"action": "requeue", "duplicate_risk": "operator_accepted"},
            "reason": "r",
        },
        "/a2a/results": {"task_id": task_id, "status": "ok"},
        "/a2a/results/ack": {"task_ids": [task_id]},
        "/a2a/results/next": {},
        "/a2a/retry-stale": {"enabled": True, "min_lease_age_ms": 0},
        "/a2a/tasks": {"recipient": "bob", "intent_text": "x"},
        "/a2a/tasks/next": {},
        f"/a2a/tasks/{task_id}/cancel": {},
        f"/a2a/tasks/{task_id}/heartbeat": {},
        f"/a2a/tasks/{task_id}/release": {"reason": "r"},
        "/capabilities/grant": {"subject": "bob", "action": "a2a.compact"},
        "/capabilities/revoke": {"grant_id": grant_id},
    }


def everything_stored():
    return [
        list(rows)
        for rows in (
            Agent.objects.order_by("pk").values("display", "paused_at"),
            ApiKey.objects.order_by("pk").values("public_id", "revoked_at"),
            CapabilityGrant.objects.order_by("pk").values("grant_id", "revoked_at"),
            Lease.objects.order_by("pk").values(),
            Lease.objects.order_by("pk").values("task__state", "task__journal_seq"),
        )
    ]


def test_a_viewer_cannot_change_anything(viewer, alice, bob):
    lease = factories.leased_task(alice, bob)
    before = everything_stored()

    answers = {path: error_of(viewer.post(path, body)) for path, body in changes(lease).items()}

    assert {status for status, _ in answers.values()} <= {403, 404}, answers
    assert everything_stored() == before


def test_an_operator_can_pause_repair_and_retry_alone(alice, bob, olga):
    lease = factories.leased_task(alice, bob)
    operator = Api(olga)
    allowed = {"/a2a/agents/bob/pause", "/a2a/agents/bob/resume", "/a2a/repair", "/a2a/retry-stale"}

    answers = {path: operator.post(path, body).status_code for path, body in changes(lease).items()}

    assert {path for path, status in answers.items() if status == 200} == allowed


@pytest.mark.parametrize("route", ["/a2a/queue", "/a2a/status", "/a2a/leases", "/a2a/agents", "/audit/recent"])
def test_a_viewer_reads_every_list(viewer, alice, bob, route):
    factories.leased_task(alice, bob)

    assert viewer.get(route).status_code == 200


def test_the_journal_is_read_newest_first(admin, alice, bob):
    task = factories.sent_task(alice, bob)

    events = admin.get("/audit/recent").json()["events"]

    assert [event["kind"] for event in events] == ["a2a_task_sent", "capability_check"]
    assert (events[0]["task_id"], events[0]["seq"], events[1]["seq"]) == (str(task.uuid), 1, None)
    assert events[1]["data"]["passed"] is True


def test_an_agent_without_grants_lists_all_agents(alice, mallory):
    assert Api(mallory).get("/a2a/agents").json() == {
        "kind": "a2a_agents",
        "agents": [
            {"display": "alice@local", "pubkey": alice.agent.pubkey},
            {"display": "mallory@local", "pubkey": mallory.agent.pubkey},
        ],
        "next_cursor": None,
    }
