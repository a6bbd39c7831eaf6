"""The tests of this folder run against a served hub, and against the hub in memory unless they are `served`."""

import threading
from contextlib import ExitStack
from types import SimpleNamespace

import httpx
import pytest

from a2a_hub_client import AsyncHub, FakeHub, Hub
from a2a_hub_client.fake import hub
from a2a_hub_client.retry import Patience
from mailbox.access.callers import Role
from tests.support import factories
from tests.support.own_client import client_of
from tests.support.pauses import Clock

AGENTS = {"alice": ["a2a.send.*"], "anna": ["a2a.send.*"], "bob": ["a2a.respond.*"], "mallory": []}
ADMIN = "olga"  # of a served hub


class ServedWorld:
    """Clients of a served hub. It has the real time, and does not tell who waits for it."""

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

    def pass_time(self, span):
        pass

    def until_a_client_waits(self):
        pass

    def let_waits_pass_time(self, monkeypatch):
        pass


class WatchedHub(FakeHub):
    """A hub in memory that tells when a client waits."""

    def __init__(self):
        super().__init__()
        self.is_awaited = threading.Event()

    def wait_for_change(self, seconds):
        self.is_awaited.set()
        super().wait_for_change(seconds)


class FakeWorld:
    """Clients of a hub in memory."""

    def __init__(self):
        self._fake = WatchedHub()
        for name, actions in AGENTS.items():
            self._fake.add_agent(name, actions=actions)
        self.async_hub = self._fake.async_hub
        self.pass_time = self._fake.pass_time
        self.until_a_client_waits = self._fake.is_awaited.wait

    def hub(self, name, *, faults=None, **options):
        if faults:
            options["transport"] = faults(self._fake.transport)
        return self._fake.hub(name, **options)

    def with_key(self, key):
        return Hub("http://fake", key, transport=self._fake.transport)

    def let_waits_pass_time(self, monkeypatch):
        """Set the clock of the hub and its clients. Their waits alone move it, and take no time."""
        clock = Clock()

        async def sleep(seconds):
            clock.sleep(seconds)

        monkeypatch.setattr(hub, "time", clock)
        monkeypatch.setattr(hub, "asyncio", SimpleNamespace(sleep=sleep))
        monkeypatch.setattr(self._fake, "wait_for_change", clock.sleep)
        monkeypatch.setattr(Patience.__init__, "__defaults__", (clock.monotonic,))


SERVED = pytest.param("served", marks=[pytest.mark.processes, pytest.mark.django_db(transaction=True)])
served = pytest.mark.parametrize("world", [SERVED], indirect=True)
IN_MEMORY = pytest.param("fake", marks=pytest.mark.one_database)


@pytest.fixture(params=[SERVED, IN_MEMORY])
def world(request):
    if request.param == "fake":
        return FakeWorld()
    return ServedWorld(request.getfixturevalue("served_hub").url)


@pytest.fixture
def time_of_waits(world, monkeypatch):
    """Let only waits move the clock of the hub in memory and its clients."""
    world.let_waits_pass_time(monkeypatch)


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
