from __future__ import annotations

import pytest

from a2aproject.settings.environment import Environment

pytestmark = pytest.mark.one_database


@pytest.fixture
def env(monkeypatch):
    monkeypatch.setattr(Environment, "ENVIRON", {"PORT": "4000", "A2A_HUB_NAME": "A2A Hub"})
    return Environment()


def test_what_was_read_is_remembered_with_where_it_came_from(env):
    env.int("PORT", 3000)
    env.str("A2A_HUB_NAME", "A2A Hub")
    env.str("A2A_ENVIRONMENT", "")

    seen = {name: (read.value, read.is_set, read.is_default) for name, read in env.seen.items()}
    assert seen == {
        "PORT": (4000, True, False),
        "A2A_HUB_NAME": ("A2A Hub", True, True),
        "A2A_ENVIRONMENT": ("", False, True),
    }


def test_what_was_not_read_is_not_remembered(env):
    assert env.seen == {}
