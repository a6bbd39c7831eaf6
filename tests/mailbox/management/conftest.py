import io
import json

import pytest
from django.core.management import call_command

from tests.support.factories import agent, key_of
from tests.support.workers import Desk


@pytest.fixture
def alice(transactional_db):
    return agent("alice", "a2a.send.*")


@pytest.fixture
def bob(transactional_db):
    return agent("bob", "a2a.respond.*")


@pytest.fixture
def desk(served_hub, bob, tmp_path):
    """Return a place to run bob's programs."""
    return Desk(url=served_hub.url, key=key_of(bob), var=tmp_path)


@pytest.fixture
def a2a(db):
    """Run the command in this process; return its stdout."""

    def run(*words):
        printed = io.StringIO()
        call_command("a2a", *map(str, words), stdout=printed)
        return printed.getvalue().removesuffix("\n")

    return run


@pytest.fixture
def a2a_json(a2a):
    """Run the command; return the JSON of its single line of output."""

    def run(*words):
        line = a2a(*words)
        assert "\n" not in line
        return json.loads(line)

    return run


@pytest.fixture
def cast(a2a_json):
    """Register alice, who sends, and bob, who receives."""
    return {name: a2a_json("agents", "add", name, "--json")["agent"] for name in ("alice", "bob")}


@pytest.fixture
def sent(a2a, cast):
    """Send a task from alice to bob; return its id."""
    return a2a("send", "--from", "alice", "--to", "bob", "count the words")


@pytest.fixture
def leased(a2a_json, sent):
    """Lease the sent task as bob; return task and lease."""
    return a2a_json("recv", "bob", "--json")
