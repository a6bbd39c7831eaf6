from collections.abc import Iterator

import pytest

from mailbox.access.callers import Caller
from mailbox.access.limits import rates
from tests.support.mcp import BY_ENVELOPE, BY_HANDSHAKE, McpClient


@pytest.fixture(autouse=True)
def _a_new_process() -> Iterator[None]:
    """Forget the rates that an earlier test met. Its rows may have had the same keys."""
    rates.forget()
    yield
    rates.forget()


@pytest.fixture(params=[BY_HANDSHAKE, BY_ENVELOPE])
def version(request: pytest.FixtureRequest) -> str:
    """Return a version of each of the two ways to agree on one."""
    named: str = request.param
    return named


@pytest.fixture
def sender(alice: Caller, version: str) -> McpClient:
    return McpClient(alice, version=version)


@pytest.fixture
def worker(bob: Caller, version: str) -> McpClient:
    return McpClient(bob, version=version)


@pytest.fixture
def stranger(mallory: Caller, version: str) -> McpClient:
    return McpClient(mallory, version=version)
