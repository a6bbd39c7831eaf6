from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from mailbox.access import capabilities, requests
from mailbox.access.callers import Caller, Role
from mailbox.access.requests import Action, Request
from mailbox.words.envelopes import AgentRef
from mailbox.words.errors import CapabilityMissingError, CapabilityScopeMismatchError, InvalidRequestError
from tests.support import factories
from tests.support.chance import MOMENT

pytestmark = pytest.mark.django_db


def check(caller, verb="a2a.send", target=None, **fields):
    return capabilities.require(caller, Request(verb=verb, scope_id="test", target=target, **fields), timezone.now())


@pytest.mark.parametrize(
    "action",
    [
        "a2a.send.*",
        "a2a.send.research@local",
        "a2a.respond.*",
        "a2a.respond.8sVtGnoJ9WexsQ9hxgCkb3xTtckT2bPuGYdx5xdZ33w5",
        "a2a.send.a.b@c.d",
        "a2a.repair.requeue",
        "a2a.repair.force_error",
        "a2a.compact",
        "a2a.agents.register",
    ],
)
def test_a_known_action_keeps_its_spelling(action):
    assert str(Action.parse(action)) == action


@pytest.mark.parametrize(
    "action",
    [
        "",
        "a2a",
        "a2a.send",
        "a2a.send.",
        "a2a.send.**",
        "a2a.send.res*",
        "a2a.send.*@local",
        "a2a.send.re search",
        "a2a.sendx.*",
        "a2a.*",
        "*",
        "A2A.send.*",
        "a2a.send.a@b ",
        "a2a.repair",
        "a2a.repair.*",
        "a2a.repair.requeue.x",
        "a2a.capabilities.grant",
        "a2a.replay.drop",
    ],
)
def test_an_unknown_action_is_refused(action):
    with pytest.raises(InvalidRequestError) as refusal:
        Action.parse(action)

    assert list(refusal.value.fields) == ["action"]


@pytest.mark.parametrize("form", ["display", "pubkey", "*"])
def test_a_target_is_matched_by_display_by_key_or_by_the_star(mallory, bob, form):
    name = form if form == "*" else getattr(bob.agent, form)
    grant = factories.grant(mallory, f"a2a.send.{name}")

    permit = check(mallory, target=bob.agent)

    assert permit.grant == grant
    assert permit.check.data["authorized_by"][0]["action"] == f"a2a.send.{name}"


@pytest.mark.parametrize(
    "action",
    [
        "a2a.send.bob",
        "a2a.send.bob@loca",
        "a2a.send.bob@local2",
        "a2a.send.bob@local.example",
        "a2a.send.BOB@local",
        "a2a.send.bo@local",
        "a2a.send",
        "a2a.send.",
        "a2a.respond.bob@local",
        "a2a.respond.*",
    ],
)
def test_actions_are_compared_by_segment_never_by_prefix(mallory, bob, action):
    factories.grant(mallory, action)

    with pytest.raises(CapabilityMissingError):
        check(mallory, target=bob.agent)


def test_an_action_without_a_target_is_compared_whole(mallory):
    factories.grant(mallory, "a2a.repair.requeue")

    check(mallory, "a2a.repair.requeue")
    with pytest.raises(CapabilityMissingError):
        check(mallory, "a2a.repair")


def test_a_target_without_a_key_matches_no_grant_for_a_key(mallory):
    factories.grant(mallory, "a2a.send.None")

    with pytest.raises(CapabilityMissingError):
        check(mallory, target=AgentRef("ghost@local"))


def test_grants_of_other_agents_do_not_count(mallory, alice, bob):
    with pytest.raises(CapabilityMissingError):
        check(mallory, target=bob.agent)


def test_any_one_matching_grant_suffices(mallory, bob):
    factories.grant(mallory, "a2a.send.*", scope={"version": 1, "task_id": str(uuid4())})
    fitting = factories.grant(mallory, "a2a.send.bob@local")

    assert check(mallory, target=bob.agent).grant == fitting


def test_an_uncounted_grant_is_used_before_a_counted_one(mallory, bob):
    factories.grant(mallory, "a2a.send.*", max_uses=1)
    uncounted = factories.grant(mallory, "a2a.send.*")

    assert check(mallory, target=bob.agent).grant == uncounted


@pytest.mark.parametrize(("age", "holds"), [(timedelta(seconds=-60), False), (timedelta(seconds=60), True)])
def test_a_grant_ends_with_its_expiry(mallory, bob, age, holds):
    factories.grant(mallory, "a2a.send.*", expires_at=timezone.now() + age)

    if holds:
        check(mallory, target=bob.agent)
    else:
        with pytest.raises(CapabilityMissingError):
            check(mallory, target=bob.agent)


def test_a_grant_holds_at_the_very_instant_of_its_expiry(mallory, bob):
    now = timezone.now()
    factories.grant(mallory, "a2a.send.*", expires_at=now)

    capabilities.require(mallory, Request(verb="a2a.send", scope_id="test", target=bob.agent), now)


def test_a_grant_without_uses_left_is_not_used(mallory, bob):
    factories.grant(mallory, "a2a.send.*", max_uses=2, uses=2)

    with pytest.raises(CapabilityMissingError):
        check(mallory, target=bob.agent)


def test_each_use_is_counted_until_none_is_left(mallory, bob):
    grant = factories.grant(mallory, "a2a.send.*", max_uses=2)

    for _ in range(2):
        factories.sent_task(mallory, bob)
    with pytest.raises(CapabilityMissingError):
        factories.sent_task(mallory, bob)

    grant.refresh_from_db()
    assert grant.uses == 2


@pytest.mark.parametrize(
    "ended",
    [{"uses": 1}, {"revoked_at": MOMENT}, {"expires_at": MOMENT - timedelta(days=1)}],
    ids=["used up", "revoked", "expired"],
)
def test_a_grant_that_ended_after_its_check_is_not_used(mallory, bob, ended):
    grant = factories.grant(mallory, "a2a.send.*", max_uses=1)
    request = Request(verb="a2a.send", scope_id="test", target=bob.agent, task_id=uuid4())
    permit = capabilities.require(mallory, request, timezone.now())
    type(grant).objects.update(**ended)

    with pytest.raises(CapabilityMissingError, match="was used up, was revoked or has expired") as refusal:
        permit.use(request, timezone.now())

    entry = refusal.value.entry
    assert entry is not None
    assert (entry.row_kind, entry.task_id, entry.data["passed"]) == ("capability_check", request.task_id, False)


def test_an_unknown_scope_field_admits_no_request(mallory, bob):
    factories.grant(mallory, "a2a.send.*", scope={"version": 1, "host": "local"})

    with pytest.raises(CapabilityScopeMismatchError):
        check(mallory, target=bob.agent)


@pytest.mark.parametrize("scope", [{}, {"version": 1}])
def test_an_empty_scope_admits_every_request(mallory, bob, scope):
    factories.grant(mallory, "a2a.send.*", scope=scope)

    check(mallory, target=bob.agent, task_id=uuid4())


def test_a_grant_pinned_to_a_peer_admits_sends_to_that_recipient_alone(mallory, alice, bob):
    factories.grant(mallory, "a2a.send.*", scope={"version": 1, "peer_pubkey_b58": bob.agent.pubkey})

    factories.sent_task(mallory, bob)
    with pytest.raises(CapabilityScopeMismatchError):
        factories.sent_task(mallory, alice)


@pytest.mark.parametrize(
    ("role", "held"),
    [
        (Role.VIEWER, set()),
        (Role.OPERATOR, {"a2a.send", "a2a.repair.requeue", "a2a.repair.force_error", "a2a.replay.drop"}),
        (
            Role.ADMIN,
            {
                "a2a.send",
                "a2a.repair.requeue",
                "a2a.repair.force_error",
                "a2a.replay.drop",
                "a2a.compact",
                "a2a.agents.register",
                "a2a.capabilities.grant",
            },
        ),
    ],
)
def test_a_role_holds_its_actions_and_no_others(role, held):
    person = factories.person("pat", role)

    for verb in {*requests.GRANTABLE, *requests.TARGETED, requests.GRANT, requests.DROP_REPLAY}:
        if verb in held:
            assert check(person, verb).check.data["authorized_by"][0]["granted_by_display"] == f"role:{role}"
        else:
            with pytest.raises(CapabilityMissingError):
                check(person, verb)


def test_a_person_without_a_role_holds_nothing():
    with pytest.raises(CapabilityMissingError):
        check(factories.person("pat", None), "a2a.compact")


def test_a_local_caller_needs_no_grant_and_is_recorded_as_trusted(bob):
    permit = check(Caller.command_line(), "a2a.compact")

    assert permit.check.data["authorized_by"][0]["granted_by_display"] == "local trust"
    assert permit.check.data["passed"] is True
