"""Fixtures of remote agents. The conftest of a folder imports them."""

import pytest
import time_machine

from agentcards import profiles
from mailbox.access.callers import Caller
from tests.support import factories
from tests.support.remote_servers import remote

__all__ = ["now", "remote", "rita"]


@pytest.fixture
def now():
    """Stop the clock. Tests shift it."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def rita(remote, now):
    """Register the remote agent rita with the URL of ``remote``; return her as a caller."""
    caller = factories.agent("rita")
    profiles.update_profile(Caller.command_line(), factories.row_of(caller), {"remote_url": remote.url})
    return caller
