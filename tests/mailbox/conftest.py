from __future__ import annotations

import pytest

from tests.agentcards.servers import hang_up
from tests.cast import alice, bob, failures_are_noted_anew, mallory, olga

__all__ = ["alice", "bob", "failures_are_noted_anew", "mallory", "olga"]


@pytest.fixture
def loopback(settings):
    """Let the hub call servers on the loopback."""
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    yield
    hang_up()
