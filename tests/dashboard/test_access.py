"""The page of grants and keys shows who may do what, and never a secret."""

from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.access.agents import grants
from mailbox.access.callers import Role
from mailbox.models import ApiKey
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db

ACCESS = "/ops/access/"


@pytest.fixture
def ada(sign_in):
    return sign_in("ada", Role.ADMIN)


def shown(browser, **query):
    return squeezed(browser.get(ACCESS, query).text)


def test_the_matrix_shows_the_live_capabilities_of_each_agent(vic, alice, bob):
    factories.grant(alice, "a2a.repair.requeue")
    factories.grant(alice, "a2a.send.carol@local", expires_at=timezone.now() - timedelta(hours=1))

    rows = {agent.display: cells for agent, cells in vic.get(ACCESS).context["rows"]}

    assert rows["alice@local"][2][3]
    assert not rows["bob@local"][2][3]
    assert "carol@local" not in shown(vic)


def test_many_targets_of_one_capability_are_counted(vic, alice):
    for number in range(5):
        factories.grant(alice, f"a2a.respond.far{number}@local")

    assert "far0@local" in shown(vic)
    assert "far4@local" not in shown(vic)
    assert "+2" in shown(vic)


def test_grants_are_filtered_by_agent_and_state(vic, alice, bob):
    given = factories.grant(bob, "a2a.compact", scope={"version": 1, "task_id": "x"}, granted_by="user:olga")
    grants.revoke(factories.person("olga", Role.ADMIN), factories.grant(bob, "a2a.repair.requeue").grant_id)

    live, ended = shown(vic, show="grants", agent="bob"), shown(vic, show="grants", agent="bob@local", state="ended")

    assert "a2a.compact" in live
    assert "user:olga" in live
    assert "task_id = x" in live
    assert "alice@local" not in live
    assert "a2a.repair.requeue" not in live
    assert "Revoked" in ended
    assert "a2a grant revoke" not in live
    assert f"a2a grant revoke {given.grant_id}" not in ended


def test_an_admin_sees_the_commands_and_the_keys_without_their_secrets(ada, vic, alice):
    secret = factories.key_of(alice)
    key, grant = ApiKey.objects.get(), factories.grant(alice, "a2a.compact")

    keys = shown(ada, show="keys")

    assert f"a2a key revoke {key.public_id}" in keys
    assert str(key) in keys
    assert secret not in keys
    assert key.digest not in keys
    assert f"a2a grant revoke {grant.grant_id}" in shown(ada, show="grants")
    assert key.public_id not in shown(vic, show="keys")
    assert "API keys need capability a2a.capabilities.grant" in shown(vic, show="keys")


def test_an_expired_key_is_listed_among_the_ended(ada, alice):
    factories.key_of(alice, expires_at=timezone.now() - timedelta(hours=1))
    key = str(ApiKey.objects.get())

    assert key not in shown(ada, show="keys")
    assert key in shown(ada, show="keys", state="ended", agent="alice")
    assert key not in shown(ada, show="keys", state="ended", agent="nobody")


def test_the_roles_of_people_are_shown(vic):
    text = shown(vic, show="people")

    assert "a2a.push.resend" in text
    assert "a2a.views.share" in text
    assert "operator" in text


@pytest.mark.parametrize("query", [{"show": "all"}, {"state": "odd", "show": "grants"}, {"cursor": "x"}])
def test_an_unknown_choice_is_refused(vic, query):
    assert vic.get(ACCESS, query).status_code == 400


@pytest.mark.parametrize("tab", ["agents", "grants", "keys", "people"])
def test_each_tab_needs_few_queries(ada, alice, bob, django_assert_max_num_queries, tab):
    for number in range(20):
        factories.grant(alice, f"a2a.respond.far{number}@local")
        factories.key_of(bob)

    with django_assert_max_num_queries(7):
        ada.get(ACCESS, {"show": tab})
