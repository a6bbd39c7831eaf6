from __future__ import annotations

import os

import pytest

from agentcards import outbound
from tests.agentcards import servers
from tests.cast import alice, bob, failures_are_noted_anew, mallory, olga

__all__ = ["alice", "bob", "failures_are_noted_anew", "mallory", "olga"]


@pytest.fixture(autouse=True)
def _no_connection_outlives_its_test():
    """Close connections that this test's servers answered, and forget what it set up."""
    yield
    if outbound._client.cache_info().currsize:
        outbound._client(os.getpid()).close()
        outbound._client.cache_clear()


@pytest.fixture
def remote(settings):
    """Serve a corvid-agent on the loopback, which the hub may call."""
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    with servers.corvid() as agent:
        yield agent
