from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from mailbox.access.agents import grants
from mailbox.access.callers import Caller, Role
from mailbox.models import CapabilityGrant
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError, UnknownAgentError, UnknownGrantError
from tests.support import factories
from tests.support.chance import MOMENT

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin():
    return factories.person("ada", Role.ADMIN)


def test_a_grant_is_stored_as_given_and_journalled(admin, mallory):
    scope = {"version": 1, "task_id": str(uuid4())}
    expires_at = timezone.now() + timedelta(days=1)

    made = grants.grant(admin, mallory.agent, "a2a.send.*", scope=scope, expires_at=expires_at, max_uses=3)

    made.refresh_from_db()
    assert (made.subject, made.action, made.granted_by) == (mallory.agent, "a2a.send.*", "user:ada")
    assert (made.expires_at, made.max_uses, made.uses) == (expires_at, 3, 0)
    assert made.pins == {"task_id": scope["task_id"]}
    assert factories.last_event().kind == "capability_granted"
    assert factories.last_event().fields == {
        "grant_id": str(made.grant_id),
        "subject_display": "mallory@local",
        "action": "a2a.send.*",
        "scope": scope,
        "granted_by_display": "user:ada",
    }
    (check,) = factories.journal("capability_check")
    assert check.fields["agent_id"] == "a2a-grant:mallory@local"


def test_the_command_line_grants_as_the_system_user(mallory):
    made = grants.grant(Caller.command_line(), mallory.agent, "a2a.compact")

    assert made.granted_by.startswith("cli:")


def test_a_bare_name_in_an_action_gets_its_host(admin, mallory, bob):
    assert grants.grant(admin, mallory.agent, "a2a.send.bob").action == "a2a.send.bob@local"

    with pytest.raises(UnknownAgentError, match='No agent named "nobody" is registered'):
        grants.grant(admin, mallory.agent, "a2a.send.nobody")
    for host in ("far", "elsewhere"):
        factories.AgentFactory.create(display=f"ben@{host}")
    with pytest.raises(UnknownAgentError, match='"ben" is ambiguous: ben@elsewhere, ben@far'):
        grants.grant(admin, mallory.agent, "a2a.send.ben")


def test_only_admins_can_grant(mallory, alice, olga):
    for caller in (olga, alice, factories.person("vera", Role.VIEWER)):
        with pytest.raises(CapabilityMissingError):
            grants.grant(caller, mallory.agent, "a2a.repair.requeue")
        assert factories.last_event().fields["passed"] is False

    assert not CapabilityGrant.objects.filter(subject=mallory.agent).exists()


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"action": "a2a.everything"}, "action"),
        ({"scope": {"duplicate_risk": "idempotent"}}, "scope.version"),
        ({"scope": {"version": 2}}, "scope.version"),
        ({"scope": {"version": 1, "host": "x"}}, "scope.host"),
        ({"scope": {"version": 1, "task_id": 7}}, "scope.task_id"),
        ({"scope": {"version": 1, "task_id": None}}, "scope.task_id"),
        ({"scope": {"version": 1, "duplicate_risk": "maybe"}}, "scope.duplicate_risk"),
        ({"max_uses": 0}, "max_uses"),
        ({"max_uses": 2**31}, "max_uses"),
    ],
)
def test_an_invalid_grant_is_refused_with_its_field(admin, mallory, fields, path):
    with pytest.raises(InvalidRequestError) as refusal:
        grants.grant(admin, mallory.agent, **{"action": "a2a.send.*", **fields})

    assert list(refusal.value.fields) == [path]
    assert not CapabilityGrant.objects.exists()


@pytest.mark.parametrize("name", ["task_id", "lease_id"])
def test_a_pinned_id_is_stored_in_lower_case(admin, mallory, name):
    task_id = uuid4()

    made = grants.grant(admin, mallory.agent, "a2a.send.*", scope={"version": 1, name: str(task_id).upper()})

    assert made.pins == {name: str(task_id)}


@pytest.mark.parametrize("name", ["task_id", "lease_id", "peer_pubkey_b58"])
def test_a_pin_that_no_request_can_match_is_refused(admin, mallory, name):
    with pytest.raises(InvalidRequestError) as refusal:
        grants.grant(admin, mallory.agent, "a2a.send.*", scope={"version": 1, name: "x"})

    assert list(refusal.value.fields) == [f"scope.{name}"]


@pytest.mark.parametrize(
    ("held", "passed_on"),
    [
        ({"action": "a2a.send.*"}, {"action": "a2a.send.bob@local"}),
        ({"action": "a2a.send.bob@local"}, {"action": "a2a.send.bob@local", "max_uses": 1}),
        ({"action": "a2a.repair.requeue"}, {"action": "a2a.repair.requeue"}),
        (
            {"action": "a2a.compact", "expires_at": MOMENT + timedelta(days=2)},
            {"action": "a2a.compact", "expires_at": MOMENT + timedelta(days=1)},
        ),
        (
            {"action": "a2a.send.*", "scope": {"version": 1, "duplicate_risk": "idempotent"}},
            {"action": "a2a.send.*", "scope": {"version": 1, "duplicate_risk": "idempotent", "task_id": str(uuid4())}},
        ),
    ],
)
def test_an_agent_can_pass_on_a_grant_as_wide_as_its_own(mallory, held, passed_on):
    carol = factories.agent("carol")
    own = factories.grant(carol, **held)

    made = grants.grant(carol, mallory.agent, **passed_on)

    assert (made.passed_on_from, made.granted_by) == (own, "carol@local")
    assert factories.last_event().kind == "capability_granted"


@pytest.mark.parametrize(
    ("held", "passed_on"),
    [
        ({"action": "a2a.send.bob@local"}, {"action": "a2a.send.*"}),
        ({"action": "a2a.send.bob@local"}, {"action": "a2a.send.bobby@local"}),
        ({"action": "a2a.send.*"}, {"action": "a2a.respond.*"}),
        ({"action": "a2a.repair.requeue"}, {"action": "a2a.repair.force_error"}),
        ({"action": "a2a.send.*", "expires_at": MOMENT + timedelta(days=1)}, {"action": "a2a.send.*"}),
        (
            {"action": "a2a.send.*", "expires_at": MOMENT + timedelta(days=1)},
            {"action": "a2a.send.*", "expires_at": MOMENT + timedelta(days=2)},
        ),
        ({"action": "a2a.send.*", "scope": {"version": 1, "duplicate_risk": "idempotent"}}, {"action": "a2a.send.*"}),
        ({"action": "a2a.send.*", "revoked_at": MOMENT}, {"action": "a2a.send.*"}),
    ],
)
def test_an_agent_cannot_pass_on_a_wider_grant(mallory, held, passed_on):
    carol = factories.agent("carol")
    factories.grant(carol, **held)

    with pytest.raises(CapabilityMissingError, match="requires capability"):
        grants.grant(carol, mallory.agent, **passed_on)

    assert not CapabilityGrant.objects.filter(subject=mallory.agent).exists()


def test_an_agent_cannot_pass_on_a_grant_with_a_number_of_uses(mallory):
    carol = factories.agent("carol")
    factories.grant(carol, "a2a.send.*", max_uses=5)

    with pytest.raises(CapabilityMissingError) as refusal:
        grants.grant(carol, mallory.agent, "a2a.send.*", max_uses=1)

    assert refusal.value.message == "A grant with a number of uses cannot be passed on."
    assert factories.last_event().kind == "capability_check"
    assert factories.last_event().fields["missing_actions"] == ["a2a.capabilities.grant"]
    assert not CapabilityGrant.objects.filter(subject=mallory.agent).exists()


def test_a_revoked_grant_admits_nothing_and_is_journalled(admin, alice, bob):
    grant = CapabilityGrant.objects.get(subject=alice.agent)

    revoked = grants.revoke(admin, grant.grant_id)

    assert revoked.revoked_at is not None
    assert factories.last_event().kind == "capability_revoked"
    assert factories.last_event().fields == {
        "grant_id": str(grant.grant_id),
        "subject_display": "alice@local",
        "action": "a2a.send.*",
    }
    with pytest.raises(CapabilityMissingError):
        factories.sent_task(alice, bob)


def test_revoking_twice_changes_nothing(admin, alice):
    grant = CapabilityGrant.objects.get(subject=alice.agent)
    first = grants.revoke(admin, grant.grant_id)

    second = grants.revoke(admin, grant.grant_id)

    assert second.revoked_at == first.revoked_at
    assert len(factories.journal("capability_revoked")) == 1


def test_a_passed_on_grant_ends_with_its_source(admin, mallory):
    carol, dave = factories.agent("carol"), factories.agent("dave")
    own = factories.grant(carol, "a2a.send.*")
    second = grants.grant(carol, factories.row_of(dave), "a2a.send.*")
    third = grants.grant(dave, factories.row_of(mallory), "a2a.send.carol@local")

    grants.revoke(admin, own.grant_id)

    assert not CapabilityGrant.objects.filter(revoked_at=None).exists()
    fallen = [event.fields["grant_id"] for event in factories.journal("capability_revoked")]
    assert fallen == [str(grant.grant_id) for grant in (own, second, third)]


def test_an_agent_can_revoke_a_grant_that_it_passed_on(mallory):
    carol = factories.agent("carol", "a2a.send.*")
    made = grants.grant(carol, mallory.agent, "a2a.send.bob@local")

    grants.revoke(carol, made.grant_id)

    made.refresh_from_db()
    assert made.revoked_at is not None
    assert CapabilityGrant.objects.get(subject=carol.agent).revoked_at is None


def test_a_holder_cannot_revoke_its_own_grant(alice):
    grant = CapabilityGrant.objects.get(subject=alice.agent)

    with pytest.raises(CapabilityMissingError):
        grants.revoke(alice, grant.grant_id)

    grant.refresh_from_db()
    assert grant.revoked_at is None


def test_operators_and_viewers_cannot_revoke_grants(alice, olga):
    grant = CapabilityGrant.objects.get(subject=alice.agent)

    with pytest.raises(CapabilityMissingError):
        grants.revoke(olga, grant.grant_id)

    grant.refresh_from_db()
    assert grant.revoked_at is None


def test_absent_and_foreign_grants_look_alike(alice, mallory):
    foreign = CapabilityGrant.objects.get(subject=alice.agent).grant_id

    for grant_id in (uuid4(), foreign):
        with pytest.raises(UnknownGrantError) as refusal:
            grants.revoke(mallory, grant_id)
        assert refusal.value.message == f"No grant has the id {grant_id}."
