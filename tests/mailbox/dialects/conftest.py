from __future__ import annotations

import pytest

from agentcards.models import AgentProfile
from mailbox.gate.callers import Caller
from tests.support import yeoman


@pytest.fixture
def default_agent(bob: Caller) -> Caller:
    """Let bob do what names nobody."""
    assert bob.agent is not None
    AgentProfile.objects.create(agent=bob.agent, default_project="main")
    return bob


@pytest.fixture
def peer(alice: Caller) -> yeoman.Peer:
    return yeoman.Peer(alice)
