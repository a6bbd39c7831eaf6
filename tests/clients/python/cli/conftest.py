import pytest

from mailbox.access.callers import Role
from tests.support import factories
from tests.support.terminals import CommandLine


@pytest.fixture
def alice(transactional_db):
    return factories.agent("alice", "a2a.send.*")


@pytest.fixture
def bob(transactional_db):
    return factories.agent("bob", "a2a.respond.*")


@pytest.fixture
def ada(transactional_db):
    return factories.person("ada", Role.ADMIN)


@pytest.fixture
def a2a(served_hub, tmp_path, monkeypatch):
    """Return the command line of the served hub, with stored contexts of its own."""
    for name in ("A2A_URL", "A2A_API_KEY", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return CommandLine(url=served_hub.url, config=tmp_path / "a2a" / "config.toml")
