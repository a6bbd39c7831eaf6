import pytest

from agentcards import official_agents
from mailbox.access.callers import Caller
from mailbox.access.limits import rates
from tests.support.a2a import Holder, OfficialClient
from tests.support.api import Api


@pytest.fixture(autouse=True)
def _a_new_process():
    """Forget the agents and the rates that an earlier test met. Its rows may have had the same keys."""
    official_agents.forget()
    rates.forget()
    yield
    official_agents.forget()
    rates.forget()


@pytest.fixture
def client(alice: Caller, bob: Caller) -> OfficialClient:
    """Return alice as a client of bob."""
    return OfficialClient(alice, bob)


@pytest.fixture
def holder(bob: Caller) -> Holder:
    """Return bob as a worker."""
    return Holder(bob)


@pytest.fixture
def rest(alice: Caller, bob: Caller) -> Api:
    """Return alice's client of bob's HTTP+JSON routes."""
    assert bob.agent is not None
    return Api(alice, headers={"A2A-Version": "1.0"}, prefix=f"/agents/{bob.agent.display}/rest")
