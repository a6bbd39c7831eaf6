from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.load.actors import Database
from tests.support.hub import Hub, database_of_its_own, served


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An empty database, on the server that the tests run on or in a file of its own."""
    with database_of_its_own() as url:
        yield Database(tmp_path, url)


@pytest.fixture
def hub(database: Database) -> Iterator[Hub]:
    with served(database.folder, "--only", "web", database_url=database.url, workers=2) as hub:
        yield hub
