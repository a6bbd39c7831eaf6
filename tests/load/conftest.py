from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.load.actors import Database
from tests.load.cast import pairs
from tests.load.command_line import a2a, done
from tests.load.raw_pair import RawPair
from tests.support.databases import Databases
from tests.support.hub import Hub, served


@pytest.fixture
def database(tmp_path: Path, migrated_database: Databases) -> Iterator[Database]:
    """Return a database without rows, on the tests' server or in a file."""
    with migrated_database() as url, Database(tmp_path, url) as database:
        yield database


@pytest.fixture
def hub(database: Database) -> Iterator[Hub]:
    with served(database.folder, migrates=True, database_url=database.url, workers=2) as hub:
        yield hub


@pytest.fixture(scope="module")
def shared_hub(tmp_path_factory: pytest.TempPathFactory, migrated_database: Databases) -> Iterator[Hub]:
    """Serve one hub to all tests of a module."""
    var = tmp_path_factory.mktemp("hub")
    with migrated_database() as url, served(var, migrates=True, database_url=url) as hub:
        yield hub


@pytest.fixture
def work(shared_hub: Hub) -> Iterator[RawPair]:
    """Return a sender and a worker of the shared hub, which no other test uses."""
    (pair,) = pairs(shared_hub, 1)
    both = RawPair(shared_hub.url, pair)
    yield both
    both.close()


@pytest.fixture
def backup(database: Database) -> Path:
    """Return a backup of the database, in which three tasks have ended."""
    database.act("prepare")
    database.act("acknowledge-each", 3)
    file = database.folder / "hub.backup"
    done(a2a(database, "backup", file))
    return file
