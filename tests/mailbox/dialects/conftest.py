import pytest

from mailbox.access.callers import Caller
from tests.support import factories, yeoman


@pytest.fixture
def default_agent(bob: Caller) -> Caller:
    """Make bob the default agent, for tasks that name no recipient."""
    assert bob.agent is not None
    factories.profile(bob, default_project="main")
    return bob


@pytest.fixture
def peer(alice: Caller) -> yeoman.Peer:
    return yeoman.Peer(alice)
