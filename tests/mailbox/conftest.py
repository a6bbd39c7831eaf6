from types import SimpleNamespace

import pytest

from mailbox.database.bell import waiters
from tests.support.cast import alice, bob, failures_are_noted_anew, mallory, olga
from tests.support.official_servers import offie
from tests.support.remote_agents import now, remote, rita
from tests.support.remote_servers import drip, hang_up

__all__ = ["alice", "bob", "drip", "failures_are_noted_anew", "mallory", "now", "offie", "olga", "remote", "rita"]


@pytest.fixture(scope="session", autouse=True)
def _shared_looks_wait_for_no_other_ring():
    """Let the thread of a shared look, which serves all tests of a process, make no pause."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiters, "time", SimpleNamespace(sleep=lambda _: None))
        yield


@pytest.fixture
def loopback(settings):
    """Let the hub call servers on the loopback."""
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    yield
    hang_up()
