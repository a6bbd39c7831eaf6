"""Each test of this folder runs against a served hub and against the hub in memory."""

from __future__ import annotations

from contextlib import ExitStack

import httpx
import pytest

from a2a_hub_client import AsyncHub, FakeHub, Hub
from mailbox.gate.callers import Role
from tests.support import factories
from tests.support.own_client import client_of

AGENTS = {"alice": ["a2a.send.*"], "anna": ["a2a.send.*"], "bob": ["a2a.respond.*"], "mallory": []}
ADMIN = "olga"


class ServedWorld:
    """Clients of a served hub."""

    def __init__(self, url):
        self.url = url
        callers = {name: factories.agent(name, *actions) for name, actions in AGENTS.items()}
        callers[ADMIN] = factories.person(ADMIN, Role.ADMIN)
        self._keys = {name: factories.key_of(caller) for name, caller in callers.items()}

    def hub(self, name, *, faults=None, **options):
        transport = faults(httpx.HTTPTransport()) if faults else None
        return client_of(self.url, self._keys[name], transport=transport, **options)

    def async_hub(self, name):
        return AsyncHub(self.url, self._keys[name])

    def with_key(self, key):
        return client_of(self.url, key)


class FakeWorld:
    """Clients of a hub in memory."""

    def __init__(self):
        self._fake = FakeHub()
        for name, actions in AGENTS.items():
            self._fake.add_agent(name, actions=actions)
        self._fake.add_person(ADMIN)
        self.async_hub = self._fake.async_hub

    def hub(self, name, *, faults=None, **options):
        if faults:
            options["transport"] = faults(self._fake.transport)
        return self._fake.hub(name, **options)

    def with_key(self, key):
        return Hub("http://fake", key, transport=self._fake.transport)


SERVED = pytest.param("served", marks=[pytest.mark.processes, pytest.mark.django_db(transaction=True)])
IN_MEMORY = pytest.param("fake", marks=pytest.mark.one_database)


@pytest.fixture(params=[SERVED, IN_MEMORY])
def world(request):
    if request.param == "fake":
        return FakeWorld()
    return ServedWorld(request.getfixturevalue("served_hub").url)


@pytest.fixture
def hub_of(world):
    """Return a client by the name of an agent or person. It is closed after the test."""
    with ExitStack() as opened:
        yield lambda name: opened.enter_context(world.hub(name))


@pytest.fixture
def alice(hub_of):
    return hub_of("alice")


@pytest.fixture
def bob(hub_of):
    return hub_of("bob")


@pytest.fixture
def olga(hub_of):
    return hub_of(ADMIN)
