"""The parts of the hub in memory that a real hub has not."""

import threading
from datetime import timedelta

import pytest

from a2a_hub_client import FakeHub, Hub
from a2a_hub_client.refusals import CapabilityMissingError, PathNotFoundError, UnauthenticatedError

pytestmark = pytest.mark.one_database


def test_time_passes_when_a_test_wants_it():
    fake = FakeHub("alice", "bob")
    task = fake.hub("alice").send("bob", "a", deadline=timedelta(hours=1))

    assert task.entry().state == "queued"
    fake.pass_time(timedelta(hours=2))

    assert task.entry().outcome == "expired"


def test_a_waiting_client_notices_that_time_passes():
    fake = FakeHub("alice", "bob")
    task = fake.hub("alice").send("bob", "a", deadline=timedelta(hours=1))
    passing = threading.Timer(0.01, fake.pass_time, [timedelta(hours=2)])
    passing.start()

    assert task.result(timeout=60).error_message == "deadline exceeded"
    passing.join()


def test_an_agent_without_actions_may_do_nothing():
    fake = FakeHub("alice")
    fake.add_agent("mallory@elsewhere", actions=[])

    with pytest.raises(CapabilityMissingError):
        fake.hub("mallory@elsewhere").send("alice", "a")


def test_a_client_of_one_s_own_reaches_the_hub():
    fake = FakeHub("alice")

    with Hub("http://anywhere", fake.key("alice"), transport=fake.transport) as hub:
        me = hub.me()

    assert me.agent
    assert me.agent.display == "alice@local"


def test_a_name_that_was_not_added_is_reported():
    with pytest.raises(ValueError, match='"bob" is no agent of this hub: alice'):
        FakeHub("alice").hub("bob")


def test_a_name_is_added_once():
    fake = FakeHub("alice")

    with pytest.raises(ValueError, match="the name alice@local is taken"):
        fake.add_agent("alice@local")


def test_a_key_of_another_hub_is_refused():
    fake = FakeHub("alice")

    with Hub("http://anywhere", "wrong", transport=fake.transport) as hub, pytest.raises(UnauthenticatedError):
        hub.me()


def test_a_route_that_is_missing_is_named():
    fake = FakeHub("alice")

    with pytest.raises(PathNotFoundError, match="GET /a2a/deliveries"):
        list(fake.hub("alice").deliveries())
