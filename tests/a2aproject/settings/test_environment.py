import pytest

from a2aproject.settings.environment import Environment

pytestmark = pytest.mark.one_database


@pytest.fixture
def env(monkeypatch):
    monkeypatch.setattr(Environment, "ENVIRON", {"PORT": "4000", "A2A_HUB_NAME": "A2A Hub"})
    return Environment()


def test_variables_that_were_read_are_recorded_with_their_source(env):
    env.int("PORT", 3000)
    env.str("A2A_HUB_NAME", "A2A Hub")
    env.str("A2A_ENVIRONMENT", "")

    seen = {name: (read.value, read.is_set, read.is_default) for name, read in env.seen.items()}
    assert seen == {
        "PORT": (4000, True, False),
        "A2A_HUB_NAME": ("A2A Hub", True, True),
        "A2A_ENVIRONMENT": ("", False, True),
    }


def test_variables_that_were_not_read_are_not_recorded(env):
    assert env.seen == {}
