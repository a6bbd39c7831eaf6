import pytest

from tests.mailbox.management.conftest import a2a, a2a_json, alice, bob, desk
from tests.support.own_client import client_of

__all__ = ["a2a", "a2a_json", "alice", "bob", "desk"]


@pytest.fixture
def hub(desk):
    with client_of(desk.url, desk.key) as hub:
        yield hub
