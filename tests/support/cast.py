"""Fixtures of the usual agents and people. The conftest of a folder imports them."""

from collections.abc import Iterator

import pytest

from mailbox.access import audit
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import authentication
from mailbox.access.limits import quotas
from mailbox.database import outages
from mailbox.upkeep import sweep
from tests.support import factories

__all__ = ["alice", "bob", "failures_are_noted_anew", "mallory", "olga"]


@pytest.fixture
def alice() -> Caller:
    return factories.agent("alice", "a2a.send.*")


@pytest.fixture
def bob() -> Caller:
    return factories.agent("bob", "a2a.respond.*")


@pytest.fixture
def mallory() -> Caller:
    return factories.agent("mallory")


@pytest.fixture
def olga() -> Caller:
    return factories.person("olga", Role.OPERATOR)


@pytest.fixture(autouse=True)
def failures_are_noted_anew() -> Iterator[None]:
    """Forget failed authentications and refusals, of which a process journals few a minute, and reached quotas.

    Forget the logged failures of the database and the clocks of the last sweep, too.
    """
    outages._memory.logged.clear()
    sweep._clocks.difference = None
    authentication._failures.clear()
    audit._repeated_refusals.clear()
    quotas.forget()
    yield
    authentication._failures.clear()
    audit._repeated_refusals.clear()
    quotas.forget()
