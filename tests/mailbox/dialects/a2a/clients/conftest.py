from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from tests.support.clients.stage import Stage, staged
from tests.support.clients.talk import Client, Talk
from tests.support.databases import Databases
from tests.support.receiver import Receiver, receiver


@pytest.fixture(scope="session")
def stage(
    official_clients: None,
    tmp_path_factory: pytest.TempPathFactory,
    migrated_database: Databases,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[Stage]:
    var = tmp_path_factory.mktemp("stage")
    with migrated_database() as database_url, staged(var, database_url, django_db_blocker) as made:
        yield made


@pytest.fixture
def talk(stage: Stage, sdk: Client) -> Talk:
    """Return the client that the test's parameter ``sdk`` names, with alice's key, for talks with bob."""
    return stage.talk(sdk)


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as found:
        yield found
