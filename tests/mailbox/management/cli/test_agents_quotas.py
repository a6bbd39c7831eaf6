import pytest
from django.core.management.base import CommandError

from mailbox.models import PairStock, SenderStock
from tests.support import factories


def test_an_agent_s_quotas_are_shown_with_their_use(a2a, a2a_json, cast):
    shown = {one["quota"]: one for one in a2a_json("quotas", "show", "alice", "--json")["quotas"]}

    assert list(shown) == ["queued", "bytes", "callbacks", "waits", "cards", "requests_per_s"]
    assert shown["queued"] == {"quota": "queued", "recipient": None, "used": 0, "limit": 10_000, "is_own": False}
    assert shown["requests_per_s"]["used"] is None
    assert a2a("quotas", "show", "alice").splitlines()[0].split() == [
        *("queued", "tasks", "it", "sent", "0", "of", "10000", "the", "setting")
    ]


def test_an_agent_gets_quotas_of_its_own_and_the_settings_again(a2a, cast):
    lines = a2a("quotas", "set", "alice", "--queued", 5, "--bytes", 7, "--requests-per-s", 0).splitlines()

    stock = SenderStock.objects.get()
    assert (stock.max_queued, stock.max_size, stock.max_requests_per_s, stock.max_waits) == (5, 7, 0, None)
    assert lines[0].split()[-5:] == ["0", "of", "5", "its", "own"]
    a2a("quotas", "set", "alice", "--queued", "default")
    assert SenderStock.objects.get().max_queued is None


def test_a_quota_for_one_recipient_is_set_and_shown(a2a_json, cast):
    shown = a2a_json("quotas", "set", "alice", "--to", "bob", "--queued", 3, "--json")["quotas"]

    assert PairStock.objects.get().max_queued == 3
    assert shown[-1] == {"quota": "queued", "recipient": "bob@local", "used": 0, "limit": 3, "is_own": True}


def test_a_change_is_journalled_and_no_change_is_not(a2a, cast):
    a2a("quotas", "set", "alice", "--waits", 3)
    a2a("quotas", "set", "alice", "--waits", 3)

    (row,) = factories.journal("a2a_quota_changed")
    assert row.fields == {"quota": "waits", "agent": "alice@local", "recipient": None, "before": None, "limit": 3}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ((), "at least one quota"),
        (("--queued", "-1"), "the quota"),
        (("--queued", "many"), "the quota"),
        (("--queued", 2**31), "must be between"),
        (("--bytes", 5, "--to", "bob"), "alone"),
        (("--queued", 5, "--to", "nobody"), "nobody"),
    ],
)
def test_a_wrong_quota_changes_nothing(a2a, cast, given, problem):
    with pytest.raises(CommandError, match=problem):
        a2a("quotas", "set", "alice", *given)

    assert not SenderStock.objects.filter(max_queued__isnull=False).exists()
    assert not PairStock.objects.filter(max_queued__isnull=False).exists()
