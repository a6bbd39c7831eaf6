import pytest

from mailbox.access.callers import Role
from mailbox.access.limits import own_limits, quota_usage
from mailbox.life import leasing
from mailbox.models import SenderStock
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_people_who_are_no_admins_set_no_quota(alice, role):
    with pytest.raises(CapabilityMissingError):
        own_limits.set_quotas(factories.person("ola", role), alice.agent, {"queued": 1})


def test_an_agent_sets_no_quota_of_its_own(alice):
    with pytest.raises(CapabilityMissingError):
        own_limits.set_quotas(alice, alice.agent, {"queued": 10**6})
    assert not SenderStock.objects.exists()


def test_an_admin_sets_a_quota(alice):
    own_limits.set_quotas(factories.person("ada", Role.ADMIN), alice.agent, {"queued": 1})

    assert SenderStock.objects.get().max_queued == 1


def test_an_unknown_quota_is_refused(alice):
    with pytest.raises(InvalidRequestError, match="the quotas are queued"):
        own_limits.set_quotas(factories.person("ada", Role.ADMIN), alice.agent, {"dreams": 1})


def test_the_use_of_each_quota_is_counted(alice, bob):
    for _ in range(3):
        factories.sent_task(alice, bob)
    leasing.lease_tasks(bob)

    used = {usage.name: usage.used for usage in quota_usage.usage_of(factories.row_of(alice), cards=2)}

    size = 3 * len("summarise the report{}")
    expected = {"queued": 2, "bytes": size, "callbacks": 0, "waits": 0, "cards": 2, "requests_per_s": None}
    assert used == expected


def test_one_wrong_quota_leaves_the_others_as_they_are(alice):
    with pytest.raises(InvalidRequestError, match="between 0"):
        own_limits.set_quotas(factories.person("ada", Role.ADMIN), alice.agent, {"queued": 1, "waits": -1})
    assert not SenderStock.objects.exists()


@pytest.mark.parametrize(("used", "limit", "percent"), [(0, 3, 0), (1, 3, 34), (2, 2, 100), (9, 2, 100), (0, 0, 100)])
def test_a_used_share_is_rounded_up(used, limit, percent):
    assert quota_usage.Usage(name="queued", used=used, limit=limit, is_own=False).percent == percent


@pytest.mark.django_db(transaction=True)
def test_tasks_and_callbacks_that_have_ended_fill_no_quota(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = settings.A2A_QUOTA_CALLBACKS = 4
    agent = factories.row_of(alice)
    factories.sent_task(alice, bob)
    SenderStock.objects.update(queued=4, callbacks=4)

    assert quota_usage.fullest([agent]) == {agent.pk: 25}
    assert {usage.name: usage.used for usage in quota_usage.usage_of(agent, cards=0)}["callbacks"] == 0
    for _ in range(3):
        factories.sent_task(alice, bob)
    assert quota_usage.fullest([agent]) == {agent.pk: 100}


def test_the_fullest_stock_of_an_agent_is_its_share(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED, settings.A2A_QUOTA_BYTES = 4, 10**6
    factories.sent_task(alice, bob)

    assert quota_usage.fullest([factories.row_of(alice), factories.row_of(bob)]) == {factories.row_of(alice).pk: 25}
