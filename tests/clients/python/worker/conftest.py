from __future__ import annotations

import pytest

from a2a_hub_client import Hub
from tests.mailbox.management.conftest import a2a, a2a_json, alice, bob, desk

__all__ = ["a2a", "a2a_json", "alice", "bob", "desk"]


@pytest.fixture
def hub(desk):
    with Hub(desk.url, desk.key) as hub:
        yield hub
