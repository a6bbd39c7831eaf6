"""After SIGKILL of two processes the hub serves whole again, or nothing of it is left if the supervisor was killed.

The proof strikes every pair of roles under load. These pairs stand for the ways in which a process is looked after.
"""

import pytest

from tests.support.databases import database_of_its_own
from tests.support.hub import has_ended, served, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


@pytest.fixture(scope="module")
def killed_hub(tmp_path_factory):
    """Return a hub that the tests share: each leaves it whole."""
    with (
        database_of_its_own() as url,
        served(tmp_path_factory.mktemp("hub"), services="all", migrates=True, database_url=url, workers=2) as hub,
    ):
        yield hub


def roles_of(hub):
    wait_until(lambda: len(hub.roles()) == 6)
    return hub.roles()


def kill(roles, *names):
    for name in names:
        roles[name].kill()
    wait_until(lambda: all(has_ended(roles[name]) for name in names))


@pytest.mark.parametrize(
    "names", [("web worker 1", "web worker 2"), ("web server", "cluster"), ("cluster", "carrier")], ids="+".join
)
def test_a_hub_that_lost_two_processes_is_whole_again(killed_hub, names):
    kill(roles_of(killed_hub), *names)

    after = roles_of(killed_hub)
    killed_hub.wait_until_up()
    killed_hub.wait_for_a_sweep()
    assert not any(map(has_ended, after.values()))


@pytest.mark.parametrize("name", ["web server", "web worker 1", "cluster", "carrier"])
def test_nothing_outlives_the_supervisor_and_another_process(tmp_path, name):
    with (
        database_of_its_own() as url,
        served(tmp_path, services="all", migrates=True, database_url=url, workers=2) as hub,
    ):
        roles = roles_of(hub)
        kill(roles, "serve", name)
        hub.process.wait()

        wait_until(lambda: all(map(has_ended, roles.values())))
